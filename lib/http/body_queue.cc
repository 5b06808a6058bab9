#include "http/body_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "http/copy_bytes.h"

namespace apiserver::v0::http {

namespace {

// The bytes that a BodySource is asked for at a time.
constexpr std::size_t kRoom = 64 << 10;
// Enough to go on with when memory is short.
constexpr std::size_t kRoomWhenShort = 4 << 10;
// Less is not worth counting: an exchange takes as much itself.
constexpr std::size_t kChargedMin = 4 << 10;

}  // namespace

void ChunkWriter::Gather(const std::function<void(std::string& text)>& append) {
  std::string text;
  append(text);
  Take(std::move(text));
}

std::size_t BodyQueue::room() const {
  const std::size_t room = charge_.ShareIsOver() ? kRoomWhenShort : kRoom;
  return size_ < room ? room - size_ : 0;
}

void BodyQueue::Charge() {
  const std::size_t bytes = own_bytes_ + tail_.size();
  charge_.Resize(bytes < kChargedMin ? 0 : bytes);
}

void BodyQueue::Write(std::string_view copied) {
  tail_.append(copied);
  size_ += copied.size();
}

// Moves the text in if nothing waits in front of it; most answers are one text.
void BodyQueue::Take(std::string owned) {
  if (!tail_.empty()) return Write(owned);
  size_ += owned.size();
  tail_ = std::move(owned);
}

void BodyQueue::Write(std::shared_ptr<const void> owner, std::string_view shared) {
  if (shared.empty()) return;
  // A piece of its own does not pay for little.
  if (shared.size() < 512 && tail_.size() - tail_at_ < (16 << 10)) return Write(shared);
  if (tail_.size() > tail_at_) {
    auto before = std::make_shared<const std::string>(std::exchange(tail_, {}));
    own_bytes_ += before->size();
    pieces_.push_back({before, std::string_view(*before).substr(std::exchange(tail_at_, 0))});
  }
  size_ += shared.size();
  pieces_.push_back({std::move(owner), shared});
}

void BodyQueue::Append(Bytes bytes) {
  size_ += bytes.size();
  own_bytes_ += bytes.own_bytes();
  auto pieces = bytes.TakePieces();
  if (pieces_.empty()) {
    pieces_ = std::move(pieces);
  } else {
    std::move(pieces.begin(), pieces.end(), std::back_inserter(pieces_));
  }
}

// Moves an index on: erasing the first piece would move all others.
void BodyQueue::Pop() {
  pieces_[first_].owner.reset();
  if (++first_ < pieces_.size()) return;
  // An idle stream keeps no room.
  std::exchange(pieces_, {}).clear();
  first_ = own_bytes_ = 0;
}

template <class Copy>
std::size_t BodyQueue::TakeUpTo(std::size_t room, const Copy& copy) {
  std::size_t taken = 0;
  while (taken < room && first_ < pieces_.size()) {
    std::string_view& text = pieces_[first_].text;
    const std::size_t count = std::min(text.size(), room - taken);
    copy(text.substr(0, count));
    text.remove_prefix(count);
    taken += count;
    if (text.empty()) Pop();
  }
  const std::size_t count = std::min(tail_.size() - tail_at_, room - taken);
  if (count > 0) {
    copy(std::string_view(tail_).substr(tail_at_, count));
    tail_at_ += count;
    taken += count;
    if (tail_at_ == tail_.size()) {
      std::exchange(tail_, {}).clear();
      tail_at_ = 0;
    }
  }
  size_ -= taken;
  return taken;
}

std::size_t BodyQueue::TakeTo(std::span<char> out) {
  char* to = out.data();
  return TakeUpTo(out.size(), [&to](std::string_view text) {
    CopyBytes(text, to);
    to += text.size();
  });
}

std::size_t BodyQueue::AppendTo(std::string& out, std::size_t room) {
  return TakeUpTo(room, [&out](std::string_view text) { AppendBytes(text, out); });
}

void BodyQueue::Clear() {
  pieces_.clear();
  tail_.clear();
  size_ = own_bytes_ = first_ = tail_at_ = 0;
}

}  // namespace apiserver::v0::http
