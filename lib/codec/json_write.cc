#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "apiserver/codec/json.h"

#include "codec/json_write.h"
#include "text/base64.h"
#include "text/hex.h"
#include "text/json_sink.h"
#include "text/json_string.h"
#include "text/scan.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

// As encoding/json: strconv's shortest form, plain from 1e-6 up to 1e21, else with an exponent
// that has no leading zero.
void PutDouble(double number, text::JsonSink& sink) {
  if (!std::isfinite(number)) return sink.Put("null");  // JSON has no word for it.
  if (number == 0) return sink.Put(std::signbit(number) ? "-0" : "0");
  // to_chars in plain form prints all digits of large numbers; only the scientific form is
  // shortest: "d.ddde±xx".
  std::array<char, 40> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(number),
                                 std::chars_format::scientific);
  const std::string_view shortest(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  const std::size_t e = shortest.find('e');
  std::string digits(shortest.substr(0, 1));
  if (e > 2) digits.append(shortest.substr(2, e - 2));
  int exponent = 0;
  std::from_chars(shortest.data() + e + 2, end.ptr, exponent);
  if (shortest[e + 1] == '-') exponent = -exponent;

  if (std::signbit(number)) sink.Put('-');
  if (exponent < -6 || exponent >= 21) {
    sink.Put(digits[0]);
    if (digits.size() > 1) {
      sink.Put('.');
      sink.Put(std::string_view(digits).substr(1));
    }
    sink.Put(exponent < 0 ? "e-" : "e+");
    sink.Put(std::to_string(std::abs(exponent)));
  } else if (exponent < 0) {
    sink.Put("0.");
    sink.Put(std::string(static_cast<std::size_t>(-exponent - 1), '0'));
    sink.Put(digits);
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    sink.Put(std::string_view(digits).substr(0, whole));
    if (digits.size() > whole) {
      sink.Put('.');
      sink.Put(std::string_view(digits).substr(whole));
    }
  }
}

// Returns true if Go's encoder writes raw text as it is: there is no space in it, nothing that HTML
// has, and no first byte of U+2028.
bool IsRawAsWritten(std::string_view text) {
  using Bytes [[gnu::vector_size(16)]] = unsigned char;
  return text::PrefixWithout(text, [](text::scan::Block block) {
           return (std::bit_cast<Bytes>(block) <= ' ') | (block == '<') | (block == '>') |
                  (block == '&') | (block == '\xE2');
         }) == text.size();
}

// Writes a json.RawMessage as Go's encoder does: no space outside strings, HTML escaped inside.
void PutRaw(std::string_view text, text::JsonSink& sink) {
  if (IsRawAsWritten(text)) return sink.Put(text);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    if (c == '<' || c == '>' || c == '&') {
      sink.Put("\\u00");
      sink.Put(text::HexDigit(static_cast<unsigned char>(c) >> 4U));
      sink.Put(text::HexDigit(static_cast<unsigned char>(c)));
      continue;
    }
    if (c == '\xE2' &&
        (text.substr(i, 3) == "\xE2\x80\xA8" || text.substr(i, 3) == "\xE2\x80\xA9")) {
      sink.Put(text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029");
      i += 2;
      continue;
    }
    sink.Put(c);
    if (c == '"') in_string = !in_string;
    if (c == '\\' && in_string && i + 1 < text.size()) sink.Put(text[++i]);
  }
}

void PutScalar(const Value& value, text::JsonSink& sink) {
  switch (value.type()) {
    case Value::Type::kBool:
      return sink.Put(value.AsBool() ? "true" : "false");
    case Value::Type::kInt: {
      char* const room = sink.Room(24);
      const auto end = std::to_chars(room, room + 24, value.AsInt());
      return sink.Advance(static_cast<std::size_t>(end.ptr - room));
    }
    case Value::Type::kDouble:
      return PutDouble(value.AsDouble(), sink);
    case Value::Type::kString:
      return text::PutJsonString(value.AsString(), sink);
    case Value::Type::kRaw:
      if (value.size() == 0) return sink.Put("null");
      return PutRaw(value.AsString(), sink);
    case Value::Type::kBytes: {
      std::string text;
      text::AppendBase64(value.AsString(), text);
      sink.Put('"');
      sink.Put(text);
      return sink.Put('"');
    }
    default:
      return sink.Put("null");
  }
}

// Returns the members of `map` by key, as Go writes maps; without a copy if they are in order.
const Member* SortedMembers(const Value& map, Arena& scratch) {
  const std::span<const Member> members = map.members();
  const auto by_key = [](const Member& a, const Member& b) { return a.key < b.key; };
  if (std::is_sorted(members.begin(), members.end(), by_key)) return members.data();
  auto* const sorted =
      static_cast<Member*>(scratch.Allocate(members.size_bytes(), alignof(Member)));
  std::uninitialized_copy(members.begin(), members.end(), sorted);
  std::sort(sorted, sorted + members.size(), by_key);
  return sorted;
}

// The rest of an open container that is still to be written.
struct Frame {
  const Member* member;
  const Value* item;
  std::size_t left;
  bool map;
};

constexpr std::size_t kUsualDepth = 8;

void Write(const Value& root, bool sort, text::JsonSink& sink) {
  Arena scratch;
  std::vector<Frame> open;
  const Value* value = &root;
  for (;;) {
    if (value->is_map() || value->is_list()) {
      if (open.empty()) open.reserve(kUsualDepth);
      open.push_back({sort ? SortedMembers(*value, scratch) : value->members().data(),
                      value->items().data(), value->size(), value->is_map()});
      sink.Put(value->is_map() ? '{' : '[');
    } else {
      PutScalar(*value, sink);
      if (!open.empty() && open.back().left > 0) sink.Put(',');
    }
    while (!open.empty() && open.back().left == 0) {
      sink.Put(open.back().map ? '}' : ']');
      open.pop_back();
      if (!open.empty() && open.back().left > 0) sink.Put(',');
    }
    if (open.empty()) return;
    Frame& frame = open.back();
    --frame.left;
    if (frame.map) {
      text::PutJsonString(frame.member->key, sink);
      sink.Put(':');
      value = &(frame.member++)->value;
    } else {
      value = frame.item++;
    }
  }
}

}  // namespace

void AppendJson(Value value, std::string& out) {
  text::JsonSink sink(out);
  Write(value, /*sort=*/false, sink);
  sink.Flush();
}

void AppendSortedJson(Value value, std::string& out) {
  text::JsonSink sink(out);
  Write(value, /*sort=*/true, sink);
  sink.Flush();
}

void AppendPrettyJson(Value value, std::string& out) {
  std::string compact;
  AppendJson(value, compact);
  out += IndentJson(compact);
}

void AppendJsonString(std::string_view text, std::string& out) {
  text::AppendJsonString(text, out);
}

std::string IndentJson(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() + compact.size() / 2);
  JsonIndenter().Append(compact, out);
  return out;
}

void JsonIndenter::Append(std::string_view compact, std::string& out) {
  const auto newline = [&] {
    out += '\n';
    out.append(depth_ * 2, ' ');
  };
  for (const char c : compact) {
    if (in_string_) {
      out += c;
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    const bool closes = c == '}' || c == ']';
    if (closes && depth_ > 0) --depth_;
    if (closes ? !just_opened_ : just_opened_) newline();
    just_opened_ = c == '{' || c == '[';
    if (just_opened_) ++depth_;
    out += c;
    in_string_ = c == '"';
    if (c == ',') newline();
    if (c == ':') out += ' ';
  }
}

}  // namespace apiserver::v0::codec
