#include "registry/json_path.h"

#include <charconv>
#include <optional>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/schema_path.h"

namespace apiserver::v0::registry {

// Reads a path from left to right.
// Knows the part of Kubernetes' JSONPath that columns use: members, indexes, stars and comparing
// filters.
class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_(text) {}

  Result<JsonPath> Parse() {
    // Columns have the path without braces; kubectl writes them.
    if (text_.size() >= 2 && text_.front() == '{' && text_.back() == '}') {
      text_ = text_.substr(1, text_.size() - 2);
    }
    if (!text_.empty() && text_.front() == '$') text_.remove_prefix(1);
    JsonPath path;
    while (!text_.empty()) {
      const bool bracket = text_.front() == '[';
      auto step = bracket ? Bracket() : Dot();
      if (!step) return Status(Reason::kInvalid, "not a JSONPath of the kind columns have");
      // "." alone is the root.
      if (!bracket && step->text.empty()) continue;
      path.steps_.push_back(std::move(*step));
    }
    return path;
  }

 private:
  using Step = JsonPath::Step;

  bool Take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  // A key that ends before '.', '[' or one of `also`; a backslash takes their meaning away.
  std::string Key(std::string_view also = "") {
    std::string key;
    while (!text_.empty() && text_.front() != '.' && text_.front() != '[' &&
           also.find(text_.front()) == std::string_view::npos) {
      if (text_.front() == '\\' && text_.size() > 1) text_.remove_prefix(1);
      key.push_back(text_.front());
      text_.remove_prefix(1);
    }
    return key;
  }

  std::optional<Step> Dot() {
    if (!Take(".")) return std::nullopt;
    if (Take("*")) return Step{Step::Kind::kAll};
    return Step{Step::Kind::kMember, Key()};
  }

  std::optional<std::string> Quoted() {
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string quoted(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return quoted;
  }

  std::optional<Step> Bracket() {
    Take("[");
    std::optional<Step> step;
    if (Take("*")) {
      step = Step{Step::Kind::kAll};
    } else if (Take("?(@")) {
      step = Filter();
    } else if (auto key = Quoted()) {
      step = Step{Step::Kind::kMember, std::move(*key)};
    } else {
      step = Index();
    }
    if (!step || !Take("]")) return std::nullopt;
    return step;
  }

  // Negative indexes count from the end, as in client-go's jsonpath.
  std::optional<Step> Index() {
    Step step{Step::Kind::kIndex};
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), step.index);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return step;
  }

  std::optional<Step> Filter() {
    Step step{Step::Kind::kFilter};
    while (Take(".")) step.field.push_back(Key("=! "));
    Blanks();
    step.equal = Take("==");
    if (!step.equal && !Take("!=")) return std::nullopt;
    Blanks();
    if (auto quoted = Quoted()) {
      step.text = std::move(*quoted);
    } else {
      const std::size_t end = text_.find_first_of(") ");
      if (end == std::string_view::npos) return std::nullopt;
      step.text = text_.substr(0, end);
      text_.remove_prefix(end);
    }
    Blanks();
    if (!Take(")")) return std::nullopt;
    return step;
  }

  void Blanks() {
    while (Take(" ")) {
    }
  }

  std::string_view text_;
};

Result<JsonPath> JsonPath::Parse(std::string_view text) { return JsonPathParser(text).Parse(); }

std::string JsonPath::TextOf(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kMember:
      return "." + step.text;
    case Step::Kind::kIndex:
      return "[" + std::to_string(step.index) + "]";
    case Step::Kind::kAll:
    case Step::Kind::kFilter:
      break;
  }
  return step.kind == Step::Kind::kAll ? "[*]" : "[?]";
}

Status JsonPath::Check(const runtime::Schema& schema) const {
  const runtime::Schema* at = &schema;
  std::string text;
  const auto go = [&](Result<const runtime::Schema*> below) {
    if (!below.ok()) {
      return Status(Reason::kInvalid, text + ": " + std::string(below.status().message()));
    }
    at = *below;
    return Status();
  };
  for (const Step& step : steps_) {
    if (at == nullptr) return {};
    text += TextOf(step);
    const bool member = step.kind == Step::Kind::kMember;
    Status gone = go(member ? MemberSchema(*at, step.text) : ItemSchema(*at));
    const runtime::Schema* const item = at;
    for (std::size_t i = 0; gone.ok() && at != nullptr && i < step.field.size(); ++i) {
      text += "." + step.field[i];
      gone = go(MemberSchema(*at, step.field[i]));
    }
    if (!gone.ok()) return gone;
    at = item;
  }
  return {};
}

bool JsonPath::Passes(runtime::Value item, const Step& filter) {
  for (const std::string& key : filter.field) {
    const runtime::Value* member = item.Find(key);
    if (member == nullptr) return false;
    item = *member;
  }
  return (registry::TextOf(item) == filter.text) == filter.equal;
}

runtime::Value JsonPath::FirstFrom(runtime::Value value, std::size_t at) const {
  for (; at < steps_.size(); ++at) {
    const Step& step = steps_[at];
    switch (step.kind) {
      case Step::Kind::kMember:
        value = value[step.text];
        continue;
      case Step::Kind::kIndex: {
        const long size = static_cast<long>(value.items().size());
        const long index = step.index < 0 ? size + step.index : step.index;
        value = index >= 0 && index < size ? value.items()[static_cast<std::size_t>(index)]
                                           : runtime::Value();
        continue;
      }
      case Step::Kind::kAll:
      case Step::Kind::kFilter:
        break;
    }
    // The first item below which the rest of the path finds something. Paths are written by the
    // author of the kind and are short: this is as deep as they are long.
    for (const runtime::Value& item : value.items()) {
      if (step.kind == Step::Kind::kFilter && !Passes(item, step)) continue;
      const runtime::Value found = FirstFrom(item, at + 1);
      if (!found.is_null()) return found;
    }
    return {};
  }
  return value;
}

// Formats texts without quotes and everything else as JSON; null is empty.
std::string TextOf(runtime::Value value) {
  if (value.is_null()) return {};
  if (value.is_string() || value.type() == runtime::Value::Type::kRaw) {
    return std::string(value.AsString());
  }
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

}  // namespace apiserver::v0::registry
