#include "patch/go_print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "codec/base64.h"

namespace apiserver::inline v0::patch {

using runtime::Member;
using runtime::Value;

namespace {

// %v of a float64: shortest digits, with an exponent below 1e-4 and from 1e21 on.
std::string PrintDouble(double number) {
  std::array<char, 400> text;
  const auto scientific =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  const std::string_view shown(text.data(), scientific.ptr);
  const std::size_t e = shown.find('e');
  if (e == std::string_view::npos) return std::string(shown);
  int exponent = 0;
  const char* const digits = shown.data() + e + (shown[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits, shown.data() + shown.size(), exponent);
  if (exponent < -4 || exponent >= 21) return std::string(shown);
  const auto fixed =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return {text.data(), fixed.ptr};
}

class Printer {
 public:
  explicit Printer(bool as_text) : as_text_(as_text) {}

  std::string Run(const Value& value) {
    steps_.push_back({{}, value});
    while (!steps_.empty()) {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      out_ += step.text;
      if (!step.only_text) Print(step.value);
    }
    return std::move(out_);
  }

 private:
  // Text, and a value after it.
  struct Step {
    std::string text;
    Value value;
    bool only_text = false;
  };

  void Print(const Value& value) {
    switch (value.type()) {
      case Value::Type::kMap:
        return PrintMap(value);
      case Value::Type::kList:
        return PrintList(value);
      case Value::Type::kNull:
        out_ += as_text_ && out_.empty() ? "%!s(<nil>)" : "<nil>";
        return;
      case Value::Type::kBool:
        return PrintScalar("bool", value.AsBool() ? "true" : "false");
      case Value::Type::kInt:
        return PrintScalar("int64", std::to_string(value.AsInt()));
      case Value::Type::kDouble:
        return PrintScalar("float64", PrintDouble(value.AsDouble()));
      case Value::Type::kBytes:
        return codec::AppendBase64(value.AsString(), out_);
      default:
        out_ += value.AsString();
    }
  }

  void PrintScalar(std::string_view type, const std::string& shown) {
    out_ += as_text_ ? "%!s(" + std::string(type) + "=" + shown + ")" : shown;
  }

  // Members sorted by key.
  void PrintMap(const Value& map) {
    std::vector<Member> members(map.members().begin(), map.members().end());
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.key > b.key; });
    steps_.push_back({"]", {}, true});
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool first = i + 1 == members.size();
      steps_.push_back({(first ? "" : " ") + std::string(members[i].key) + ":", members[i].value});
    }
    out_ += "map[";
  }

  void PrintList(const Value& list) {
    steps_.push_back({"]", {}, true});
    for (std::size_t i = list.size(); i > 0; --i) {
      steps_.push_back({i == 1 ? "" : " ", list.at(i - 1)});
    }
    out_ += "[";
  }

  const bool as_text_;
  std::vector<Step> steps_;
  std::string out_;
};

}  // namespace

std::string PrintGo(const Value& value) { return Printer(false).Run(value); }

std::string PrintGoText(const Value& value) { return Printer(true).Run(value); }

std::string_view GoTypeOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::kNull:
      return "%!s(<nil>)";
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
      return "int64";
    case Value::Type::kDouble:
      return "float64";
    case Value::Type::kList:
      return "[]interface {}";
    case Value::Type::kMap:
      return "map[string]interface {}";
    default:
      return "string";
  }
}

}  // namespace apiserver::inline v0::patch
