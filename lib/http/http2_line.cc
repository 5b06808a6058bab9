#include "http/http2_line.h"

#include <algorithm>
#include <span>
#include <utility>

namespace apiserver::v0::http {
namespace {

// Limits the requests that go through the filters together: what all of them hold has to stay in a
// CPU's second cache, beside the code.
constexpr std::size_t kTogetherMax = 16;

}  // namespace

void Http2Line::StartAll() {
  sent_.reserve(arrived_.size());
  arrived_.clear();
  for (std::span<ExchangeDriver::Arrival> left = starting_; !left.empty();) {
    const std::size_t next = std::min(left.size(), kTogetherMax);
    ExchangeDriver::StartTogether(left.first(next));
    left = left.subspan(next);
  }
  starting_.clear();
  for (Http2Stream* const stream : answered_) stream->SubmitAnswer();
  answered_.clear();
}

bool Http2Line::TakesAnswer(Http2Stream& stream) {
  if (starting_.empty()) return false;
  answered_.push_back(&stream);
  return true;
}

bool Http2Line::TakeSent(std::unique_ptr<Http2Stream>& stream) {
  if (!producing_ || sent_.size() == sent_.capacity()) return false;
  sent_.push_back(std::move(stream));
  return true;
}

void Http2Line::EndSent() {
  for (const auto& stream : sent_) stream->exchange->AnswerOverInLine(stream == sent_.front());
  sent_.clear();
}

}  // namespace apiserver::v0::http
