#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/field_set.h"

#include "base/status_macros.h"
#include "patch/apply/set_builder.h"
#include "text/ascii.h"
#include "text/scan.h"
#include "text/utf8.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

// The deepest value within a key; list items of type map have scalars as keys.
constexpr std::size_t kReadDepthMax = 64;

Status Malformed(std::string what) {
  return {Reason::kBadRequest, "managedFields parsing: " + std::move(what)};
}

Status BadKey(std::string what) { return Malformed("key as path element: " + std::move(what)); }

// Reads JSON as FieldsV1 needs it: each token is read once, text without escapes is borrowed.
class Scanner {
 public:
  Scanner(std::string_view text, Arena& arena) : rest_(text), arena_(arena) {}

  void SkipSpace() {
    while (!rest_.empty() &&
           (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r')) {
      rest_.remove_prefix(1);
    }
  }
  // Takes `c`, and space before it, if it comes next.
  bool Take(char c) {
    SkipSpace();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }
  char Peek() {
    SkipSpace();
    return rest_.empty() ? '\0' : rest_[0];
  }

  Result<std::string_view> String();
  // Reads a number as float64, as json-iterator does.
  Result<Value> Number();
  // Reads any value; containers are left to the general parser.
  Result<Value> Any();
  // Skips one value, which must be well-formed.
  Status Skip();

  std::string_view rest() const { return rest_; }

 private:
  Result<std::string_view> Unescape(std::string_view body);
  Result<std::string_view> UnescapeAll(std::string_view body);
  Result<Value> Text();
  Result<Value> Container();
  Status SkipStart(std::string& open);
  Status SkipKey(const std::string& open);
  std::size_t NumberLength() const;

  std::string_view rest_;
  Arena& arena_;
};

// Returns the length of the string literal's body at the start of `text`, and whether it has
// escapes. nullopt: it is not closed, or has a control character.
std::optional<std::size_t> BodyLength(std::string_view text, bool& escapes) {
  for (std::size_t i = text::PlainPrefix(text); i < text.size();) {
    if (text[i] == '"') return i;
    if (text[i] != '\\') return std::nullopt;
    escapes = true;
    i += 2;
    if (i < text.size()) i += text::PlainPrefix(text.substr(i));
  }
  return std::nullopt;
}

Result<std::string_view> Scanner::String() {
  if (!Take('"')) return Malformed("expects a string");
  bool escapes = false;
  const std::optional<std::size_t> length = BodyLength(rest_, escapes);
  if (!length) return Malformed("a string is not closed or has a control character");
  const std::string_view body = rest_.substr(0, *length);
  rest_.remove_prefix(*length + 1);
  if (!escapes) return body;
  return Unescape(body);
}

Result<std::string_view> Scanner::Unescape(std::string_view whole) {
  std::string_view body = whole;
  // Most escapes are those of quotes in keys.
  auto* const to = static_cast<char*>(arena_.Allocate(body.size(), 1));
  std::size_t size = 0;
  while (!body.empty()) {
    const std::size_t plain = text::PlainPrefix(body);
    std::memcpy(to + size, body.data(), plain);
    size += plain;
    if (plain == body.size()) break;
    const char c = body[plain + 1];
    if (c != '"' && c != '\\' && c != '/') return UnescapeAll(whole);
    to[size++] = c;
    body.remove_prefix(plain + 2);
  }
  return std::string_view(to, size);
}

Result<std::string_view> Scanner::UnescapeAll(std::string_view body) {
  std::string literal("\"");
  literal.append(body).append("\"");
  const auto parsed = codec::ParseJson(arena_.Copy(literal), arena_);
  if (!parsed.ok()) return Malformed("invalid escape in a string");
  return parsed->AsString();
}

// Returns zero if there is no JSON number.
std::size_t Scanner::NumberLength() const {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < rest_.size() && text::IsDigit(rest_[i])) ++i;
    return i - first;
  };
  const auto at = [&](std::string_view any) {
    return i < rest_.size() && any.find(rest_[i]) != std::string_view::npos;
  };
  if (at("-")) ++i;
  const bool zero = at("0");
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return 0;
  if (at(".")) {
    ++i;
    if (digits() == 0) return 0;
  }
  if (at("eE")) {
    ++i;
    if (at("+-")) ++i;
    if (digits() == 0) return 0;
  }
  return i;
}

Result<Value> Scanner::Number() {
  const std::size_t length = NumberLength();
  double number = 0;
  const auto parsed = std::from_chars(rest_.data(), rest_.data() + length, number);
  if (length == 0 || parsed.ec != std::errc()) return Malformed("invalid number");
  rest_.remove_prefix(length);
  return Value::Double(number);
}

// Returns `value` with whole numbers as doubles, too.
Value WithDoubles(const Value& value, Arena& arena) {
  switch (value.type()) {
    case Value::Type::kInt:
      return Value::Double(value.AsDouble());
    case Value::Type::kList: {
      runtime::ListBuilder list(arena);
      for (const Value& item : value.items()) list.Add(WithDoubles(item, arena));
      return list.Build();
    }
    case Value::Type::kMap: {
      runtime::MapBuilder map(arena);
      for (const Member& member : value.members()) {
        map.Add(member.key, WithDoubles(member.value, arena));
      }
      return map.Build();
    }
    default:
      return value;
  }
}

Result<Value> Scanner::Text() {
  ASSIGN_OR_RETURN(const std::string_view text, String());
  return Value::String(text::ValidUtf8(text) ? text : arena_.Copy(text::ReplaceInvalidUtf8(text)));
}

Result<Value> Scanner::Container() {
  const std::string_view before = rest_;
  RETURN_IF_ERROR(Skip());
  const std::string_view text = before.substr(0, before.size() - rest_.size());
  ASSIGN_OR_RETURN(const Value value,
                   codec::ParseJson(text, arena_, nullptr, {.depth_max = kReadDepthMax}));
  return WithDoubles(value, arena_);
}

Result<Value> Scanner::Any() {
  switch (Peek()) {
    case '"':
      return Text();
    case 't':
      if (TakeWord("true")) return Value::Bool(true);
      break;
    case 'f':
      if (TakeWord("false")) return Value::Bool(false);
      break;
    case 'n':
      if (TakeWord("null")) return Value();
      break;
    case '{':
    case '[':
      return Container();
    default:
      return Number();
  }
  return Malformed("expects a value");
}

// Skips a scalar, or the start of a container, whose closing bracket is added to `open`.
Status Scanner::SkipStart(std::string& open) {
  const char c = Peek();
  if (c != '{' && c != '[') return Any().status();
  rest_.remove_prefix(1);
  open += c == '{' ? '}' : ']';
  return open.size() > FieldSet::kDepthMax ? Malformed("exceeded max depth") : Status();
}

// Skips the key before the next value of the innermost container, if that is a map.
Status Scanner::SkipKey(const std::string& open) {
  if (open.back() != '}') return {};
  RETURN_IF_ERROR(String().status());
  return Take(':') ? Status() : Malformed("expects a colon");
}

Status Scanner::Skip() {
  std::string open;  // The closing brackets that are expected.
  RETURN_IF_ERROR(SkipStart(open));
  for (bool first = !open.empty(); !open.empty();) {
    if (Take(open.back())) {
      open.pop_back();
      first = false;
      continue;
    }
    if (!first && !Take(',')) return Malformed("expects a comma");
    RETURN_IF_ERROR(SkipKey(open));
    const std::size_t depth = open.size();
    RETURN_IF_ERROR(SkipStart(open));
    first = open.size() > depth;
  }
  return {};
}

// Parses a key of FieldsV1. nullopt: its kind is newer than this code.
class KeyReader {
 public:
  explicit KeyReader(Arena& arena) : arena_(arena) {}

  Result<std::optional<PathElement>> Read(std::string_view key) {
    if (key.size() < 2) return BadKey("key must be 2 characters long:");
    if (key[1] != ':') return BadKey("missing colon: " + std::string(key));
    const std::string_view content = key.substr(2);
    switch (key[0]) {
      case 'f':
        return std::optional(PathElement::FieldName(content));
      case 'k':
        return Fields(content);
      case 'v':
        return OneValue(content);
      case 'i':
        return IndexOf(content);
      default:
        return std::optional<PathElement>();
    }
  }

 private:
  Result<std::optional<PathElement>> OneValue(std::string_view content) {
    Scanner scanner(content, arena_);
    ASSIGN_OR_RETURN(const Value value, scanner.Any());
    if (!scanner.AtEnd()) return BadKey("unexpected trailing data after JSON object");
    return std::optional(PathElement::OfValue(value));
  }

  Result<std::optional<PathElement>> Fields(std::string_view content) {
    Scanner scanner(content, arena_);
    fields_.clear();
    if (!scanner.TakeWord("null")) {
      if (!scanner.Take('{')) return BadKey("expect { or n");
      for (bool first = true; !scanner.Take('}'); first = false) {
        if (!first && !scanner.Take(',')) return BadKey("expect a comma");
        ASSIGN_OR_RETURN(const std::string_view name, scanner.String());
        if (!scanner.Take(':')) return BadKey("expect a colon");
        ASSIGN_OR_RETURN(const Value value, scanner.Any());
        fields_.push_back({name, value});
      }
    }
    if (!scanner.AtEnd()) return BadKey("unexpected trailing data after JSON object");
    const auto before = [](const Member& a, const Member& b) { return a.key < b.key; };
    if (!std::is_sorted(fields_.begin(), fields_.end(), before)) {
      std::stable_sort(fields_.begin(), fields_.end(), before);
    }
    auto* const to =
        static_cast<Member*>(arena_.Allocate(fields_.size() * sizeof(Member), alignof(Member)));
    std::uninitialized_copy(fields_.begin(), fields_.end(), to);
    return std::optional(PathElement::Key({to, fields_.size()}));
  }

  static Result<std::optional<PathElement>> IndexOf(std::string_view content) {
    std::string_view digits = content;
    if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
    std::int64_t index = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) {
      return BadKey("not an index: " + std::string(content));
    }
    return std::optional(PathElement::Index(index));
  }

  Arena& arena_;
  std::vector<Member> fields_;  // The fields of the key that is being read.
};

class Decoder {
 public:
  Decoder(std::string_view json, Arena& arena) : scanner_(json, arena), keys_(arena), out_(arena) {}

  Result<FieldSet> Decode() {
    FieldSet set;
    bool member = false;
    RETURN_IF_ERROR(Level(set, member, 0));
    if (!scanner_.AtEnd()) return Malformed("unexpected trailing data after JSON object");
    return set;
  }

 private:
  // Reads one object: the set below an element, and whether the element itself is a member.
  Status Level(FieldSet& set, bool& member, std::size_t depth) {
    if (depth > FieldSet::kDepthMax) return Malformed("exceeded max depth");
    const std::size_t mark = out_.Mark();
    if (!scanner_.TakeWord("null")) RETURN_IF_ERROR(Members(member, depth));
    set = out_.Finish(mark);
    if (set.Empty()) member = true;
    return {};
  }

  Status Members(bool& member, std::size_t depth) {
    if (!scanner_.Take('{')) return Malformed("expect { or n");
    for (bool first = true; !scanner_.Take('}'); first = false) {
      if (!first && !scanner_.Take(',')) return Malformed("expect a comma");
      RETURN_IF_ERROR(OneMember(member, depth));
    }
    return {};
  }

  Status OneMember(bool& member, std::size_t depth) {
    ASSIGN_OR_RETURN(const std::string_view key, scanner_.String());
    if (!scanner_.Take(':')) return Malformed("expect a colon");
    if (key == ".") {
      member = true;
      return scanner_.Skip();
    }
    ASSIGN_OR_RETURN(const std::optional<PathElement> element, keys_.Read(key));
    if (!element) return scanner_.Skip();
    FieldSet::Entry entry;
    entry.element = *element;
    RETURN_IF_ERROR(Level(entry.children, entry.member, depth + 1));
    out_.Add(entry);
    return {};
  }

  Scanner scanner_;
  KeyReader keys_;
  SetBuilder out_;
};

// Reads a set that was parsed with the object it belongs to.
class ParsedDecoder {
 public:
  explicit ParsedDecoder(Arena& arena) : keys_(arena), out_(arena) {}

  Result<FieldSet> Decode(const Value& fields) {
    FieldSet set;
    bool member = false;
    RETURN_IF_ERROR(Level(fields, set, member, 0));
    return set;
  }

 private:
  Status Level(const Value& fields, FieldSet& set, bool& member, std::size_t depth) {
    if (depth > FieldSet::kDepthMax) return Malformed("exceeded max depth");
    if (!fields.is_map() && !fields.is_null()) return Malformed("expect { or n");
    const std::size_t mark = out_.Mark();
    for (const Member& one : fields.members()) RETURN_IF_ERROR(OneMember(one, member, depth));
    set = out_.Finish(mark);
    if (set.Empty()) member = true;
    return {};
  }

  Status OneMember(const Member& one, bool& member, std::size_t depth) {
    if (one.key == ".") {
      member = true;
      return {};
    }
    ASSIGN_OR_RETURN(const std::optional<PathElement> element, keys_.Read(one.key));
    if (!element) return {};
    FieldSet::Entry entry;
    entry.element = *element;
    RETURN_IF_ERROR(Level(one.value, entry.children, entry.member, depth + 1));
    out_.Add(entry);
    return {};
  }

  KeyReader keys_;
  SetBuilder out_;
};

}  // namespace

Result<FieldSet> DecodeFieldsV1(std::string_view json, Arena& arena) {
  return Decoder(json, arena).Decode();
}

Result<FieldSet> DecodeFieldsV1(const Value& fields, Arena& arena) {
  if (fields.type() == Value::Type::kRaw) return DecodeFieldsV1(fields.AsString(), arena);
  return ParsedDecoder(arena).Decode(fields);
}

}  // namespace apiserver::v0::patch::apply
