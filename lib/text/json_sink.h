#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace apiserver::inline v0::text {

// Appends to a string through a small buffer: growing a std::string byte by byte is slow. What is
// in the buffer is lost without a last Flush(), which needs memory and so is no destructor's work.
class JsonSink {
 public:
  explicit JsonSink(std::string& out) : out_(out) {}
  JsonSink(const JsonSink&) = delete;
  JsonSink& operator=(const JsonSink&) = delete;

  void Put(char c) {
    if (used_ == buffer_.size()) Flush();
    buffer_[used_++] = c;
  }
  void Put(std::string_view text) {
    if (text.size() > buffer_.size() - used_) return PutOver(text);
    if (text.empty()) return;  // memcpy takes no null.
    std::memcpy(buffer_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  // At least `bytes` (<= kRoomMax) of room, to be claimed by Advance().
  static constexpr std::size_t kRoomMax = 1024;
  char* Room(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) Flush();
    return buffer_.data() + used_;
  }
  void Advance(std::size_t bytes) { used_ += bytes; }
  // The string has everything that was put.
  void Flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
  }

 private:
  // What the buffer has no room for. Apart from Put(), so that a literal becomes a few stores.
  void PutOver(std::string_view text) {
    Flush();
    if (text.size() > buffer_.size() / 2) {
      out_.append(text);
    } else {
      Put(text);
    }
  }

  std::string& out_;
  std::size_t used_ = 0;
  std::array<char, 4096> buffer_;
};

// A quoted string with Go's escapes.
void PutJsonString(std::string_view text, JsonSink& sink);

}  // namespace apiserver::inline v0::text
