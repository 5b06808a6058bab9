#include "registry/json_path.h"

#include "apiserver/codec/json.h"
#include "apiserver/runtime/schema_path.h"

namespace apiserver::v0::registry {

using runtime::Schema;
using runtime::Value;

std::string JsonPath::TextOf(const Step& step) {
  switch (step.kind) {
    case Kind::kMember:
      return "." + step.text;
    case Kind::kSlice:
      if (step.single) return "[" + std::to_string(step.begin.value_or(0)) + "]";
      return "[*]";
    case Kind::kFilter:
      return "[?]";
    default:
      return ".*";
  }
}

// Follows the path as far as it leads to one schema.
Status JsonPath::Check(const Schema& schema) const {
  const Schema* at = &schema;
  std::string text;
  const auto go = [&](Result<const Schema*> below) {
    if (!below.ok()) {
      return Status(Reason::kInvalid, text + ": " + std::string(below.status().message()));
    }
    at = *below;
    return Status();
  };
  for (const Step& step : steps_) {
    const bool item = step.kind == Kind::kSlice || step.kind == Kind::kFilter;
    if (at == nullptr || (!item && step.kind != Kind::kMember)) return {};
    text += TextOf(step);
    Status gone = go(item ? ItemSchema(*at) : MemberSchema(*at, step.text));
    const Schema* const found = at;
    const Steps field = step.kind == Kind::kFilter ? step.parts.front() : Steps();
    for (std::size_t i = 0; gone.ok() && at != nullptr && i < field.size(); ++i) {
      if (field[i].kind != Kind::kMember) break;
      text += "." + field[i].text;
      gone = go(MemberSchema(*at, field[i].text));
    }
    if (!gone.ok()) return gone;
    at = found;
  }
  return {};
}

// Finds all values of a path. The steps inside of filters and unions have neither, so evaluating
// them is as deep as that.
class JsonPathFinder {
 public:
  using Values = std::vector<Value>;

  // Returns nullopt if client-go fails.
  std::optional<Values> Find(const JsonPath::Steps& steps, Values values) {
    for (const JsonPath::Step& step : steps) {
      Values found;
      if (!Go(step, values, found)) return std::nullopt;
      values = std::move(found);
    }
    return values;
  }

 private:
  using Kind = JsonPath::Kind;
  using Step = JsonPath::Step;
  static constexpr std::size_t kVisitedMax = 1'000'000;

  bool Visit() { return ++visited_ <= kVisitedMax; }

  bool Go(const Step& step, const Values& values, Values& found) {
    switch (step.kind) {
      case Kind::kUnion:
        return Union(step, values, found);
      case Kind::kSlice:
        return Slices(step, values, found);
      case Kind::kFailing:
        return false;
      default:
        break;
    }
    for (const Value& value : values) {
      if (!Visit()) return false;
      if (!GoFrom(step, value, found)) return false;
    }
    return true;
  }

  bool GoFrom(const Step& step, const Value& value, Values& found) {
    switch (step.kind) {
      case Kind::kMember:
        if (const Value* const member = value.Find(step.text)) found.push_back(*member);
        return true;
      case Kind::kAll:
        AddBelow(value, found);
        return true;
      case Kind::kBelow:
        return AddAllBelow(value, found);
      case Kind::kFilter:
        return Filter(step, value, found);
      default:
        found.push_back(step.constant.is_null() ? Value::String(step.text) : step.constant);
        return true;
    }
  }

  static void AddBelow(const Value& value, Values& found) {
    for (const Value& item : value.items()) found.push_back(item);
    for (const runtime::Member& member : value.members()) found.push_back(member.value);
  }

  bool AddAllBelow(const Value& root, Values& found) {
    Values open = {root};
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      if (!Visit()) return false;
      Values below;
      AddBelow(value, below);
      if (below.empty()) continue;
      found.push_back(value);
      open.insert(open.end(), below.rbegin(), below.rend());
    }
    return true;
  }

  bool Union(const Step& step, const Values& values, Values& found) {
    for (const JsonPath::Steps& part : step.parts) {
      const auto some = Find(part, values);
      if (!some) return false;
      found.insert(found.end(), some->begin(), some->end());
    }
    return true;
  }

  // Follows evalArray, which leaves later lists out behind an empty slice.
  bool Slices(const Step& step, const Values& values, Values& found) {
    for (const Value& value : values) {
      if (!Visit()) return false;
      if (value.is_null()) continue;
      if (!value.is_list()) return false;
      const auto size = static_cast<std::int64_t>(value.size());
      std::int64_t begin = step.begin.value_or(0);
      if (begin < 0) begin += size;
      // An index ends one behind where it begins, which for the last one is 0.
      std::int64_t end = step.single ? step.begin.value_or(0) + 1 : step.end.value_or(size);
      if (end < 0 || (end == 0 && step.single)) end += size;
      if (begin == end) return true;
      if (begin < 0 || begin >= size || end < 0 || end > size || begin > end) return false;
      const std::int64_t by = step.step.value_or(1);
      if (by <= 0) return false;
      for (std::int64_t i = begin; i < end; i += std::min(by, size)) {
        found.push_back(value.at(static_cast<std::size_t>(i)));
      }
    }
    return true;
  }

  bool Filter(const Step& step, const Value& value, Values& found) {
    if (!value.is_list()) return false;
    for (const Value& item : value.items()) {
      if (!Visit()) return false;
      const auto left = Find(step.parts[0], {item});
      if (step.text.empty()) {
        if (left && !left->empty()) found.push_back(item);
        continue;
      }
      if (!left || left->size() > 1) return false;
      if (left->empty()) continue;
      const auto right = Find(step.parts[1], {item});
      if (!right || right->size() > 1) return false;
      if (right->empty()) continue;
      const std::optional<bool> passes = Compare(left->front(), step.text, right->front());
      if (!passes) return false;
      if (*passes) found.push_back(item);
    }
    return true;
  }

  // Compares as text/template's functions do. nullopt: values of two types, or of one without
  // order.
  static std::optional<bool> Compare(const Value& left, std::string_view how, const Value& right) {
    if (left.type() != right.type()) return std::nullopt;
    switch (left.type()) {
      case Value::Type::kBool:
        if (how == "==") return left.AsBool() == right.AsBool();
        if (how == "!=") return left.AsBool() != right.AsBool();
        return std::nullopt;
      case Value::Type::kInt:
        return Ordered(left.AsInt(), how, right.AsInt());
      case Value::Type::kDouble:
        return Ordered(left.AsDouble(), how, right.AsDouble());
      case Value::Type::kString:
        return Ordered(left.AsString(), how, right.AsString());
      default:
        return std::nullopt;
    }
  }

  template <class T>
  static std::optional<bool> Ordered(const T& left, std::string_view how, const T& right) {
    if (how == "==") return left == right;
    if (how == "!=") return left != right;
    if (how == "<") return left < right;
    if (how == "<=") return left <= right;
    if (how == ">") return left > right;
    if (how == ">=") return left >= right;
    return std::nullopt;
  }

  std::size_t visited_ = 0;
};

// Most paths are members alone.
Value JsonPath::First(Value root) const {
  std::size_t at = 0;
  for (; at < steps_.size() && steps_[at].kind == Kind::kMember; ++at) {
    root = root[steps_[at].text];
  }
  if (at == steps_.size()) return root;
  const Steps rest(steps_.begin() + static_cast<std::ptrdiff_t>(at), steps_.end());
  const auto found = JsonPathFinder().Find(rest, {root});
  return found && !found->empty() ? found->front() : Value();
}

// Formats texts without quotes and everything else as JSON; null is empty.
std::string TextOf(Value value) {
  if (value.is_null()) return {};
  if (value.is_string() || value.type() == Value::Type::kRaw) {
    return std::string(value.AsString());
  }
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

}  // namespace apiserver::v0::registry
