#include "apiserver/cel/to_data.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "cel/run/map.h"
#include "cel/run/time_text.h"
#include "text/base64.h"
#include "text/quote.h"

namespace apiserver::v0::cel {

namespace {

// Literals are no deeper than the parser of expressions allows; data is copied without recursion.
constexpr int kDepthMax = 1'000;

Status NoJSON(const std::string& what) { return {Reason::kInvalid, what + " is no JSON"}; }

class Converter {
 public:
  Converter(Arena& scratch, runtime::Arena& arena) : scratch_(scratch), arena_(arena) {}

  // Recursive: the depth of literals is bounded by the parser, that of data is not walked here.
  Result<runtime::Value> Convert(const Value& value, int depth) {
    if (depth > kDepthMax) return NoJSON("a value that is nested too deeply");
    switch (value.kind()) {
      case Value::Kind::kNull:
        return runtime::Value();
      case Value::Kind::kBool:
        return runtime::Value::Bool(value.AsBool());
      case Value::Kind::kInt:
        return runtime::Value::Int(value.AsInt());
      case Value::Kind::kUint:
        return Natural(value.AsUint());
      case Value::Kind::kDouble:
        if (!std::isfinite(value.AsDouble())) return NoJSON("a number without a value");
        return runtime::Value::Double(value.AsDouble());
      case Value::Kind::kString:
        return Text(value.AsText());
      case Value::Kind::kBytes: {
        std::string text;
        text::AppendBase64(value.AsText(), text);
        return Text(text);
      }
      case Value::Kind::kTimestamp:
        return Text(FormatRfc3339(value.AsTime()));
      case Value::Kind::kDuration:
        return Text(FormatSeconds(value.AsInt()));
      case Value::Kind::kList:
        return ListOf(value, depth);
      case Value::Kind::kMap:
      case Value::Kind::kStruct:
        return MapOf(value, depth);
      case Value::Kind::kOptional:
        if (value.AsOptional() == nullptr) return runtime::Value();
        return Convert(*value.AsOptional(), depth + 1);
      default:
        break;
    }
    return NoJSON("a value of type " + Type(value.RuntimeType()).ToString());
  }

 private:
  runtime::Value Text(std::string_view text) { return runtime::Value::String(arena_.Copy(text)); }
  static runtime::Value Natural(std::uint64_t number) {
    // JSON's integers are signed here; larger ones become the nearest double.
    if (number > static_cast<std::uint64_t>(INT64_MAX)) {
      return runtime::Value::Double(static_cast<double>(number));
    }
    return runtime::Value::Int(static_cast<std::int64_t>(number));
  }

  // Parts that are data already are copied whole.
  Result<runtime::Value> ListOf(const Value& list, int depth) {
    runtime::ListBuilder items(arena_);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (list.is_data() && list.schema() == nullptr) {
        items.Add(runtime::Copy(list.data_items()[i], arena_));
        continue;
      }
      ASSIGN_OR_RETURN(const runtime::Value item, Convert(list.Item(i, scratch_), depth + 1));
      items.Add(item);
    }
    return items.Build();
  }

  Result<runtime::Value> MapOf(const Value& map, int depth) {
    runtime::MapBuilder members(arena_);
    if (map.is_data() && map.schema() == nullptr) {
      for (const runtime::Member& member : map.data_members()) {
        members.Add(arena_.Copy(member.key), runtime::Copy(member.value, arena_));
      }
      return members.Build();
    }
    for (std::uint32_t i = 0; i < map.size(); ++i) {
      const std::optional<Value> key = MapKeyAt(map, i, scratch_);
      // A member that the schema of the data does not declare.
      if (!key) continue;
      if (!key->is_string()) {
        return NoJSON("a map key of type " + Type(key->RuntimeType()).ToString());
      }
      const Value item = MapValueAt(map, i, scratch_);
      ASSIGN_OR_RETURN(const runtime::Value value, Convert(item, depth + 1));
      members.Add(arena_.Copy(key->AsText()), value);
    }
    return members.Build();
  }

  Arena& scratch_;
  runtime::Arena& arena_;
};

// Finds structs whose names are not their paths.
class NameChecker {
 public:
  explicit NameChecker(Arena& scratch) : scratch_(scratch) {}

  void Check(const Value& value, const std::string& path, int depth) {
    if (depth > kDepthMax || value.is_data()) return;  // Data has no structs.
    if (value.Is(Value::Kind::kStruct)) {
      CheckStruct(value, path, depth);
    } else if (value.is_list()) {
      // Lists and maps between structs have no names.
      for (const Value& item : value.built_items()) Check(item, path, depth + 1);
    } else if (value.is_map()) {
      for (std::uint32_t i = 0; i < value.size(); ++i) {
        Check(MapValueAt(value, i, scratch_), path, depth + 1);
      }
    }
  }
  const std::string& faults() const { return faults_; }

 private:
  // Names what is expected by the path, as errors of upstream do.
  void CheckStruct(const Value& value, const std::string& path, int depth) {
    if (value.struct_type().name != path) {
      faults_ += faults_.empty() ? "" : "\n";
      faults_ += "unexpected type name " + text::Quote(value.struct_type().name) + ", expected " +
                 text::Quote(path) + ", which matches field name path from root Object type";
    }
    for (std::uint32_t i = 0; i < value.size(); ++i) {
      const MapEntry& field = value.built_map().entries[i];
      Check(field.value, path + "." + std::string(field.key.AsText()), depth + 1);
    }
  }

  Arena& scratch_;
  std::string faults_;
};

}  // namespace

Result<runtime::Value> ToData(const Value& value, Arena& scratch, runtime::Arena& arena) {
  return Converter(scratch, arena).Convert(value, 0);
}

Value MapOf(std::span<const std::pair<std::string_view, Value>> entries, Arena& arena) {
  MapContent& content = arena.Make(MapContent());
  for (const auto& [key, value] : entries) MapPut(content, Value::String(key), value, arena);
  return Value::Map(content);
}

Status CheckTypeNames(const Value& object, Arena& scratch) {
  if (!object.Is(Value::Kind::kStruct)) return {};
  NameChecker checker(scratch);
  checker.Check(object, std::string(object.struct_type().name), 0);
  return checker.faults().empty() ? Status() : Status(Reason::kInvalid, checker.faults());
}

Status CheckTypeNamesOf(const Value& outer, std::string_view field, Arena& scratch) {
  for (std::uint32_t i = 0; outer.Is(Value::Kind::kStruct) && i < outer.size(); ++i) {
    const MapEntry& entry = outer.built_map().entries[i];
    if (entry.key.AsText() == field) return CheckTypeNames(entry.value, scratch);
  }
  return {};
}

}  // namespace apiserver::v0::cel
