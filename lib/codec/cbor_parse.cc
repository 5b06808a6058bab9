#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/cbor.h"
#include "apiserver/runtime/time.h"

#include "base/status_macros.h"
#include "codec/cbor_head.h"
#include "text/base64.h"
#include "text/hex.h"
#include "text/utf8.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;

// The largest map whose keys are checked for duplicates pair by pair.
constexpr std::size_t kPairwiseKeysMax = 12;

Status Bad(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }
Status Truncated() { return Bad("unexpected EOF"); }

std::string_view MajorName(CborMajor major) {
  constexpr std::array<std::string_view, 8> kNames = {"positive integer",
                                                      "negative integer",
                                                      "byte string",
                                                      "UTF-8 text string",
                                                      "array",
                                                      "map",
                                                      "tag",
                                                      "primitives"};
  return kNames.at(static_cast<std::size_t>(major));
}

// Words an error as UnmarshalTypeError of fxamacker/cbor, the decoder of Kubernetes, does.
Status CannotBe(CborMajor major, std::string_view go_type, const std::string& why = "") {
  return Bad("cbor: cannot unmarshal " + std::string(MajorName(major)) + " into Go value of type " +
             std::string(go_type) + (why.empty() ? "" : " (" + why + ")"));
}

Status NotAccepted(const std::string& what) {
  return Bad("cbor: data item of cbor type primitives is not accepted by protocol: " + what);
}

struct Head {
  CborMajor major;
  unsigned info;  // The low five bits.
  std::uint64_t argument;

  bool indefinite() const { return info == kCborIndefinite; }
};

double DoubleOfHalf(std::uint64_t bits) {
  const auto exponent = static_cast<int>(bits >> 10U & 0x1FU);
  const auto fraction = static_cast<double>(bits & 0x3FFU);
  // A half's fraction has ten bits; 2^-24 is its smallest subnormal.
  double number = 0;
  if (exponent == 0) {
    number = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    number = fraction == 0 ? std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
  } else {
    number = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -number : number;
}

double DoubleOf(const Head& head) {
  if (head.info == kCborTwoBytes) return DoubleOfHalf(head.argument);
  if (head.info == kCborFourBytes) {
    const auto bits = static_cast<std::uint32_t>(head.argument);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  double number = 0;
  std::memcpy(&number, &head.argument, sizeof number);
  return number;
}

bool IsFloat(const Head& head) {
  return head.major == CborMajor::kSimple && head.info >= kCborTwoBytes &&
         head.info <= kCborEightBytes;
}

// Returns the text that bytes below a tag 21, 22 or 23 read as.
std::string LaterEncoded(std::uint64_t tag, std::string_view bytes) {
  std::string text;
  if (tag == kCborTagBase16) {
    text::AppendHex(bytes, text);
    return text;
  }
  text::AppendBase64(bytes, text);
  if (tag == kCborTagBase64) return text;
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

// Formats a time as RFC 3339 with the digits that its fraction needs.
Result<std::string> TimeText(double seconds) {
  constexpr double kYear10000 = 253402300800.0;
  constexpr double kYear1 = -62135596800.0;
  if (!(seconds >= kYear1 && seconds < kYear10000)) {
    return Bad(
        "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision");
  }
  auto whole = static_cast<std::int64_t>(seconds);
  auto nanos = static_cast<std::int32_t>((seconds - static_cast<double>(whole)) * 1e9);
  // The fraction of a time before 1970 is negative; RFC 3339 counts it from the second before.
  if (nanos < 0) {
    --whole;
    nanos += 1'000'000'000;
  }
  std::string text = runtime::FormatTime({whole, nanos});
  if (nanos == 0) return text;
  std::string digits = std::to_string(nanos);
  digits.insert(0, 9 - digits.size(), '0');
  digits.erase(digits.find_last_not_of('0') + 1);
  text.insert(text.size() - 1, "." + digits);
  return text;
}

// Keeps open containers in a vector instead of the thread's stack, which deep data could exhaust.
class Parser {
 public:
  Parser(std::string_view bytes, Arena& arena, const CborLimits& limits)
      : bytes_(bytes), arena_(arena), limits_(limits) {}

  Result<Value> Run() {
    if (bytes_.empty()) return Bad("EOF");
    std::optional<Value> whole;
    while (!whole) {
      ASSIGN_OR_RETURN(std::optional<Value> value, ReadItem());
      ASSIGN_OR_RETURN(whole, Deliver(value));
    }
    if (at_ == bytes_.size()) return *whole;
    return Bad("cbor: " + std::to_string(bytes_.size() - at_) +
               " bytes of extraneous data starting at index " + std::to_string(at_));
  }

 private:
  // An array or map that is being read.
  struct Frame {
    bool map;
    bool indefinite;
    std::uint64_t left;       // Items, keys among them; unless indefinite.
    std::size_t base;         // The index of its first item in values_.
    std::uint64_t later_tag;  // The tag that applies to byte strings in it; 0: none.
    std::size_t depth;        // With itself and the tags around it.
  };

  unsigned char Peek() const { return static_cast<unsigned char>(bytes_[at_]); }

  Result<Head> ReadHead() {
    if (at_ == bytes_.size()) return Truncated();
    const unsigned char first = Peek();
    ++at_;
    Head head{static_cast<CborMajor>(first >> 5U), first & 0x1FU, first & 0x1FU};
    if (head.info < kCborOneByte) return head;
    if (head.info <= kCborEightBytes) {
      const std::size_t size = std::size_t{1} << (head.info - kCborOneByte);
      if (bytes_.size() - at_ < size) return Truncated();
      head.argument = 0;
      for (std::size_t i = 0; i < size; ++i) {
        head.argument = head.argument << 8U | static_cast<unsigned char>(bytes_[at_++]);
      }
      return head;
    }
    // Only strings, arrays and maps may have an indefinite length.
    const bool countable = head.major >= CborMajor::kBytes && head.major <= CborMajor::kMap;
    if (head.indefinite() && countable) return head;
    if (head.indefinite() && head.major == CborMajor::kSimple) {
      return Bad("cbor: unexpected \"break\" code");
    }
    return Bad("cbor: invalid additional information " + std::to_string(head.info) + " for type " +
               std::string(MajorName(head.major)));
  }

  // Reads a whole scalar. nullopt: an array or map was opened, or the innermost one has ended.
  Result<std::optional<Value>> ReadItem() {
    if (!frames_.empty() && AtEndOf(frames_.back())) return std::optional<Value>();
    const bool key = ExpectsKey();
    // Both are inherited: a tag around an array applies to the byte strings in it, too.
    std::uint64_t later_tag = frames_.empty() ? 0 : frames_.back().later_tag;
    std::size_t depth = frames_.empty() ? 0 : frames_.back().depth;
    ASSIGN_OR_RETURN(Head head, ReadHead());
    while (head.major == CborMajor::kTag) {
      const std::uint64_t tag = head.argument;
      if (++depth > limits_.depth_max) return TooDeep();
      ASSIGN_OR_RETURN(head, ReadHead());
      if (tag == kCborTagBignum || tag == kCborTagNegativeBignum) {
        return Bad("cbor: data item of cbor type tag is not accepted by protocol: bignum");
      }
      if (tag >= kCborTagBase64Url && tag <= kCborTagBase16) later_tag = tag;
      if (tag == kCborTagTimeText || tag == kCborTagTimeNumber) {
        ASSIGN_OR_RETURN(const Value time, ReadTime(tag, head));
        return std::optional<Value>(time);
      }
    }
    if (key && head.major != CborMajor::kBytes && head.major != CborMajor::kText) {
      return CannotBe(head.major, "string");
    }
    if (head.major == CborMajor::kArray || head.major == CborMajor::kMap) {
      RETURN_IF_ERROR(Open(head, later_tag, depth + 1));
      return std::optional<Value>();
    }
    ASSIGN_OR_RETURN(const Value value, ReadScalar(head, later_tag));
    return std::optional<Value>(value);
  }

  Status TooDeep() const {
    return Bad("cbor: exceeded max nested level " + std::to_string(limits_.depth_max));
  }

  Status Open(const Head& head, std::uint64_t later_tag, std::size_t depth) {
    if (depth > limits_.depth_max) return TooDeep();
    const bool map = head.major == CborMajor::kMap;
    // More items than any input holds; doubled for a map, their number would overflow.
    if (!head.indefinite() && head.argument > std::numeric_limits<std::int64_t>::max() / 2) {
      return Truncated();
    }
    frames_.push_back({.map = map,
                       .indefinite = head.indefinite(),
                       .left = head.argument * (map ? 2 : 1),
                       .base = values_.size(),
                       .later_tag = later_tag,
                       .depth = depth});
    return {};
  }

  bool AtEndOf(const Frame& frame) const {
    if (!frame.indefinite) return frame.left == 0;
    return at_ < bytes_.size() && Peek() == kCborBreak;
  }

  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().map &&
           (values_.size() - frames_.back().base) % 2 == 0;
  }

  Result<Value> ReadScalar(const Head& head, std::uint64_t later_tag) {
    switch (head.major) {
      case CborMajor::kUnsigned:
        if (head.argument > std::numeric_limits<std::int64_t>::max()) {
          return CannotBe(head.major, "int64",
                          std::to_string(head.argument) + " overflows Go's int64");
        }
        return Value::Int(static_cast<std::int64_t>(head.argument));
      case CborMajor::kNegative:
        if (head.argument > std::numeric_limits<std::int64_t>::max()) {
          // -1 - argument, which may need 65 bits.
          const std::string magnitude = head.argument == std::numeric_limits<std::uint64_t>::max()
                                            ? "18446744073709551616"
                                            : std::to_string(head.argument + 1);
          return CannotBe(head.major, "int64", "-" + magnitude + " overflows Go's int64");
        }
        return Value::Int(-1 - static_cast<std::int64_t>(head.argument));
      case CborMajor::kBytes:
      case CborMajor::kText:
        return ReadText(head, later_tag);
      default:
        return ReadSimple(head);
    }
  }

  Result<Value> ReadText(const Head& head, std::uint64_t later_tag) {
    ASSIGN_OR_RETURN(std::string_view text, ReadString(head));
    if (head.major == CborMajor::kBytes && later_tag != 0) {
      return Value::String(arena_.Copy(LaterEncoded(later_tag, text)));
    }
    if (!text::ValidUtf8(text)) {
      // Text must be UTF-8. A byte string need not be, and is repaired as it becomes text.
      if (head.major == CborMajor::kText) return Bad("cbor: invalid UTF-8 string");
      text = arena_.Copy(text::ReplaceInvalidUtf8(text));
    }
    return Value::String(text);
  }

  Result<std::string_view> ReadString(const Head& head) {
    if (!head.indefinite()) return Take(head.argument);
    std::string joined;
    for (;;) {
      if (at_ == bytes_.size()) return Truncated();
      if (Peek() == kCborBreak) {
        ++at_;
        return arena_.Copy(joined);
      }
      ASSIGN_OR_RETURN(const Head chunk, ReadHead());
      if (chunk.major != head.major) {
        return Bad("cbor: wrong element type " + std::string(MajorName(chunk.major)) +
                   " for indefinite-length " + std::string(MajorName(head.major)));
      }
      if (chunk.indefinite()) {
        return Bad("cbor: indefinite-length " + std::string(MajorName(head.major)) +
                   " chunk is not definite-length");
      }
      ASSIGN_OR_RETURN(const std::string_view text, Take(chunk.argument));
      // RFC 8949, 3.2.3: a character must not be spread over chunks.
      if (head.major == CborMajor::kText && !text::ValidUtf8(text)) {
        return Bad("cbor: invalid UTF-8 string");
      }
      joined += text;
    }
  }

  Result<std::string_view> Take(std::uint64_t size) {
    if (size > bytes_.size() - at_) return Truncated();
    const std::string_view text = bytes_.substr(at_, size);
    at_ += size;
    return text;
  }

  static Result<Value> ReadSimple(const Head& head) {
    if (IsFloat(head)) {
      const double number = DoubleOf(head);
      if (std::isnan(number)) return NotAccepted("floating-point NaN");
      if (std::isinf(number)) return NotAccepted("floating-point infinity");
      return Value::Double(number);
    }
    // RFC 8949, 3.3: these values have no form of two bytes.
    if (head.info == kCborOneByte && head.argument < 32) {
      return Bad("cbor: invalid simple value " + std::to_string(head.argument) +
                 " for type primitives");
    }
    switch (head.argument) {
      case kCborFalse:
        return Value::Bool(false);
      case kCborTrue:
        return Value::Bool(true);
      case kCborNull:
        return Value();
      default:
        return NotAccepted("simple value " + std::to_string(head.argument) + " is not recognized");
    }
  }

  Result<Value> ReadTime(std::uint64_t tag, const Head& head) {
    if (tag == kCborTagTimeText) {
      if (head.major != CborMajor::kText) {
        return Bad("cbor: tag number 0 must be followed by text string, got " +
                   std::string(MajorName(head.major)));
      }
      ASSIGN_OR_RETURN(const Value text, ReadText(head, 0));
      const auto time = runtime::ParseTime(text.AsString());
      if (time.ok()) return text;
      return Bad("cbor: cannot set " + std::string(text.AsString()) +
                 " for time.Time: " + std::string(time.status().message()));
    }
    double seconds = 0;
    if (head.major == CborMajor::kUnsigned || head.major == CborMajor::kNegative) {
      ASSIGN_OR_RETURN(const Value number, ReadScalar(head, 0));
      seconds = static_cast<double>(number.AsInt());
    } else if (IsFloat(head)) {
      ASSIGN_OR_RETURN(const Value number, ReadSimple(head));
      seconds = number.AsDouble();
    } else {
      return Bad("cbor: tag number 1 must be followed by integer or floating-point number, got " +
                 std::string(MajorName(head.major)));
    }
    ASSIGN_OR_RETURN(const std::string text, TimeText(seconds));
    return Value::String(arena_.Copy(text));
  }

  // Adds a value to the innermost container and closes what is complete. Returns the whole document
  // once it is read.
  Result<std::optional<Value>> Deliver(std::optional<Value> value) {
    for (;;) {
      if (value) {
        if (frames_.empty()) return value;
        if (!frames_.back().indefinite) --frames_.back().left;
        values_.push_back(*value);
      }
      if (!AtEndOf(frames_.back())) return std::optional<Value>();
      ASSIGN_OR_RETURN(value, Close());
    }
  }

  Result<Value> Close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.indefinite) ++at_;
    const std::span<const Value> items(values_.data() + frame.base, values_.size() - frame.base);
    if (!frame.map) {
      runtime::ListBuilder list(arena_);
      for (const Value& item : items) list.Add(item);
      values_.resize(frame.base);
      return list.Build();
    }
    // A break after a key without a value.
    if (items.size() % 2 != 0) return Bad("cbor: unexpected \"break\" code");
    RETURN_IF_ERROR(CheckKeys(items));
    runtime::MapBuilder map(arena_);
    for (std::size_t i = 0; i < items.size(); i += 2) map.Add(items[i].AsString(), items[i + 1]);
    values_.resize(frame.base);
    return map.Build();
  }

  // Small maps are compared pair by pair, which takes no memory; large ones would take quadratic
  // time.
  static Status CheckKeys(std::span<const Value> items) {
    const auto repeated = [&](std::size_t i) {
      return Bad("cbor: found duplicate map key " + field::Quote(items[i].AsString()) +
                 " at map element index " + std::to_string(i / 2));
    };
    if (items.size() / 2 <= kPairwiseKeysMax) {
      for (std::size_t i = 2; i < items.size(); i += 2) {
        for (std::size_t j = 0; j < i; j += 2) {
          if (items[i].AsString() == items[j].AsString()) return repeated(i);
        }
      }
      return {};
    }
    std::unordered_set<std::string_view> seen(items.size() / 2);
    for (std::size_t i = 0; i < items.size(); i += 2) {
      if (!seen.insert(items[i].AsString()).second) return repeated(i);
    }
    return {};
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  Arena& arena_;
  const CborLimits& limits_;
  std::vector<Frame> frames_;
  std::vector<Value> values_;  // The values of all open frames, keys before their values.
};

}  // namespace

Result<Value> ParseCbor(std::string_view bytes, Arena& arena, const CborLimits& limits) {
  if (bytes.size() > limits.bytes_max) return Bad("cbor: the data is too large");
  return Parser(bytes, arena, limits).Run();
}

}  // namespace apiserver::v0::codec
