#include "http/byte_queue.h"

#include <algorithm>
#include <utility>

#include "http/copy_bytes.h"

namespace apiserver::v0::http {

void ByteQueue::Push(std::string bytes) {
  // Front() relies on every piece having a byte.
  if (bytes.empty()) return;
  // Moves the pieces to the front when that costs no more than was taken off it.
  if (first_ > 0 && first_ >= pieces_.size() - first_) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  pieces_.push_back(std::move(bytes));
  size_ += pieces_.back().size();
}

std::size_t ByteQueue::TakeTo(std::string& out, std::size_t limit) {
  const std::size_t before = out.size();
  while (out.size() < limit && !empty()) (void)TakePieceTo(out, limit);
  return out.size() - before;
}

std::size_t ByteQueue::TakePieceTo(std::string& out, std::size_t limit) {
  if (out.size() >= limit || empty()) return 0;
  const std::size_t count = std::min(Front().size(), limit - out.size());
  AppendBytes(Front().substr(0, count), out);
  Pop(count);
  return count;
}

std::size_t ByteQueue::TakeTo(std::span<char> out) {
  std::size_t taken = 0;
  while (taken < out.size() && !empty()) {
    const std::string_view piece = Front().substr(0, out.size() - taken);
    CopyBytes(piece, out.data() + taken);
    const std::size_t count = piece.size();
    taken += count;
    Pop(count);
  }
  return taken;
}

// The front piece is kept until its last byte has left: cutting it would move the rest each time.
void ByteQueue::Pop(std::size_t bytes) {
  at_ += bytes;
  size_ -= bytes;
  if (at_ < pieces_[first_].size()) return;
  at_ = 0;
  if (size_ == 0) {
    (void)Clear();
  } else {
    pieces_[first_++] = {};
  }
}

std::size_t ByteQueue::Clear() {
  std::exchange(pieces_, {}).clear();
  first_ = at_ = 0;
  return std::exchange(size_, 0);
}

}  // namespace apiserver::v0::http
