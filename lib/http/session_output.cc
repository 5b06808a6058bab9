#include "http/session_output.h"

#include <algorithm>

#include "http/nghttp2_session.h"

namespace apiserver::v0::http {
namespace {

constexpr std::size_t kHeaderBytes = 9;

}  // namespace

bool SessionOutput::Send(nghttp2_session* session, std::string& out, std::size_t limit) {
  out_ = &out;
  limit_ = limit;
  return SendTo(session, out, limit);
}

// The header holds the length, which is known only when the bytes are.
std::string& SessionOutput::BeginData() {
  frame_ = out_->size();
  out_->resize(frame_ + kHeaderBytes);
  return *out_;
}

void SessionOutput::DropData() { out_->resize(frame_); }

// nghttp2 calls this right after the data source, and would go on with the next frame by itself.
int SessionOutput::EndData(const std::uint8_t* header) {
  std::copy_n(header, kHeaderBytes, out_->begin() + static_cast<std::ptrdiff_t>(frame_));
  return out_->size() < limit_ ? 0 : NGHTTP2_ERR_PAUSE;
}

}  // namespace apiserver::v0::http
