#include "cel/run/print.h"

#include <chrono>
#include <string_view>
#include <vector>

#include "cel/run/map.h"
#include "cel/run/time_text.h"
#include "text/duration.h"

namespace apiserver::v0::cel {
namespace {

using Kind = Value::Kind;

constexpr std::size_t kPrintedMax = 512;

std::string PrintScalar(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "0";  // The number of its enumeration.
    case Kind::kBool:
      return value.AsBool() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.AsInt());
    case Kind::kUint:
      return std::to_string(value.AsUint());
    case Kind::kDouble:
      return FormatDouble(value.AsDouble());
    case Kind::kTimestamp:
      return FormatRfc3339(value.AsTime());
    case Kind::kDuration:
      return FormatSeconds(value.AsInt());
    case Kind::kType:
      return std::string(Type(value.AsType()).name());
    case Kind::kOpaque:
      return std::string(Type(*value.opaque_kind().type).name());
    default:
      return std::string(value.AsText());
  }
}

bool IsContainer(const Value& value) {
  return value.is_list() || value.is_map() || value.Is(Kind::kStruct) ||
         (value.Is(Kind::kOptional));
}

// Something to print: a value, or text between values.
struct Piece {
  Value value;
  std::string_view text;
};

// Pushes the parts of a container in reverse.
void PushParts(const Value& value, std::vector<Piece>& pending, Arena& arena) {
  if (value.Is(Kind::kOptional)) {
    if (value.AsOptional() == nullptr) {
      pending.push_back({{}, "optional.none()"});
      return;
    }
    pending.push_back({{}, ")"});
    pending.push_back({*value.AsOptional(), {}});
    pending.push_back({{}, "optional("});
    return;
  }
  pending.push_back({{}, value.is_list() ? "]" : "}"});
  // No more than can be printed.
  const std::size_t count = std::min<std::size_t>(value.size(), kPrintedMax);
  for (std::size_t i = count; i-- > 0;) {
    if (value.is_list()) {
      pending.push_back({value.Item(i, arena), {}});
    } else if (const std::optional<Value> key = MapKeyAt(value, i, arena)) {
      pending.push_back({MapValueAt(value, i, arena), {}});
      pending.push_back({{}, ": "});
      pending.push_back({*key, {}});
    }
    if (i > 0) pending.push_back({{}, ", "});
  }
  pending.push_back({{}, value.is_list() ? "[" : "{"});
}

}  // namespace

std::string PrintValue(const Value& value, Arena& arena) {
  if (!IsContainer(value)) return PrintScalar(value);
  std::string printed;
  std::vector<Piece> pending = {{value, {}}};
  while (!pending.empty() && printed.size() < kPrintedMax) {
    const Piece piece = pending.back();
    pending.pop_back();
    if (!piece.text.empty()) {
      printed += piece.text;
    } else if (IsContainer(piece.value)) {
      PushParts(piece.value, pending, arena);
    } else {
      printed += PrintScalar(piece.value);
    }
  }
  return printed;
}

std::string PrintGoValue(const Value& value, Arena& arena) {
  if (value.Is(Kind::kDuration)) {
    return text::FormatDuration(std::chrono::nanoseconds(value.AsInt()));
  }
  if (value.Is(Kind::kOpaque) && value.opaque_kind().print != nullptr) {
    return value.opaque_kind().print(&value.AsOpaque<char>());
  }
  if (!value.Is(Kind::kTimestamp)) return PrintValue(value, arena);
  // The date, the time with its fraction, and the zone, which stands for its own name.
  std::string printed = FormatRfc3339(value.AsTime());
  constexpr std::size_t kDate = 10;
  printed[kDate] = ' ';
  if (printed.ends_with('Z')) return printed.substr(0, printed.size() - 1) + " +0000 UTC";
  std::string zone = printed.substr(printed.size() - std::string_view("+05:30").size());
  printed.resize(printed.size() - zone.size());
  zone.erase(zone.find(':'), 1);
  return printed + " " + zone + " " + zone;
}

std::string PrintTypeOf(const Value& value) {
  if (value.is_list()) return "list(dyn)";
  if (value.is_map()) return "map(dyn, dyn)";
  return std::string(Type(value.RuntimeType()).name());
}

namespace {

// Views through a schema have Go types of their own.
std::string_view GoTypeOfList(const Value& list) {
  const runtime::Schema* const schema = list.is_data() ? list.schema() : nullptr;
  if (schema == nullptr) return "*types.baseList";
  switch (schema->list_type) {
    case runtime::Schema::ListType::kSet:
      return "*common.unstructuredSetList";
    case runtime::Schema::ListType::kMap:
      return "*common.unstructuredMapList";
    default:
      return "*common.unstructuredList";
  }
}

std::string_view GoTypeOfMap(const Value& map) {
  const bool view = map.is_data() && map.schema() != nullptr;
  return view ? "*common.unstructuredMap" : "*types.baseMap";
}

}  // namespace

std::string_view GoTypeOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "types.Null";
    case Kind::kBool:
      return "types.Bool";
    case Kind::kInt:
      return "types.Int";
    case Kind::kUint:
      return "types.Uint";
    case Kind::kDouble:
      return "types.Double";
    case Kind::kString:
      return "types.String";
    case Kind::kBytes:
      return "types.Bytes";
    case Kind::kTimestamp:
      return "types.Timestamp";
    case Kind::kDuration:
      return "types.Duration";
    case Kind::kList:
      return GoTypeOfList(value);
    case Kind::kMap:
      return GoTypeOfMap(value);
    case Kind::kType:
      return "*types.Type";
    case Kind::kOptional:
      return "*types.Optional";
    case Kind::kStruct:
      return value.struct_type().open ? "*dynamic.ObjectVal" : "*mutation.JSONPatchVal";
    case Kind::kOpaque:
      return value.opaque_kind().go_type;
    default:
      return "ref.Val";
  }
}

std::string_view GoTypeOfData(const Value& value) {
  if (value.is_null()) return "<nil>";
  const bool plain = value.is_data() && value.schema() == nullptr;
  if (plain && value.is_list()) return "[]interface {}";
  if (plain && value.is_map()) return "map[string]interface {}";
  return GoTypeOf(value);
}

std::string_view GoNativeTypeOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "structpb.NullValue";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kUint:
      return "uint64";
    case Kind::kDouble:
      return "float64";
    case Kind::kBytes:
      return "[]uint8";
    case Kind::kTimestamp:
      return "time.Time";
    case Kind::kDuration:
      return "time.Duration";
    case Kind::kList:
      return value.is_data() ? "[]interface {}" : "[]ref.Val";
    case Kind::kMap:
    case Kind::kStruct:
      return value.is_data() || value.Is(Kind::kStruct) ? "map[string]interface {}"
                                                        : "map[ref.Val]ref.Val";
    default:
      return "string";
  }
}

Value NoSuchKey(const Value& key, Arena& arena) {
  return Value::Error(arena.Copy("no such key: " + PrintValue(key, arena)));
}

Value IndexOutOfBounds(const Value& index, Arena& arena) {
  return Value::Error(arena.Copy("index out of bounds: " + PrintValue(index, arena)));
}

}  // namespace apiserver::v0::cel
