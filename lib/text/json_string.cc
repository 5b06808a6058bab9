#include "text/json_string.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "text/hex.h"
#include "text/json_sink.h"
#include "text/scan.h"
#include "text/utf8.h"

namespace apiserver::v0::text {

namespace {

// Writes one special byte, or the sequence it starts. Returns the number of bytes read.
std::size_t PutSpecial(std::string_view rest, JsonSink& sink) {
  const auto byte = static_cast<unsigned char>(rest[0]);
  if (byte >= 0x80) {
    const std::size_t length = Utf8SequenceLength(rest);
    if (length == 0) {
      sink.Put("\\ufffd");
      return 1;
    }
    const std::string_view sequence = rest.substr(0, length);
    // encoding/json escapes U+2028 and U+2029, which end a line in JavaScript.
    if (sequence == "\xE2\x80\xA8" || sequence == "\xE2\x80\xA9") {
      sink.Put(sequence.back() == '\xA8' ? "\\u2028" : "\\u2029");
    } else {
      sink.Put(sequence);
    }
    return length;
  }
  switch (rest[0]) {
    case '"':
      sink.Put("\\\"");
      break;
    case '\\':
      sink.Put("\\\\");
      break;
    case '\b':
      sink.Put("\\b");
      break;
    case '\f':
      sink.Put("\\f");
      break;
    case '\n':
      sink.Put("\\n");
      break;
    case '\r':
      sink.Put("\\r");
      break;
    case '\t':
      sink.Put("\\t");
      break;
    default:
      sink.Put("\\u00");
      sink.Put(HexDigit(byte >> 4U));
      sink.Put(HexDigit(byte));
  }
  return 1;
}

constexpr std::array<std::pair<char, char>, 5> kShort = {
    {{'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};

std::uint32_t HexNumber(std::string_view digits) {
  std::uint32_t number = 0;
  for (const char c : digits) number = number * 16 + static_cast<std::uint32_t>(HexValue(c) & 0xF);
  return number;
}

// Appends the character of the escape at `at`; returns the escape's length.
std::size_t AppendEscape(std::string_view json, std::size_t at, std::string& out) {
  const char c = at + 1 < json.size() ? json[at + 1] : '\\';
  for (const auto& [plain, letter] : kShort) {
    if (c == letter) {
      out += plain;
      return 2;
    }
  }
  if (c != 'u' || at + 6 > json.size()) {
    out += c;
    return 2;
  }
  const std::uint32_t high = HexNumber(json.substr(at + 2, 4));
  const bool pair = (high & 0xFC00U) == 0xD800U && at + 12 <= json.size();
  if (!pair) {
    AppendRune((high & 0xF800U) == 0xD800U ? kReplacementRune : high, out);
    return 6;
  }
  const std::uint32_t low = HexNumber(json.substr(at + 8, 4));
  AppendRune(0x10000 + ((high & 0x3FFU) << 10U) + (low & 0x3FFU), out);
  return 12;
}

}  // namespace

void PutJsonString(std::string_view text, JsonSink& sink) {
  // Nearly all texts are short and need no escape: both quotes and the text take one step.
  constexpr std::size_t kQuotes = 2;
  if (text.size() <= JsonSink::kRoomMax - kQuotes - sizeof(scan::Block)) {
    char* const room = sink.Room(text.size() + kQuotes + sizeof(scan::Block));
    room[0] = '"';
    if (CopyUnescaped(text, room + 1) == text.size()) {
      room[text.size() + 1] = '"';
      return sink.Advance(text.size() + kQuotes);
    }
  }
  sink.Put('"');
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, JsonSink::kRoomMax - sizeof(scan::Block));
    const std::size_t plain = CopyUnescaped(piece, sink.Room(piece.size() + sizeof(scan::Block)));
    sink.Advance(plain);
    text.remove_prefix(plain);
    if (plain < piece.size()) text.remove_prefix(PutSpecial(text, sink));
  }
  sink.Put('"');
}

void AppendJsonString(std::string_view text, std::string& out) {
  // Most texts need no escape: names, paths, times.
  if (UnescapedPrefix(text) == text.size()) {
    out.append(1, '"').append(text).append(1, '"');
    return;
  }
  JsonSink sink(out);
  PutJsonString(text, sink);
  sink.Flush();
}

std::string EscapeJson(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out.substr(1, out.size() - 2);
}

std::string UnescapeJson(std::string_view json) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '\\') {
      at += AppendEscape(json, at, out);
    } else {
      out += json[at++];
    }
  }
  return out;
}

}  // namespace apiserver::v0::text
