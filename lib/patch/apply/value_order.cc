#include "patch/apply/value_order.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/typed.h"

#include "patch/go_print.h"
#include "runtime/member_index.h"
#include "text/base64.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;
using ValueType = runtime::Value::Type;

template <class T>
int Sign(const T& a, const T& b) {
  if (a < b) return -1;
  return b < a ? 1 : 0;
}

// The order of types; all numbers are one.
int Rank(const Value& value) {
  switch (value.type()) {
    case ValueType::kInt:
    case ValueType::kDouble:
      return 0;
    case ValueType::kString:
    case ValueType::kRaw:
    case ValueType::kBytes:
      return 1;
    case ValueType::kBool:
      return 2;
    case ValueType::kList:
      return 3;
    case ValueType::kMap:
      return 4;
    case ValueType::kNull:
      return 5;
  }
  return 5;
}

int CompareScalars(const Value& a, const Value& b) {
  if (const int ranks = Sign(Rank(a), Rank(b)); ranks != 0) return ranks;
  if (a.type() == ValueType::kInt && b.type() == ValueType::kInt) return Sign(a.AsInt(), b.AsInt());
  if (a.is_number()) return Sign(a.AsDouble(), b.AsDouble());
  if (a.type() == ValueType::kBool) return Sign(a.AsBool(), b.AsBool());
  return Sign(a.AsString().compare(b.AsString()), 0);
}

// Gives raw JSON as the Value it holds, and bytes as their text in JSON; keeps what it makes.
class Plain {
 public:
  Value Of(const Value& value) {
    if (value.type() == ValueType::kBytes) {
      std::string text;
      text::AppendBase64(value.AsString(), text);
      return Value::String(arena().Copy(text));
    }
    if (value.type() != ValueType::kRaw) return value;
    const auto parsed = codec::ParseJson(value.AsString(), arena());
    return parsed.ok() ? *parsed : Value::String(value.AsString());
  }

 private:
  Arena& arena() {
    if (!arena_) arena_.emplace();
    return *arena_;
  }

  std::optional<Arena> arena_;
};

bool SameBytes(const Value& a, const Value& b) {
  return a.type() == b.type() && Rank(a) == 1 && a.AsString() == b.AsString();
}

std::vector<Member> Sorted(const Value& map) {
  std::vector<Member> members(map.members().begin(), map.members().end());
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.key < b.key; });
  return members;
}

// Two containers that are being compared: two lists, or two maps, sorted.
struct Frame {
  std::span<const Value> list_a;
  std::span<const Value> list_b;
  std::vector<Member> map_a;
  std::vector<Member> map_b;
  bool map = false;
  std::size_t at = 0;
};

Frame FrameOf(const Value& a, const Value& b) {
  Frame frame;
  frame.map = a.is_map();
  if (frame.map) {
    frame.map_a = Sorted(a);
    frame.map_b = Sorted(b);
  } else {
    frame.list_a = a.items();
    frame.list_b = b.items();
  }
  return frame;
}

// Returns the next pair to compare. nullopt: `order` is the result, or zero if there are no more
// pairs.
std::optional<std::pair<Value, Value>> Next(Frame& frame, int& order) {
  const std::size_t size_a = frame.map ? frame.map_a.size() : frame.list_a.size();
  const std::size_t size_b = frame.map ? frame.map_b.size() : frame.list_b.size();
  const std::size_t at = frame.at++;
  order = 0;
  if (at >= size_a || at >= size_b) {
    order = Sign(size_a, size_b);
    return std::nullopt;
  }
  if (!frame.map) return std::pair(frame.list_a[at], frame.list_b[at]);
  const Member& a = frame.map_a[at];
  const Member& b = frame.map_b[at];
  // The side with the smaller key has one that the other lacks; upstream's zip of both says -1
  // then.
  order = Sign(a.key, b.key);
  if (order != 0) return std::nullopt;
  return std::pair(a.value, b.value);
}

}  // namespace

int CompareValues(const Value& a, const Value& b) {
  // Almost every key is a string.
  if (a.is_string() && b.is_string()) return a.AsString().compare(b.AsString());
  if (a.is_number() && b.is_number()) return CompareScalars(a, b);
  if (SameBytes(a, b)) return 0;
  Plain plain;
  std::vector<Frame> frames;
  std::pair<Value, Value> pair(a, b);
  for (;;) {
    const Value first = plain.Of(pair.first);
    const Value second = plain.Of(pair.second);
    const int ranks = Sign(Rank(first), Rank(second));
    if (ranks != 0) return ranks;
    if (first.is_list() || first.is_map()) {
      frames.push_back(FrameOf(first, second));
    } else if (const int order = CompareScalars(first, second); order != 0) {
      return order;
    }
    std::optional<std::pair<Value, Value>> next;
    while (!frames.empty() && !next) {
      int order = 0;
      next = Next(frames.back(), order);
      if (order != 0) return order;
      if (!next) frames.pop_back();
    }
    if (!next) return 0;
    pair = *next;
  }
}

namespace {

using Pairs = std::vector<std::pair<Value, Value>>;

bool PairMembers(std::span<const Member> a, std::span<const Member> b, Pairs& pending) {
  std::size_t same = 0;
  while (same < a.size() && a[same].key == b[same].key) {
    pending.emplace_back(a[same].value, b[same].value);
    ++same;
  }
  if (same == a.size()) return true;
  const runtime::MemberIndex rest(b.subspan(same));
  for (const Member& member : a.subspan(same)) {
    const Value* const other = rest.Find(member.key);
    if (other == nullptr) return false;
    pending.emplace_back(member.value, *other);
  }
  return true;
}

bool PairParts(const Value& a, const Value& b, Pairs& pending) {
  if (a.size() != b.size()) return false;
  // The same items at the same address: one value was made from the other and shares them.
  if (a.is_map()) {
    if (a.members().data() == b.members().data()) return true;
    return PairMembers(a.members(), b.members(), pending);
  }
  if (a.items().data() == b.items().data()) return true;
  for (std::size_t i = 0; i < a.size(); ++i) pending.emplace_back(a.items()[i], b.items()[i]);
  return true;
}

}  // namespace

bool ValuesEqual(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) return a.AsString() == b.AsString();
  if (a.is_number() && b.is_number()) return CompareScalars(a, b) == 0;
  if (SameBytes(a, b)) return true;
  Plain plain;
  Pairs pending;
  std::pair<Value, Value> pair(a, b);
  for (;;) {
    if (!SameBytes(pair.first, pair.second)) {
      const Value first = plain.Of(pair.first);
      const Value second = plain.Of(pair.second);
      if (Rank(first) != Rank(second)) return false;
      if (first.is_list() || first.is_map()) {
        if (!PairParts(first, second, pending)) return false;
      } else if (CompareScalars(first, second) != 0) {
        return false;
      }
    }
    if (pending.empty()) return true;
    pair = pending.back();
    pending.pop_back();
  }
}

namespace {

// A path names a value once; a key that a client means is not nested more deeply than this.
constexpr int kPrintedDepthMax = 16;

void AppendPathValueAt(const Value& value, int depth, std::string& out) {
  if (depth > kPrintedDepthMax) {
    out += "...";
    return;
  }
  switch (value.type()) {
    case ValueType::kNull:
      out += "null";
      return;
    case ValueType::kBool:
      out += value.AsBool() ? "true" : "false";
      return;
    case ValueType::kInt:
      out += std::to_string(value.AsInt());
      return;
    case ValueType::kDouble:
      AppendGoFloat(value.AsDouble(), out);
      return;
    case ValueType::kList:
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i != 0) out += ',';
        AppendPathValueAt(value.items()[i], depth + 1, out);
      }
      out += ']';
      return;
    case ValueType::kMap:
      for (const Member& member : Sorted(value)) {
        out.append(member.key).push_back('=');
        AppendPathValueAt(member.value, depth + 1, out);
      }
      return;
    case ValueType::kString:
    case ValueType::kRaw:
    case ValueType::kBytes: {
      Plain plain;
      out += field::Quote(plain.Of(value).AsString());
    }
  }
}

}  // namespace

void AppendPathValue(const Value& value, std::string& out) { AppendPathValueAt(value, 0, out); }

}  // namespace apiserver::v0::patch::apply
