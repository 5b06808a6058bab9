#include "cel/run/equality.h"

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "cel/run/list_keys.h"
#include "cel/run/lossless.h"
#include "cel/run/map.h"
#include "cel/run/order.h"
#include "cel/run/views.h"

namespace apiserver::inline v0::cel {
namespace {

using Kind = Value::Kind;
using ListType = runtime::Schema::ListType;

bool SameNumber(const Value& a, const Value& b) {
  if (a.kind() == b.kind()) {
    return a.Is(Kind::kDouble) ? a.AsDouble() == b.AsDouble() : a.AsUint() == b.AsUint();
  }
  if (!b.is_number()) return false;
  if (a.Is(Kind::kDouble)) {
    if (std::isnan(a.AsDouble())) return false;
    return b.Is(Kind::kInt) ? CompareNumbers(a.AsDouble(), b.AsInt()) == 0
                            : CompareNumbers(a.AsDouble(), b.AsUint()) == 0;
  }
  if (b.Is(Kind::kDouble)) return SameNumber(b, a);
  return a.Is(Kind::kInt) ? CompareNumbers(a.AsInt(), b.AsUint()) == 0
                          : CompareNumbers(b.AsInt(), a.AsUint()) == 0;
}

bool HasParts(const Value& value) {
  return value.is_list() || value.is_map() || value.Is(Kind::kStruct) || value.Is(Kind::kOptional);
}

enum class Answer : std::uint8_t { kFalse, kTrue, kError };

// A comparison takes a step of work for each part, and for so many bytes of text.
constexpr std::uint64_t kBytesPerStep = 256;

// The result of a comparison that takes too long. The machine sees that no work is left.
Value Stopped() { return Value::Error("operation cancelled: actual cost limit exceeded"); }

// Compares data as JSON, in which 1 and 1.0 differ, step by step.
bool SameJson(const runtime::Value& a, const runtime::Value& b, Arena& arena) {
  std::vector<std::pair<runtime::Value, runtime::Value>> open = {{a, b}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    const bool container = left.is_list() || left.is_map();
    if (!arena.TakeWork(1 + (container ? 0 : left.size() / kBytesPerStep))) return false;
    if (!container) {
      if (!(left == right)) return false;
      continue;
    }
    if (left.type() != right.type() || left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.items().size(); ++i) {
      open.emplace_back(left.items()[i], right.items()[i]);
    }
    for (const runtime::Member& member : left.members()) {
      const runtime::Value* const other = arena.FindMember(right.members(), member.key);
      if (other == nullptr) return false;
      open.emplace_back(member.value, *other);
    }
  }
  return true;
}

// Two containers that are compared part by part.
struct Pair {
  Value a;
  Value b;
  std::uint32_t next = 0;
  // The error of a part counts as equality: cel-go's lists and maps; those of Kubernetes, which
  // have a schema, hand it on.
  bool lenient = false;
  std::shared_ptr<ListKeys> keys = nullptr;  // Of `a` if it is a map-list.
};

// Compares two values without parts.
bool SameSimple(const Value& a, const Value& b, Arena& arena) {
  if (!a.IsOpaque(kUnknownPreserved)) return SameScalar(a, b);
  return b.IsOpaque(kUnknownPreserved) &&
         SameJson(a.AsOpaque<runtime::Value>(), b.AsOpaque<runtime::Value>(), arena);
}

// Walks two values with a stack of its own.
class Comparison {
 public:
  explicit Comparison(Arena& arena) : arena_(arena) {}

  Value Run(const Value& a, const Value& b) {
    Answer answer = Begin(a, b);
    while (depth_ > 0) {
      if (!arena_.TakeWork()) return Stopped();
      Pair& top = Top();
      if (answer == Answer::kError && top.lenient) answer = Answer::kTrue;
      if (answer == Answer::kTrue && Step(top, answer)) continue;
      Pop();
    }
    return answer == Answer::kError ? error_ : Value::Bool(answer == Answer::kTrue);
  }

 private:
  static constexpr std::size_t kFlat = 4;

  Pair& Top() { return depth_ <= kFlat ? flat_[depth_ - 1] : deep_.back(); }
  void Push(Pair pair) {
    if (depth_ < kFlat) {
      flat_[depth_] = std::move(pair);
    } else {
      deep_.push_back(std::move(pair));
    }
    ++depth_;
  }
  void Pop() {
    if (depth_ > kFlat) deep_.pop_back();
    --depth_;
  }

  Answer Fail(const Value& error) {
    error_ = error;
    return Answer::kError;
  }

  // Compares two values as far as that needs no parts; else pushes them and returns kTrue so far.
  Answer Begin(const Value& a, const Value& b) {
    if (a.is_error()) return Fail(a);
    if (a.is_null() || b.is_null()) {
      if (a.is_null() && b.is_null()) return Answer::kTrue;
      return HasSchema(a) ? Mismatch(b) : Answer::kFalse;
    }
    if (!HasParts(a)) {
      arena_.TakeWork(a.is_string() || a.Is(Kind::kBytes) ? a.size() / kBytesPerStep : 0);
      return SameSimple(a, b, arena_) ? Answer::kTrue : Answer::kFalse;
    }
    if (a.kind() != b.kind()) return HasSchema(a) ? Mismatch(b) : Answer::kFalse;
    return BeginContainers(a, b);
  }

  static bool HasSchema(const Value& value) {
    return (value.is_list() || value.is_map()) && value.schema() != nullptr;
  }

  Answer Mismatch(const Value& b) {
    return Fail(b.is_error() ? b : Value::Error("no such overload"));
  }

  Answer BeginContainers(const Value& a, const Value& b) {
    if (a.Is(Kind::kOptional)) {
      if (a.AsOptional() == nullptr || b.AsOptional() == nullptr) {
        return a.AsOptional() == b.AsOptional() ? Answer::kTrue : Answer::kFalse;
      }
      Push({a, b});
      return Answer::kTrue;
    }
    if (a.Is(Kind::kStruct) && !(Type(a.struct_type()) == Type(b.struct_type()))) {
      return Answer::kFalse;
    }
    if (a.size() != b.size()) return Answer::kFalse;
    if (a.is_list() && ListTypeOf(a) == ListType::kSet) return CompareSets(a, b);
    Pair pair{.a = a, .b = b, .lenient = !HasSchema(a)};
    if (a.is_list() && ListTypeOf(a) == ListType::kMap) {
      pair.keys = std::make_shared<ListKeys>(*a.schema(), arena_);
      for (std::uint32_t i = 0; i < a.size(); ++i) pair.keys->Add(a.Item(i, arena_), i);
    }
    Push(std::move(pair));
    return Answer::kTrue;
  }

  // Elements of sets are scalars.
  Answer CompareSets(const Value& a, const Value& b) {
    ListKeys keys(*a.schema(), arena_);
    for (std::uint32_t i = 0; i < a.size(); ++i) keys.Add(a.Item(i, arena_), i);
    for (std::uint32_t i = 0; i < b.size(); ++i) {
      if (!keys.Find(b.Item(i, arena_)).has_value()) return Answer::kFalse;
    }
    return Answer::kTrue;
  }

  // Begins the comparison of the next part. False: there is none, the containers are equal.
  bool Step(Pair& pair, Answer& answer) {
    if (pair.a.Is(Kind::kOptional)) {
      if (pair.next++ > 0) return false;
      // A copy, since Begin() may move the pair.
      const Value a = *pair.a.AsOptional();
      const Value b = *pair.b.AsOptional();
      answer = Begin(a, b);
      return true;
    }
    if (pair.next == pair.a.size()) return false;
    const std::uint32_t index = pair.next++;
    answer = pair.a.is_list() ? StepList(pair, index) : StepMap(pair, index);
    return true;
  }

  Answer StepList(Pair& pair, std::uint32_t index) {
    const Value b = pair.b.Item(index, arena_);
    std::uint32_t at = index;
    if (pair.keys != nullptr) {
      const std::optional<std::uint32_t> found = pair.keys->Find(b);
      if (!found.has_value()) return Answer::kFalse;
      at = *found;
    }
    const Value a = pair.a.Item(at, arena_);
    return Begin(a, b);
  }

  Answer StepMap(Pair& pair, std::uint32_t index) {
    if (!pair.a.is_data()) {
      const MapEntry entry = pair.a.built_map().entries[index];
      const std::optional<Value> b = Find(pair.b, entry.key);
      return b.has_value() ? Begin(entry.value, *b) : Answer::kFalse;
    }
    const runtime::Member& member = pair.a.data_members()[index];
    const runtime::Schema* const schema = pair.a.schema();
    if (schema != nullptr && SchemaOfMember(*schema, member.key) == nullptr) {
      return SameUndeclared(member, pair.b);
    }
    const std::optional<Value> a = FindProperty(pair.a, member.key, arena_);
    const std::optional<Value> b = pair.b.is_data()
                                       ? FindProperty(pair.b, member.key, arena_)
                                       : FindInMap(pair.b, Value::String(member.key), arena_);
    if (!a.has_value() || !b.has_value()) {
      return a.has_value() == b.has_value() ? Answer::kTrue : Answer::kFalse;
    }
    return Begin(*a, *b);
  }

  std::optional<Value> Find(const Value& map, const Value& key) {
    if (!map.Is(Kind::kStruct)) return FindInMap(map, key, arena_);
    const Value* const found = FindExactly(map.built_map(), key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  // Members that the schema does not declare are compared as JSON.
  Answer SameUndeclared(const runtime::Member& member, const Value& b) {
    if (!b.is_data()) return Mismatch(b);
    const runtime::Value* const other = arena_.FindMember(b.data_members(), member.key);
    return other != nullptr && SameJson(member.value, *other, arena_) ? Answer::kTrue
                                                                      : Answer::kFalse;
  }

  Arena& arena_;
  Value error_;
  std::size_t depth_ = 0;
  std::array<Pair, kFlat> flat_;
  std::vector<Pair> deep_;
};

// The elements of both lists in one.
Value ConcatenatedLists(const Value& a, const Value& b, Arena& arena) {
  const std::span<Value> items = arena.New<Value>(std::size_t{a.size()} + b.size());
  for (std::uint32_t i = 0; i < a.size(); ++i) items[i] = a.Item(i, arena);
  for (std::uint32_t i = 0; i < b.size(); ++i) items[a.size() + i] = b.Item(i, arena);
  return Value::List(items, a.schema());
}

// Elements of `a` in place, replaced by those of `b` with the same keys if `replace`; then the
// others of `b`.
Value Merged(const Value& a, const Value& b, bool replace, Arena& arena) {
  ListKeys keys(*a.schema(), arena);
  const std::span<Value> items = arena.New<Value>(std::size_t{a.size()} + b.size());
  std::uint32_t count = 0;
  for (; count < a.size(); ++count) {
    items[count] = a.Item(count, arena);
    keys.Add(items[count], count);
  }
  for (std::uint32_t i = 0; i < b.size(); ++i) {
    const Value item = b.Item(i, arena);
    const std::uint32_t at = keys.Add(item, count);
    if (at == count) {
      items[count++] = item;
    } else if (replace) {
      items[at] = item;
    }
  }
  return Value::List(items.first(count), a.schema());
}

}  // namespace

bool SameScalar(const Value& a, const Value& b) {
  if (a.is_number()) return SameNumber(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.AsBool() == b.AsBool();
    case Kind::kDuration:
      return a.AsInt() == b.AsInt();
    case Kind::kString:
    case Kind::kBytes:
      return a.AsText() == b.AsText();
    case Kind::kTimestamp: {
      const Time left = a.AsTime();
      const Time right = b.AsTime();
      return left.seconds == right.seconds && left.nanoseconds == right.nanoseconds;
    }
    case Kind::kType:
      return Type(a.AsType()).name() == Type(b.AsType()).name();
    case Kind::kOpaque:
      return &a.opaque_kind() == &b.opaque_kind() &&
             a.opaque_kind().equal(&a.AsOpaque<char>(), &b.AsOpaque<char>());
    default:
      return false;
  }
}

Value Equal(const Value& a, const Value& b, Arena& arena) {
  if (!HasParts(a) && !a.is_error()) return Value::Bool(SameSimple(a, b, arena));
  return Comparison(arena).Run(a, b);
}

Value ListContains(const Value& list, const Value& value, Arena& arena) {
  const bool strict = list.schema() != nullptr;
  Value error;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, arena);
    // Kubernetes' lists compare the element with the value, cel-go's the value with the element.
    const Value same = strict ? Equal(item, value, arena) : Equal(value, item, arena);
    if (same.is_bool() && same.AsBool()) return same;
    if (strict && same.is_error() && !error.is_error()) error = same;
  }
  return error.is_error() ? error : Value::Bool(false);
}

Value AddLists(const Value& a, const Value& b, Arena& arena) {
  if (a.schema() == nullptr) {
    if (a.size() == 0) return b;
    if (b.size() == 0) return a;
    return ConcatenatedLists(a, b, arena);
  }
  switch (ListTypeOf(a)) {
    case ListType::kSet:
      return Merged(a, b, false, arena);
    case ListType::kMap:
      return Merged(a, b, true, arena);
    default:
      return ConcatenatedLists(a, b, arena);
  }
}

}  // namespace apiserver::inline v0::cel
