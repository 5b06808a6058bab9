#include "patch/go_print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"

#include "runtime/scalar.h"
#include "text/base64.h"

namespace apiserver::v0::patch {

using runtime::Member;
using runtime::Value;

namespace {

// These stand for fmt's %v, %s and %#v.
enum class Verb { kValue, kText, kSyntax };

class Printer {
 public:
  Printer(Verb verb, std::size_t bytes_max) : verb_(verb), bytes_max_(bytes_max) {}

  // Not recursive: a value may be nested thousands of levels deep.
  std::string Run(const Value& root) {
    Print(root);
    while (!open_.empty()) {
      Container& container = open_.back();
      if (container.next == container.size()) {
        out_ += verb_ == Verb::kSyntax ? "}" : "]";
        open_.pop_back();
      } else if (out_.size() > bytes_max_) {
        return std::move(out_) + "...";
      } else {
        PrintNext(container);
      }
    }
    return std::move(out_);
  }

 private:
  // The rest of an open map or list that is still to be printed.
  struct Container {
    std::vector<const Member*> members;  // By key.
    std::span<const Value> items;
    std::size_t next = 0;

    std::size_t size() const { return members.size() + items.size(); }
  };

  void PrintNext(Container& container) {
    const std::size_t i = container.next++;
    if (i != 0) out_ += verb_ == Verb::kSyntax ? ", " : " ";
    if (!container.items.empty()) return Print(container.items[i]);
    const Member& member = *container.members[i];
    PrintString(member.key);
    out_ += ':';
    Print(member.value);
  }

  void Print(const Value& value) {
    switch (value.type()) {
      case Value::Type::kMap:
      case Value::Type::kList:
        return Open(value);
      case Value::Type::kNull:
        return PrintNull();
      case Value::Type::kBool:
        return PrintScalar("bool", value.AsBool() ? "true" : "false");
      case Value::Type::kInt:
        return PrintScalar("int64", std::to_string(value.AsInt()));
      case Value::Type::kDouble: {
        std::string shown;
        AppendGoFloat(value.AsDouble(), shown);
        return PrintScalar("float64", shown);
      }
      case Value::Type::kBytes: {
        std::string text;
        text::AppendBase64(value.AsString(), text);
        return PrintString(text);
      }
      case Value::Type::kString:
      case Value::Type::kRaw:
        return PrintString(value.AsString());
    }
  }

  void Open(const Value& value) {
    if (verb_ == Verb::kSyntax) {
      out_.append(runtime::GoTypeOf(value)).append("{");
    } else {
      out_ += value.is_map() ? "map[" : "[";
    }
    Container& container = open_.emplace_back();
    container.items = value.items();
    container.members.reserve(value.members().size());
    for (const Member& member : value.members()) container.members.push_back(&member);
    // fmt prints maps in the order of their keys.
    std::sort(container.members.begin(), container.members.end(),
              [](const Member* a, const Member* b) { return a->key < b->key; });
  }

  void PrintNull() {
    if (verb_ == Verb::kSyntax) {
      out_ += "interface {}(nil)";
    } else {
      out_ += verb_ == Verb::kText && open_.empty() ? "%!s(<nil>)" : "<nil>";
    }
  }

  void PrintScalar(std::string_view type, std::string_view shown) {
    if (verb_ != Verb::kText) {
      out_ += shown;
    } else {
      out_.append("%!s(").append(type).append("=").append(shown).append(")");
    }
  }

  void PrintString(std::string_view text) {
    const std::string_view shown = text.substr(0, bytes_max_);
    if (verb_ == Verb::kSyntax) {
      out_ += field::Quote(shown);
    } else {
      out_ += shown;
    }
  }

  const Verb verb_;
  const std::size_t bytes_max_;
  std::vector<Container> open_;
  std::string out_;
};

}  // namespace

std::string PrintGo(const Value& value, std::size_t bytes_max) {
  return Printer(Verb::kValue, bytes_max).Run(value);
}

std::string PrintGoText(const Value& value) {
  return Printer(Verb::kText, std::string::npos).Run(value);
}

std::string PrintGoSyntax(const Value& value, std::size_t bytes_max) {
  return Printer(Verb::kSyntax, bytes_max).Run(value);
}

void AppendGoFloat(double number, std::string& out) {
  if (!std::isfinite(number)) {
    out += std::isnan(number) ? "NaN" : number < 0 ? "-Inf" : "+Inf";
    return;
  }
  // As Go's %g of the fewest digits: an exponent below 1e-4 and from 1e6 on.
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general);
  out.append(text.data(), end.ptr);
}

}  // namespace apiserver::v0::patch
