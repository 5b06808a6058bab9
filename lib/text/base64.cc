#include "text/base64.h"

#include <array>
#include <cstdint>

namespace apiserver::v0::text {

namespace {

using Alphabet = std::array<char, 65>;

constexpr Alphabet kStandard{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
constexpr Alphabet kUrl{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};

// The only value with bits above the sixth, so that several digits are checked at once.
constexpr std::uint8_t kNoDigit = 0x80;

constexpr std::array<std::uint8_t, 256> DigitsOf(const Alphabet& alphabet) {
  std::array<std::uint8_t, 256> digits{};
  for (auto& digit : digits) digit = kNoDigit;
  for (std::size_t i = 0; i < 64; ++i) {
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}

constexpr auto kStandardDigits = DigitsOf(kStandard);
constexpr auto kUrlDigits = DigitsOf(kUrl);

bool IsBreak(char c) { return c == '\n' || c == '\r'; }

void Append(std::string_view bytes, const Alphabet& alphabet, bool pad, std::string& out) {
  // Bytes behind the end are read as zero, so that the last group needs no case of its own.
  const auto byte = [bytes](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    out += alphabet[group >> 18U];
    out += alphabet[group >> 12U & 63U];
    if (i + 1 < bytes.size()) out += alphabet[group >> 6U & 63U];
    if (i + 2 < bytes.size()) out += alphabet[group & 63U];
  }
  if (pad && bytes.size() % 3 != 0) out.append(3 - bytes.size() % 3, '=');
}

class Decoder {
 public:
  Decoder(std::string_view text, char* out) : text_(text), begin_(out), out_(out) {}

  // Returns false if the text is malformed; at() is then the offset.
  bool Run() {
    while (true) {
      // Whole quanta take the short way; Quantum() handles breaks, padding and errors.
      while (FourDigits()) continue;
      SkipBreaks();
      if (at_ == text_.size()) return true;
      if (!Quantum()) return false;
      if (ended_) return true;
    }
  }
  std::size_t at() const { return at_; }
  std::size_t size() const { return static_cast<std::size_t>(out_ - begin_); }

 private:
  std::uint8_t Digit(std::size_t i) const {
    return kStandardDigits[static_cast<unsigned char>(text_[i])];
  }
  void SkipBreaks() {
    while (at_ < text_.size() && IsBreak(text_[at_])) ++at_;
  }
  // Decodes a quantum of four adjacent digits, the usual case. False: the next is not one.
  bool FourDigits() {
    if (text_.size() - at_ < 4) return false;
    const std::uint32_t a = Digit(at_);
    const std::uint32_t b = Digit(at_ + 1);
    const std::uint32_t c = Digit(at_ + 2);
    const std::uint32_t d = Digit(at_ + 3);
    if (((a | b | c | d) & kNoDigit) != 0) return false;
    Put(a << 18U | b << 12U | c << 6U | d, 3);
    at_ += 4;
    return true;
  }
  // Decodes a quantum that FourDigits() left: line breaks may stand in it, and padding may end it.
  bool Quantum() {
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      SkipBreaks();
      if (at_ == text_.size()) {
        // As Go: the error is where the incomplete quantum begins, line breaks not counted.
        at_ -= static_cast<std::size_t>(i);
        return false;
      }
      const std::uint8_t six = Digit(at_);
      if (six == kNoDigit) return text_[at_] == '=' && i >= 2 && Padding(i, bits);
      bits = bits << 6U | six;
      ++at_;
    }
    Put(bits, 3);
    return true;
  }
  // Decodes the end of a text: `have` characters of a quantum were read, then '='.
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

void AppendBase64(std::string_view bytes, std::string& out) {
  Append(bytes, kStandard, /*pad=*/true, out);
}

void AppendBase64Url(std::string_view bytes, std::string& out) {
  Append(bytes, kUrl, /*pad=*/false, out);
}

std::optional<std::size_t> DecodeBase64To(std::string_view text, char* out, std::size_t* error_at) {
  Decoder decoder(text, out);
  if (decoder.Run()) return decoder.size();
  if (error_at != nullptr) *error_at = decoder.at();
  return std::nullopt;
}

std::optional<std::string> DecodeBase64(std::string_view text, std::size_t* error_at) {
  std::string bytes(Base64BytesMax(text.size()), '\0');
  const std::optional<std::size_t> size = DecodeBase64To(text, bytes.data(), error_at);
  if (!size) return std::nullopt;
  bytes.resize(*size);
  return bytes;
}

namespace {

// Decodes the digits of `text`, without line breaks. Bits that do not fill a byte are in `rest`.
std::optional<std::string> DecodeUrlDigits(std::string_view text, std::uint32_t& rest,
                                           std::size_t* error_at) {
  const auto refuse = [error_at](std::size_t at) {
    if (error_at != nullptr) *error_at = at;
    return std::nullopt;
  };
  std::string bytes;
  bytes.reserve(Base64BytesMax(text.size()));
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsBreak(text[i])) continue;
    const std::uint8_t digit = kUrlDigits[static_cast<unsigned char>(text[i])];
    if (digit == kNoDigit) return refuse(i);
    bits = bits << 6U | digit;
    ++digits;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  // One digit alone has too few bits for a byte.
  if (digits % 4 == 1) return refuse(text.size() - 1);
  rest = bits & ((1U << count) - 1);
  return bytes;
}

}  // namespace

// Follows Go's base64.RawURLEncoding, which ignores line breaks and bits that fill no byte.
std::optional<std::string> DecodeLooseBase64Url(std::string_view text, std::size_t* error_at) {
  std::uint32_t rest = 0;
  return DecodeUrlDigits(text, rest, error_at);
}

// Accepts one spelling only, without line breaks and without bits that are left over.
std::optional<std::string> DecodeBase64Url(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
  std::uint32_t rest = 0;
  std::optional<std::string> bytes = DecodeUrlDigits(text, rest, nullptr);
  if (rest != 0) return std::nullopt;
  return bytes;
}

}  // namespace apiserver::v0::text
