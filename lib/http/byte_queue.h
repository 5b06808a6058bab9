#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::http {

// The unsent bytes at which the writer of a stream is told to stop. A stream holds so many for a
// peer that reads slowly, and one piece more for each writer that did not stop.
inline constexpr std::size_t kWriteRoomBytes = 256 << 10;

// Counts what a stream's writers have handed over and the transport has not sent. Thread-safe.
class WriteRoom final {
 public:
  // Adds bytes that are to be sent. False: the writer should stop.
  bool Promise(std::size_t bytes) { return unsent_.fetch_add(bytes) + bytes < kWriteRoomBytes; }
  // Takes off bytes that were sent or dropped. True: a writer that was told to stop may go on.
  //
  // That writer's bytes made the count reach the limit, so exactly one later release passes it: no
  // writer needs to leave a note that it waits.
  bool Release(std::size_t bytes) {
    const std::size_t before = unsent_.fetch_sub(bytes);
    return before >= kWriteRoomBytes && before - bytes < kWriteRoomBytes;
  }

 private:
  std::atomic<std::size_t> unsent_{0};
};

// A queue of bytes that wait to be sent. Pieces are moved in, and copied once on their way out. An
// empty one holds no memory.
class ByteQueue final {
 public:
  void Push(std::string bytes);
  // Appends to `out` until that holds `limit` bytes; returns how many were appended.
  std::size_t TakeTo(std::string& out, std::size_t limit);
  // The same, but no more than what is left of the first piece.
  std::size_t TakePieceTo(std::string& out, std::size_t limit);
  // Fills `out` from its front; returns how many bytes were written.
  std::size_t TakeTo(std::span<char> out);
  // Drops everything; returns how many bytes that was.
  std::size_t Clear();
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::string_view Front() const { return std::string_view(pieces_[first_]).substr(at_); }
  void Pop(std::size_t bytes);

  std::vector<std::string> pieces_;
  std::size_t first_ = 0;  // Those before have left.
  std::size_t at_ = 0;     // Offset into the first piece.
  std::size_t size_ = 0;
};

}  // namespace apiserver::inline v0::http
