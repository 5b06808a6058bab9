#include "runtime/base64.h"

#include <array>
#include <cstdint>

namespace apiserver::v0::runtime {

namespace {

int SixBits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

class Decoder {
 public:
  Decoder(std::string_view text, char* out) : text_(text), begin_(out), out_(out) {}

  // False when malformed; at() is where.
  bool Run() {
    while (true) {
      SkipBreaks();
      if (at_ == text_.size()) return true;
      if (!Quantum()) return false;
      if (ended_) return true;
    }
  }
  std::size_t at() const { return at_; }
  std::string_view result() const { return {begin_, static_cast<std::size_t>(out_ - begin_)}; }

 private:
  void SkipBreaks() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool Quantum() {
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      SkipBreaks();
      if (at_ == text_.size()) {
        at_ -= static_cast<std::size_t>(i);
        return false;
      }
      const int six = SixBits(text_[at_]);
      if (six < 0) return text_[at_] == '=' && i >= 2 && Padding(i, bits);
      bits = bits << 6 | static_cast<std::uint32_t>(six);
      ++at_;
    }
    Put(bits, 3);
    return true;
  }
  // `have` characters of a quantum, then '='.
  bool Padding(int have, std::uint32_t bits) {
    ++at_;
    if (have == 2) {
      SkipBreaks();
      if (at_ == text_.size() || text_[at_] != '=') return false;
      ++at_;
    }
    SkipBreaks();
    if (at_ != text_.size()) return false;
    Put(bits << (have == 2 ? 12 : 6), have - 1);
    ended_ = true;
    return true;
  }
  void Put(std::uint32_t bits, int bytes) {
    for (int i = 0; i < bytes; ++i) *out_++ = static_cast<char>(bits >> (16 - 8 * i) & 0xFFU);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ended_ = false;
  char* begin_;
  char* out_;
};

}  // namespace

std::optional<std::string_view> DecodeBase64(std::string_view text, Arena& arena,
                                             std::size_t& error_at) {
  Decoder decoder(text, static_cast<char*>(arena.Allocate(text.size() / 4 * 3 + 3, 1)));
  if (decoder.Run()) return decoder.result();
  error_at = decoder.at();
  return std::nullopt;
}

}  // namespace apiserver::v0::runtime
