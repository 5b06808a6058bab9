#include "meta/json_text.h"

#include <array>
#include <charconv>

#include "text/json_string.h"

namespace apiserver::v0::meta {
namespace {

using runtime::Value;

// Deeper content is left out, so that the recursion stays shallow.
constexpr int kLevelsMax = 8;

void AppendDouble(double number, std::string& out) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  if (error == std::errc()) out.append(buffer.data(), end);
}

void Append(Value value, int levels, std::string& out) {
  switch (value.type()) {
    case Value::Type::kNull:
      out += "null";
      return;
    case Value::Type::kBool:
      out += value.AsBool() ? "true" : "false";
      return;
    case Value::Type::kInt:
      out += std::to_string(value.AsInt());
      return;
    case Value::Type::kDouble:
      AppendDouble(value.AsDouble(), out);
      return;
    case Value::Type::kString:
      text::AppendJsonString(value.AsString(), out);
      return;
    case Value::Type::kRaw:
      out += value.AsString();
      return;
    case Value::Type::kBytes:
      out += "\"\"";
      return;
    case Value::Type::kList:
    case Value::Type::kMap:
      break;
  }
  const bool map = value.is_map();
  out += map ? '{' : '[';
  if (levels > 0) {
    bool first = true;
    for (const runtime::Member& member : value.members()) {
      if (!first) out += ',';
      first = false;
      text::AppendJsonString(member.key, out);
      out += ':';
      Append(member.value, levels - 1, out);
    }
    for (const Value item : value.items()) {
      if (!first) out += ',';
      first = false;
      Append(item, levels - 1, out);
    }
  }
  out += map ? '}' : ']';
}

}  // namespace

std::string JsonText(Value value) {
  std::string out;
  Append(value, kLevelsMax, out);
  return out;
}

}  // namespace apiserver::v0::meta
