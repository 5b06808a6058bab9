#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace apiserver::inline v0::text {

// Appends to a string through a small buffer, because growing a std::string byte by byte is slow.
// Buffered bytes are lost without a last Flush(), which allocates and so cannot be the destructor's
// work.
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
  // Returns room for at least `bytes` (<= kRoomMax). Advance() claims the part that was written.
  static constexpr std::size_t kRoomMax = 1024;
  char* Room(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) Flush();
    return buffer_.data() + used_;
  }
  void Advance(std::size_t bytes) { used_ += bytes; }
  // Returns a place in the text for TextSince(): here.
  std::size_t Place() const { return out_.size() + used_; }
  // Returns the text that was put since `place`, valid until the next call. It moves to the string
  // only if it did not fit into the buffer.
  std::string_view TextSince(std::size_t place) {
    if (place < out_.size()) Flush();
    if (place < out_.size()) return std::string_view(out_).substr(place);
    const std::size_t at = place - out_.size();
    return {buffer_.data() + at, used_ - at};
  }
  // Moves the buffered bytes to the string, which is then complete.
  void Flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
  }

 private:
  // Appends a text that does not fit into the buffer. Separate from Put(), so that putting a
  // literal compiles to a few stores.
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
