#include "cel/tagged.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "cel/run/map.h"
#include "cel/run/time_text.h"
#include "cel/types/spell.h"
#include "text/base64.h"

namespace cel_test {
namespace {

namespace cel = apiserver::cel;
namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
namespace text = apiserver::text;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using cel::Arena;
using cel::Value;
using Kind = Value::Kind;

std::string Quoted(std::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

std::string Tagged(std::string_view tag, std::string_view content) {
  return "{" + Quoted(tag) + ":" + std::string(content) + "}";
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return "[" + text + "]";
}

std::string CanonicalList(const Value& list, Arena& arena) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    items.push_back(Canonical(list.Item(i, arena), arena));
  }
  return Tagged("list", Joined(items));
}

std::string CanonicalMap(const Value& map, Arena& arena) {
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::optional<Value> key = cel::MapKeyAt(map, i, arena);
    if (!key) continue;
    // Members that are null in data with properties are absent. A built map may have keys that no
    // key is equal to: lists.
    const std::optional<Value> value =
        map.is_data() ? cel::FindInMap(map, *key, arena) : cel::MapValueAt(map, i, arena);
    if (!value) continue;
    pairs.push_back(Joined({Canonical(*key, arena), Canonical(*value, arena)}));
  }
  std::sort(pairs.begin(), pairs.end());
  return Tagged("map", Joined(pairs));
}

// Writes data as JSON with sorted members.
std::string SortedJson(const runtime::Value& data) {
  std::vector<std::string> parts;
  if (data.is_list()) {
    for (const runtime::Value& item : data.items()) parts.push_back(SortedJson(item));
    return Joined(parts);
  }
  if (!data.is_map()) {
    std::string text;
    codec::AppendJson(data, text);
    return text;
  }
  for (const runtime::Member& member : data.members()) {
    parts.push_back(Quoted(member.key) + ":" + SortedJson(member.value));
  }
  std::sort(parts.begin(), parts.end());
  return Joined(parts);
}

// Writes a value of CEL likewise, without telling its type.
std::string SortedJson(const Value& value, Arena& arena) {
  std::vector<std::string> parts;
  switch (value.kind()) {
    case Kind::kList:
      for (std::size_t i = 0; i < value.size(); ++i) {
        parts.push_back(SortedJson(value.Item(i, arena), arena));
      }
      return Joined(parts);
    case Kind::kStruct:
    case Kind::kMap: {
      const std::span<const cel::MapEntry> entries = value.built_map().all();
      for (const cel::MapEntry& entry : entries) {
        parts.push_back(Quoted(entry.key.AsText()) + ":" + SortedJson(entry.value, arena));
      }
      std::sort(parts.begin(), parts.end());
      return Joined(parts);
    }
    case Kind::kInt:
      return std::to_string(value.AsInt());
    case Kind::kBool:
      return value.AsBool() ? "true" : "false";
    case Kind::kString:
      return Quoted(value.AsText());
    default:
      return Canonical(value, arena);
  }
}

std::string Number(double number) { return Quoted(cel::FormatDouble(number)); }

}  // namespace

std::string Canonical(const Value& value, Arena& arena) {
  switch (value.kind()) {
    case Kind::kNull:
      return Tagged("null", "null");
    case Kind::kBool:
      return Tagged("bool", value.AsBool() ? "true" : "false");
    case Kind::kInt:
      return Tagged("int", Quoted(std::to_string(value.AsInt())));
    case Kind::kUint:
      return Tagged("uint", Quoted(std::to_string(value.AsUint())));
    case Kind::kDouble:
      return Tagged("double", Number(value.AsDouble()));
    case Kind::kString:
      return Tagged("string", Quoted(value.AsText()));
    case Kind::kBytes: {
      std::string base64;
      text::AppendBase64(value.AsText(), base64);
      return Tagged("bytes", Quoted(base64));
    }
    case Kind::kTimestamp: {
      cel::Time time = value.AsTime();
      time.offset_seconds = 0;
      return Tagged("timestamp", Quoted(cel::FormatRfc3339(time)));
    }
    case Kind::kDuration:
      return Tagged("duration", Quoted(std::to_string(value.AsInt())));
    case Kind::kList:
      return CanonicalList(value, arena);
    case Kind::kMap:
      return CanonicalMap(value, arena);
    case Kind::kStruct:
      return Tagged("object",
                    Quoted(cel::Type(value.struct_type()).name()) + "," + SortedJson(value, arena));
    case Kind::kType:
      return Tagged("type", Quoted(cel::Type(value.AsType()).name()));
    case Kind::kOptional:
      return Tagged("optional",
                    value.AsOptional() == nullptr ? "null" : Canonical(*value.AsOptional(), arena));
    case Kind::kOpaque:
      return Tagged("opaque", Quoted(cel::Type(*value.opaque_kind().type).name()));
    case Kind::kError:
      return Tagged("error", Quoted(value.AsText()));
    case Kind::kUnknown:
      break;
  }
  return Tagged("unknown", "null");
}

std::string Canonical(const runtime::Value& tagged) {
  if (tagged.members().empty()) return "none";
  const auto& [tag, content] = tagged.members()[0];
  if (tag == "double")
    return Tagged(tag, Number(std::strtod(std::string(content.AsString()).c_str(), nullptr)));
  if (tag == "opaque") return Tagged(tag, Quoted(content.at(0).AsString()));
  if (tag == "object") {
    return Tagged(tag, Quoted(content.at(0).AsString()) + "," + SortedJson(content.at(1)));
  }
  if (tag == "optional" && !content.is_null()) return Tagged(tag, Canonical(content));
  if (tag != "list" && tag != "map") {
    std::string text;
    if (content.is_string()) return Tagged(tag, Quoted(content.AsString()));
    codec::AppendJson(content, text);
    return Tagged(tag, text);
  }
  std::vector<std::string> parts;
  for (const runtime::Value& item : content.items()) {
    parts.push_back(tag == "list" ? Canonical(item)
                                  : Joined({Canonical(item.at(0)), Canonical(item.at(1))}));
  }
  if (tag == "map") std::sort(parts.begin(), parts.end());
  return Tagged(tag, Joined(parts));
}

namespace {

Status Malformed(std::string_view tag) {
  return Status(Reason::kBadRequest, "bad tagged value: " + std::string(tag));
}

template <class Number>
Result<Number> ParseNumber(std::string_view text) {
  Number number = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return Malformed(text);
  return number;
}

// The value of a tag with a text.
Result<Value> Scalar(std::string_view tag, std::string_view text, Arena& arena) {
  if (tag == "string") return Value::String(text);
  if (tag == "error") return Value::Error(text);
  if (tag == "double") return Value::Double(std::strtod(std::string(text).c_str(), nullptr));
  if (tag == "bytes") {
    const std::optional<std::string> bytes = text::DecodeBase64(text);
    if (!bytes) return Malformed(text);
    return Value::Bytes(arena.Copy(*bytes));
  }
  if (tag == "timestamp") {
    std::string error;
    const std::optional<cel::Time> time = cel::ParseRfc3339(text, error);
    if (!time) return Malformed(error);
    return Value::Timestamp(*time);
  }
  if (tag == "uint") {
    ASSIGN_OR_RETURN(const std::uint64_t number, ParseNumber<std::uint64_t>(text));
    return Value::Uint(number);
  }
  if (tag != "int" && tag != "duration") return Malformed(tag);
  ASSIGN_OR_RETURN(const std::int64_t number, ParseNumber<std::int64_t>(text));
  return tag == "int" ? Value::Int(number) : Value::Duration(number);
}

Result<Value> Container(std::string_view tag, std::span<const runtime::Value> parts, Arena& arena) {
  if (tag == "list") {
    const std::span<Value> items = arena.New<Value>(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ASSIGN_OR_RETURN(items[i], FromTagged(parts[i], arena));
    }
    return Value::List(items);
  }
  auto& content = arena.Make(cel::MapContent());
  for (const runtime::Value& pair : parts) {
    ASSIGN_OR_RETURN(const Value key, FromTagged(pair.at(0), arena));
    ASSIGN_OR_RETURN(const Value value, FromTagged(pair.at(1), arena));
    cel::MapPut(content, key, value, arena);
  }
  return Value::Map(content);
}

}  // namespace

Result<Value> FromTagged(const runtime::Value& tagged, Arena& arena) {
  if (tagged.members().size() != 1) return Malformed("no single member");
  const auto& [tag, content] = tagged.members()[0];
  if (tag == "null") return Value();
  if (tag == "bool") return Value::Bool(content.AsBool());
  if (tag == "optional") {
    if (content.is_null()) return Value::None();
    ASSIGN_OR_RETURN(const Value value, FromTagged(content, arena));
    return Value::Optional(value, arena);
  }
  if (content.is_list()) return Container(tag, content.items(), arena);
  return Scalar(tag, content.AsString(), arena);
}

}  // namespace cel_test
