#include "apiserver/runtime/value.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "runtime/arena_span.h"
#include "runtime/deep_copy.h"
#include "runtime/member_index.h"
#include "text/same.h"

namespace apiserver::v0::runtime {

namespace {

std::uint32_t Size32(std::size_t size) {
  assert(size <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(size);
}

template <class T>
std::span<T> NewArray(std::size_t size, Arena& arena) {
  return {static_cast<T*>(arena.Allocate(size * sizeof(T), alignof(T))), size};
}

// Whether two values that are no containers, or empty ones, are the same.
bool ScalarsEqual(const Value& a, const Value& b) {
  switch (a.type()) {
    case Value::Type::kNull:
    case Value::Type::kList:
    case Value::Type::kMap:
      return true;
    case Value::Type::kBool:
      return a.AsBool() == b.AsBool();
    case Value::Type::kInt:
      return a.AsInt() == b.AsInt();
    case Value::Type::kDouble:
      return a.AsDouble() == b.AsDouble();
    case Value::Type::kString:
    case Value::Type::kRaw:
    case Value::Type::kBytes:
      return a.AsString() == b.AsString();
  }
  return false;
}

using Pairs = std::vector<std::pair<Value, Value>>;

// Puts the members that must be equal on `pending`; false when the keys differ.
bool PairMembers(std::span<const Member> a, std::span<const Member> b, Pairs& pending) {
  std::size_t same = 0;
  while (same < a.size() && a[same].key == b[same].key) {
    pending.emplace_back(a[same].value, b[same].value);
    ++same;
  }
  if (same == a.size()) return true;
  const MemberIndex rest(b.subspan(same));
  for (const Member& member : a.subspan(same)) {
    const Value* const other = rest.Find(member.key);
    if (other == nullptr) return false;
    pending.emplace_back(member.value, *other);
  }
  return true;
}

}  // namespace

Value Value::Bool(bool value) {
  Value result;
  result.type_ = Type::kBool;
  result.bool_ = value;
  return result;
}

Value Value::Int(std::int64_t value) {
  Value result;
  result.type_ = Type::kInt;
  result.int_ = value;
  return result;
}

Value Value::Double(double value) {
  Value result;
  result.type_ = Type::kDouble;
  result.double_ = value;
  return result;
}

Value Value::String(std::string_view text) {
  Value result;
  result.type_ = Type::kString;
  result.size_ = Size32(text.size());
  result.text_ = text.data();
  return result;
}

Value Value::Raw(std::string_view json) {
  Value result = String(json);
  result.type_ = Type::kRaw;
  return result;
}

Value Value::Bytes(std::string_view bytes) {
  Value result = String(bytes);
  result.type_ = Type::kBytes;
  return result;
}

Value Value::List(std::span<const Value> items) {
  Value result;
  result.type_ = Type::kList;
  result.size_ = Size32(items.size());
  result.items_ = items.data();
  return result;
}

Value Value::Map(std::span<const Member> members) {
  Value result;
  result.type_ = Type::kMap;
  result.size_ = Size32(members.size());
  result.members_ = members.data();
  return result;
}

bool Value::AsBool(bool fallback) const { return type_ == Type::kBool ? bool_ : fallback; }

std::int64_t Value::AsInt(std::int64_t fallback) const {
  if (type_ == Type::kInt) return int_;
  if (type_ != Type::kDouble) return fallback;
  constexpr double kLimit = 9223372036854775808.0;  // 2^63.
  if (!(double_ >= -kLimit && double_ < kLimit) || std::trunc(double_) != double_) return fallback;
  return static_cast<std::int64_t>(double_);
}

double Value::AsDouble(double fallback) const {
  if (type_ == Type::kDouble) return double_;
  return type_ == Type::kInt ? static_cast<double>(int_) : fallback;
}

std::string_view Value::AsString() const {
  const bool text = type_ == Type::kString || type_ == Type::kRaw || type_ == Type::kBytes;
  return text ? std::string_view(text_, size_) : std::string_view();
}

std::span<const Value> Value::items() const {
  return type_ == Type::kList ? std::span<const Value>(items_, size_) : std::span<const Value>();
}

std::span<const Member> Value::members() const {
  return type_ == Type::kMap ? std::span<const Member>(members_, size_) : std::span<const Member>();
}

Value Value::operator[](std::string_view key) const {
  const Value* const found = Find(key);
  return found != nullptr ? *found : Value();
}

Value Value::at(std::size_t index) const {
  return type_ == Type::kList && index < size_ ? items_[index] : Value();
}

// Maps of objects are small, and searched in order; MemberIndex is for large ones.
const Value* Value::Find(std::string_view key) const {
  for (const Member& member : members()) {
    if (text::SameName(member.key, key)) return &member.value;
  }
  return nullptr;
}

bool operator==(const Value& a, const Value& b) {
  Pairs pending = {{a, b}};
  while (!pending.empty()) {
    const auto [left, right] = pending.back();
    pending.pop_back();
    if (left.type_ != right.type_ || left.size_ != right.size_) return false;
    if (left.is_list()) {
      if (left.items_ == right.items_) continue;
      for (std::size_t i = left.size_; i-- > 0;) {
        pending.emplace_back(left.items_[i], right.items_[i]);
      }
    } else if (left.is_map()) {
      if (left.members_ == right.members_) continue;
      if (!PairMembers(left.members(), right.members(), pending)) return false;
    } else if (!ScalarsEqual(left, right)) {
      return false;
    }
  }
  return true;
}

Value Copy(Value value, Arena& arena) {
  const auto copy_text = [&arena](std::string_view text) { return arena.Copy(text); };
  return DeepCopier(arena, copy_text).Copy(value);
}

// Copies one level: the other members share their values with `map`.
Value With(Value map, std::string_view key, Value value, Arena& arena) {
  const std::span<const Member> from = map.members();
  std::size_t at = 0;
  while (at < from.size() && from[at].key != key) ++at;
  const bool replaces = at < from.size();
  const std::span<Member> to = NewArray<Member>(from.size() + (replaces ? 0 : 1), arena);
  std::uninitialized_copy(from.begin(), from.end(), to.begin());
  if (replaces) {
    to[at].value = value;
  } else {
    std::construct_at(&to[at], Member{arena.Copy(key), value});
  }
  return Value::Map(to);
}

Value Without(Value map, std::string_view key, Arena& arena) {
  const std::span<const Member> from = map.members();
  std::size_t at = 0;
  while (at < from.size() && from[at].key != key) ++at;
  if (at == from.size()) return map.is_map() ? map : Value::Map({});
  if (from.size() == 1) return Value::Map({});
  const std::span<Member> to = NewArray<Member>(from.size() - 1, arena);
  auto next = std::uninitialized_copy_n(from.begin(), at, to.begin());
  std::uninitialized_copy(from.begin() + static_cast<std::ptrdiff_t>(at) + 1, from.end(), next);
  return Value::Map(to);
}

Value MapBuilder::Build() {
  return Value::Map(CopySpan(arena_, std::span<const Member>(members_)));
}

Value ListBuilder::Build() { return Value::List(CopySpan(arena_, std::span<const Value>(items_))); }

}  // namespace apiserver::v0::runtime
