#include "server/requests/warning_header.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "codec/utf8.h"

namespace apiserver::v0::server {

namespace {

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

std::string_view Cut(std::string_view text, std::size_t characters_max) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (StartsCharacter(text[i]) && ++characters > characters_max) return text.substr(0, i);
  }
  return text;
}

// U+0000 to U+001F and U+007F to U+009F.
bool HasControls(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const bool two = byte == 0xC2 && i + 1 < text.size();
    if (two && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

// Nothing: no header can say it.
std::optional<std::string> Header(std::string_view text) {
  if (!codec::ValidUtf8(text) || HasControls(text)) return std::nullopt;
  std::string header = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') header += '\\';
    header += c;
  }
  return header + '"';
}

class Recorder {
 public:
  explicit Recorder(const WarningLimits& limits) : limits_(limits) {}

  void Add(const std::string& text) {
    if (text.empty() || (cutting_ && written_ >= limits_.total)) return;
    if (!Header(text)) return;
    recorded_.push_back(text);
    if (cutting_ || written_ + Characters(text) <= limits_.total) return Write(text);
    cutting_ = true;
    written_ = 0;
    headers_.clear();
    for (const std::string_view each : recorded_) Write(each);
  }
  std::vector<std::string> Take() { return std::move(headers_); }

 private:
  void Write(std::string_view text) {
    const std::string_view shown = cutting_ ? Cut(text, limits_.each_if_cut) : text;
    written_ += Characters(shown);
    headers_.push_back(*Header(shown));
  }

  const WarningLimits& limits_;
  std::vector<std::string_view> recorded_;
  std::vector<std::string> headers_;
  std::size_t written_ = 0;
  bool cutting_ = false;
};

}  // namespace

std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts,
                                        const WarningLimits& limits) {
  Recorder recorder(limits);
  for (const std::string& text : texts) recorder.Add(text);
  return recorder.Take();
}

}  // namespace apiserver::v0::server
