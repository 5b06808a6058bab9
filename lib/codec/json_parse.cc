#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"

#include "codec/json_duplicates.h"
#include "codec/json_syntax.h"
#include "codec/rapidjson.h"
#include "text/scan.h"
#include "text/utf8.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

// The most duplicates that Go's strict decoding reports.
constexpr std::size_t kDuplicatesMax = 100;
// The largest map that is checked for duplicates pair by pair.
constexpr std::size_t kPairwiseMax = 12;

// Replaces "\udc00" without a high surrogate, which RapidJSON decodes to three bytes of invalid
// UTF-8, by U+FFFD, which has three bytes too, as Go does.
void ReplaceLoneLowSurrogates(char* begin, const char* end) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  for (char* at = begin; at + 2 < end; ++at) {
    if (*at != '\xED' || static_cast<unsigned char>(at[1]) < 0xA0) continue;
    kReplacement.copy(at, kReplacement.size());
    at += 2;
  }
}

// RapidJSON's in-situ protocol over read-only text. A string begins with PutBegin(), which skips
// all plain characters; if the closing quote comes next, the string is borrowed from the text.
// Otherwise RapidJSON unescapes the rest through Put() into the arena.
class BorrowingStream {
 public:
  using Ch = char;

  BorrowingStream(std::string_view text, Arena& arena)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), arena_(arena) {}

  Ch Peek() const { return at_ != end_ ? *at_ : '\0'; }
  Ch Take() { return *at_++; }
  std::size_t Tell() const { return static_cast<std::size_t>(at_ - begin_); }

  Ch* PutBegin() {
    if (at_[-1] != '"') return nullptr;  // A number; see RawNumber().
    const char* const start = at_;
    const std::size_t plain = text::PlainPrefix({start, static_cast<std::size_t>(end_ - start)});
    at_ += plain;
    if (at_ == end_ || *at_ == '"') {
      put_ = nullptr;
      borrowed_ = plain;
      return const_cast<char*>(start);  // NOLINT: handed back to us as const.
    }
    const std::string_view rest(start - 1, static_cast<std::size_t>(end_ - start) + 1);
    const std::size_t room = std::min(JsonStringLength(rest), rest.size());
    char* const copy = static_cast<char*>(arena_.Allocate(room + 1, 1));
    std::memcpy(copy, start, plain);
    put_ = copy + plain;
    return copy;
  }
  void Put(Ch c) {
    if (put_ != nullptr) *put_++ = c;
  }
  // Returns the length, with RapidJSON's terminating zero.
  std::size_t PutEnd(Ch* head) const {
    if (put_ == nullptr) return borrowed_ + 1;
    ReplaceLoneLowSurrogates(head, put_);
    return static_cast<std::size_t>(put_ - head);
  }
  void Flush() {}

  // Returns the number of `length` characters that was just read.
  std::string_view Taken(std::size_t length) const { return {at_ - length, length}; }
  bool at_end() const { return at_ == end_; }
  const char* end() const { return end_; }
  bool Holds(std::string_view part) const {
    return !std::less<>()(part.data(), begin_) && std::less<>()(part.data(), end_);
  }

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
  char* put_ = nullptr;
  std::size_t borrowed_ = 0;
  Arena& arena_;
};

// nullopt: out of a double's range.
std::optional<Value> NumberValue(std::string_view text) {
  if (text.size() <= 18) {  // Cannot overflow.
    const bool minus = text[0] == '-';
    std::int64_t number = 0;
    std::size_t i = minus ? 1 : 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      number = number * 10 + (text[i] - '0');
    }
    if (i == text.size()) return Value::Int(minus ? -number : number);
  } else {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Value::Int(number);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc()) return Value::Double(number);
  // from_chars does not distinguish too large from too small; Go reads the latter as zero.
  const std::size_t exponent = text.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos
                        ? text.substr(exponent + 1).starts_with('-')
                        : text.find('.') != std::string_view::npos && text.starts_with("0.");
  if (tiny) return Value::Double(text[0] == '-' ? -0.0 : 0.0);
  return std::nullopt;
}

// Builds Values from RapidJSON's events. An event that returns false ends the parse.
class JsonBuilder {
 public:
  struct Budget {
    std::size_t depth_max;
    std::size_t arena_max;  // Bytes that the arena may hold in all.
  };

  JsonBuilder(const BorrowingStream& stream, Arena& arena, Budget budget, bool report)
      : stream_(stream), arena_(arena), budget_(budget), report_(report) {
    values_.reserve(64);
    keys_.reserve(64);
    frames_.reserve(16);
  }

  bool Null() { return Push(Value()); }
  bool Bool(bool value) { return Push(Value::Bool(value)); }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return Push(Value::String({text, length}));
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    keys_.emplace_back(text, length);
    return true;
  }
  bool RawNumber(const char*, rapidjson::SizeType length, bool) {
    const std::string_view text = stream_.Taken(length);
    const std::optional<Value> number = NumberValue(text);
    if (!number) return Fail(OutOfRange(text));
    return Push(*number);
  }
  // Numbers arrive as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

  bool StartObject() { return Open(true); }
  bool StartArray() { return Open(false); }

  bool EndObject(rapidjson::SizeType count) {
    std::span<Member> members(
        static_cast<Member*>(arena_.Allocate(count * sizeof(Member), alignof(Member))), count);
    const std::string_view* const keys = keys_.data() + keys_.size() - count;
    const Value* const values = values_.data() + values_.size() - count;
    for (std::size_t i = 0; i < count; ++i) new (&members[i]) Member{keys[i], values[i]};
    members = members.first(DropDuplicates(members));
    frames_.pop_back();
    keys_.resize(keys_.size() - count);
    values_.resize(values_.size() - count);
    return InBudget() && Push(Value::Map(members));
  }

  bool EndArray(rapidjson::SizeType count) {
    auto* const items = static_cast<Value*>(arena_.Allocate(count * sizeof(Value), alignof(Value)));
    const Value* const values = values_.data() + values_.size() - count;
    std::uninitialized_copy_n(values, count, items);
    frames_.pop_back();
    values_.resize(values_.size() - count);
    return InBudget() && Push(Value::List({items, count}));
  }

  Value root() const { return values_.front(); }
  // Set when an event returned false.
  const std::string& error() const { return error_; }

  static std::string OutOfRange(std::string_view number) {
    return "json: cannot unmarshal number " + std::string(number.substr(0, 64)) +
           " into Go value of type float64";
  }

  // Returns the duplicates in the order in which the text repeats them.
  std::vector<DuplicateKey> TakeDuplicates() {
    std::stable_sort(
        duplicates_.begin(), duplicates_.end(),
        [](const DuplicateKey& a, const DuplicateKey& b) { return std::less<>()(a.at, b.at); });
    std::unordered_set<std::string_view> seen;
    std::vector<DuplicateKey> once;
    once.reserve(duplicates_.size());
    for (const DuplicateKey& duplicate : duplicates_) {
      if (seen.insert(duplicate.path).second) once.push_back(duplicate);
    }
    return once;
  }

 private:
  struct Frame {
    bool object;
    std::size_t first_value;
  };

  bool Push(Value value) {
    values_.push_back(value);
    return true;
  }
  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }
  bool Open(bool object) {
    frames_.push_back({object, values_.size()});
    return frames_.size() <= budget_.depth_max || Fail("exceeded max depth");
  }
  bool InBudget() {
    return arena_.bytes_reserved() <= budget_.arena_max ||
           Fail("the document needs too much memory");
  }

  // Drops duplicates: the last value counts, at the position of the first. Returns the number of
  // members left.
  std::size_t DropDuplicates(std::span<Member> members) {
    if (members.size() < 2 || !HasDuplicates(members)) return members.size();
    std::vector<std::size_t> order(members.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return members[a].key < members[b].key; });
    std::vector<bool> drop(members.size());
    for (std::size_t i = 1, first = 0; i < order.size(); ++i) {
      if (members[order[i]].key != members[order[first]].key) {
        first = i;
        continue;
      }
      Report(members[order[i]].key);
      members[order[first]].value = members[order[i]].value;
      drop[order[i]] = true;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!drop[i]) members[kept++] = members[i];
    }
    return kept;
  }

  static bool HasDuplicates(std::span<const Member> members) {
    if (members.size() <= kPairwiseMax) {
      for (std::size_t i = 1; i < members.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (members[i].key == members[j].key) return true;
        }
      }
      return false;
    }
    // Stored objects and Go's clients have their maps in order.
    const auto unordered = [](const Member& a, const Member& b) { return a.key >= b.key; };
    if (std::adjacent_find(members.begin(), members.end(), unordered) == members.end()) {
      return false;
    }
    if (const std::optional<bool> found = LookUpDuplicates(members)) return *found;
    std::vector<std::string_view> keys;
    keys.reserve(members.size());
    for (const Member& member : members) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
  }

  // Puts the keys into a table. nullopt: so many fall on each other, perhaps on purpose, that
  // sorting is faster.
  static std::optional<bool> LookUpDuplicates(std::span<const Member> members) {
    constexpr std::size_t kTriesMax = 4;  // Of each key, on average.
    std::size_t tries_left = members.size() * kTriesMax;
    std::vector<const Member*> table(std::bit_ceil(2 * members.size()));
    for (const Member& member : members) {
      std::size_t place = std::hash<std::string_view>()(member.key);
      for (;; ++place) {
        if (tries_left-- == 0) return std::nullopt;
        const Member*& there = table[place & (table.size() - 1)];
        if (there == nullptr) {
          there = &member;
          break;
        }
        if (there->key == member.key) return true;
      }
    }
    return false;
  }

  void Report(std::string_view key) {
    if (!report_ || duplicates_.size() >= kDuplicatesMax) return;
    // A key with escapes is a copy, so its address is no position.
    duplicates_.push_back({stream_.Holds(key) ? key.data() : stream_.end(), PathTo(key)});
  }

  // The path of `key` in the object that is being closed: the last frame.
  std::string PathTo(std::string_view key) const {
    std::string path;
    std::size_t key_index = 0;
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      const std::size_t index = frames_[i + 1].first_value - frames_[i].first_value;
      if (!frames_[i].object) {
        path += "[" + std::to_string(index) + "]";
        continue;
      }
      // The members before the open one have a value each, and it has a key already.
      key_index += index + 1;
      if (!path.empty()) path += '.';
      path += field::Shorten(keys_[key_index - 1]);
      // At most a hundred paths are reported, but a key on the way can be megabytes.
      if (path.size() > field::kTextBytesMax) return field::Shorten(path);
    }
    if (!path.empty()) path += '.';
    return path + field::Shorten(key);
  }

  const BorrowingStream& stream_;
  Arena& arena_;
  const Budget budget_;
  const bool report_;
  std::vector<Value> values_;
  std::vector<std::string_view> keys_;
  std::vector<Frame> frames_;
  std::vector<DuplicateKey> duplicates_;
  std::string error_;
};

Status BadJson(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }

// Rewrites unpaired surrogates, which RapidJSON refuses and Go reads as U+FFFD, as that.
std::string_view ReplaceLoneSurrogates(std::string_view text, Arena& arena) {
  const auto surrogate = [&](std::size_t at, char low, char high) {
    const auto lower = [&](std::size_t i) { return static_cast<char>(text[i] | 0x20); };
    return at + 6 <= text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
           lower(at + 2) == 'd' && lower(at + 3) >= low && lower(at + 3) <= high;
  };
  std::string clean(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') continue;
    if (surrogate(i, '8', 'b') && surrogate(i + 6, 'c', 'f')) {
      i += 11;
    } else if (surrogate(i, '8', '9') || surrogate(i, 'a', 'f')) {
      clean.replace(i, 6, "\\ufffd");
      i += 5;
    } else {
      ++i;
    }
  }
  return arena.Copy(clean);
}

constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag |
                            rapidjson::kParseNumbersAsStringsFlag;

Result<Value> ParseClean(std::string_view text, Arena& arena, std::vector<DuplicateKey>* duplicates,
                         const JsonLimits& limits) {
  BorrowingStream stream(text, arena);
  const std::size_t arena_max =
      arena.bytes_reserved() + text.size() * limits.arena_factor_max + (64 << 10);
  JsonBuilder builder(stream, arena, {limits.depth_max, arena_max}, duplicates != nullptr);
  JsonReader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!result.IsError() && stream.at_end()) {
    if (duplicates != nullptr) *duplicates = builder.TakeDuplicates();
    return builder.root();
  }
  if (!builder.error().empty()) return BadJson(builder.error());
  // RapidJSON's errors are not worded as Go's, so the text is scanned again for its first error.
  std::string error = JsonSyntaxError(text, limits.depth_max);
  if (!error.empty()) return BadJson(std::move(error));
  if (result.Code() == rapidjson::kParseErrorNumberTooBig) {
    const std::string_view rest = text.substr(result.Offset());
    return BadJson(
        JsonBuilder::OutOfRange(rest.substr(0, rest.find_first_not_of("0123456789+-.eE"))));
  }
  if (result.Code() == rapidjson::kParseErrorStringUnicodeSurrogateInvalid) {
    return Status(Reason::kUnknown, "");  // See ParseJson.
  }
  return BadJson("invalid JSON");
}

}  // namespace

Result<Value> ParseJsonKeepingDuplicates(std::string_view text, Arena& arena,
                                         std::vector<DuplicateKey>* duplicates,
                                         const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) return BadJson("the document is too large");
  // encoding/json reads invalid UTF-8 as U+FFFD, too.
  const std::string_view clean =
      text::ValidUtf8(text) ? text : arena.Copy(text::ReplaceInvalidUtf8(text));
  Result<Value> root = ParseClean(clean, arena, duplicates, limits);
  if (root.ok() || root.status().reason() == Reason::kBadRequest) return root;
  return ParseClean(ReplaceLoneSurrogates(clean, arena), arena, duplicates, limits);
}

Result<Value> ParseJson(std::string_view text, Arena& arena, std::vector<std::string>* duplicates,
                        const JsonLimits& limits) {
  if (duplicates == nullptr) return ParseJsonKeepingDuplicates(text, arena, nullptr, limits);
  std::vector<DuplicateKey> keys;
  Result<Value> root = ParseJsonKeepingDuplicates(text, arena, &keys, limits);
  for (DuplicateKey& key : keys) duplicates->push_back(std::move(key.path));
  return root;
}

}  // namespace apiserver::v0::codec
