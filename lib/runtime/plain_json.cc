#include "runtime/plain_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "apiserver/base/field_path.h"
#include "runtime/scalar.h"

namespace apiserver::v0::runtime {

namespace {

struct Open {
  Value container;
  std::size_t next = 0;
};

// Returns a float64 as encoding/json writes it: with an exponent below 0.000001, too.
std::string JsonNumber(double number) {
  constexpr double kPlainMin = 1e-6;
  if (number == 0 || std::fabs(number) >= kPlainMin) return DoubleText(number);
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                 std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  const std::size_t exponent = text.find("e-0");
  if (exponent != std::string::npos) text.erase(exponent + 2, 1);
  return text;
}

void AppendScalar(const Value& value, std::string& out) {
  switch (value.type()) {
    case Value::Type::kBool:
      out += value.AsBool() ? "true" : "false";
      return;
    case Value::Type::kInt:
      out += std::to_string(value.AsInt());
      return;
    case Value::Type::kDouble:
      out += JsonNumber(value.AsDouble());
      return;
    case Value::Type::kRaw:
      out += value.AsString();
      return;
    case Value::Type::kString:
    case Value::Type::kBytes:
      out += field::Quote(value.AsString());
      return;
    default:
      out += "null";
  }
}

}  // namespace

std::string PlainJson(const Value& value) {
  std::string out;
  std::vector<Open> open;
  const auto append = [&](const Value& v) {
    if (!v.is_map() && !v.is_list()) return AppendScalar(v, out);
    out += v.is_map() ? '{' : '[';
    open.push_back({v});
  };
  append(value);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.container.size()) {
      out += top.container.is_map() ? '}' : ']';
      open.pop_back();
      continue;
    }
    const std::size_t at = top.next++;
    if (at > 0) out += ',';
    if (top.container.is_list()) {
      append(top.container.items()[at]);
      continue;
    }
    const Member& member = top.container.members()[at];
    out += field::Quote(member.key) + ":";
    append(member.value);
  }
  return out;
}

}  // namespace apiserver::v0::runtime
