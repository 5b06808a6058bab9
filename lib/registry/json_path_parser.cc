#include <algorithm>
#include <charconv>
#include <utility>

#include "registry/json_path.h"

namespace apiserver::v0::registry {

using runtime::Value;

// Reads a path from left to right, as client-go's parser.go.
class JsonPathParser {
 public:
  using Kind = JsonPath::Kind;
  using Step = JsonPath::Step;
  using Steps = JsonPath::Steps;

  // `inner`: the path is a side of a filter, which may be a constant, or a part of a union. Neither
  // holds a filter or a union.
  JsonPathParser(std::string_view text, bool inner) : text_(text), inner_(inner) {}

  // Returns nullopt if it is no path.
  std::optional<Steps> Parse() {
    while (!text_.empty()) {
      if (!Next()) return std::nullopt;
    }
    return std::move(steps_);
  }

 private:
  bool Take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  bool Next() {
    if (Take("[?(")) return !inner_ && Filter();
    if (Take("..")) return Below();
    if (Take(" ") || Take("@") || Take("$")) return true;
    if (Take("[")) return Array();
    if (Take(".")) return Member();
    return inner_ && Constant();
  }

  static bool Ends(char c) {
    return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos;
  }
  static bool IsWord(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  }

  // "." alone is a member without a name.
  bool Member() {
    Step step;
    bool escaped = false;
    while (!text_.empty() && (escaped || !Ends(text_.front()))) {
      escaped = !escaped && text_.front() == '\\';
      if (text_.front() != '\\') step.text += text_.front();
      text_.remove_prefix(1);
    }
    if (step.text == "*") step = {.kind = Kind::kAll};
    steps_.push_back(std::move(step));
    return true;
  }

  bool Below() {
    if (!steps_.empty() && steps_.back().kind == Kind::kBelow) return false;
    steps_.push_back({.kind = Kind::kBelow});
    return text_.empty() || !IsWord(text_.front()) || Member();
  }

  // "[…]": an index, a slice, a key in quotes, or several of them.
  bool Array() {
    const std::size_t end = text_.find(']');
    if (end == std::string_view::npos) return false;
    std::string_view inside = text_.substr(0, end);
    if (inside.find('\n') != std::string_view::npos) return false;
    text_.remove_prefix(end + 1);
    if (inside.find(',') == std::string_view::npos) return Element(inside, steps_);
    if (inner_) return false;
    Step either{.kind = Kind::kUnion};
    while (true) {
      const std::size_t comma = std::min(inside.find(','), inside.size());
      Steps part;
      if (!Element(Trimmed(inside.substr(0, comma)), part)) return false;
      either.parts.push_back(std::move(part));
      if (comma == inside.size()) break;
      inside.remove_prefix(comma + 1);
    }
    steps_.push_back(std::move(either));
    return true;
  }

  static std::string_view Trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
  }

  // A key in quotes is a path, so its dots need a backslash.
  static bool Element(std::string_view text, Steps& steps) {
    if (text == "*") text = ":";
    const bool quoted = text.size() >= 2 && text.front() == '\'' && text.back() == '\'';
    if (!quoted) return Slice(text, steps);
    const std::string path = "." + std::string(text.substr(1, text.size() - 2));
    auto inner = JsonPathParser(path, /*inner=*/true).Parse();
    if (!inner) return false;
    for (Step& step : *inner) steps.push_back(std::move(step));
    return true;
  }

  static bool Slice(std::string_view text, Steps& steps) {
    Step slice{.kind = Kind::kSlice};
    slice.single = text.find(':') == std::string_view::npos;
    for (auto* const number : {&slice.begin, &slice.end, &slice.step}) {
      const std::size_t colon = std::min(text.find(':'), text.size());
      if (colon > 0) {
        std::int64_t value = 0;
        const char* const end = text.data() + colon;
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        // Far outside of every list, so that adding to it does not overflow.
        constexpr std::int64_t kFar = std::int64_t{1} << 62;
        if (error != std::errc() || stop != end || value > kFar || value < -kFar) return false;
        *number = value;
      }
      text.remove_prefix(std::min(colon + 1, text.size()));
    }
    if (!text.empty()) return false;
    steps.push_back(std::move(slice));
    return true;
  }

  // Finds the end of a filter, which may hold one text in quotes.
  std::optional<std::string_view> FilterText() {
    char quote = 0;
    bool open = false;
    for (std::size_t i = 0; i < text_.size() && text_[i] != '\n'; ++i) {
      const char c = text_[i];
      if ((c == '"' || c == '\'') && quote == 0) {
        quote = c;
        open = true;
      } else if (quote != 0 && c == quote && text_[i - 1] != '\\') {
        open = false;
      } else if (c == ')' && !open) {
        const std::string_view inside = text_.substr(0, i);
        text_.remove_prefix(i + 1);
        if (!Take("]")) return std::nullopt;
        return inside;
      }
    }
    return std::nullopt;
  }

  bool Filter() {
    const auto text = FilterText();
    if (!text) return false;
    constexpr std::string_view kOperators = "!<>=";
    Step filter{.kind = Kind::kFilter};
    const std::size_t from = std::min(text->find_first_of(kOperators), text->size());
    const std::size_t to = std::min(text->find_first_not_of(kOperators, from), text->size());
    const bool compares = from > 0 && from < to && to < text->size();
    if (compares) filter.text = text->substr(from, to - from);
    for (const std::string_view side :
         {compares ? text->substr(0, from) : *text, compares ? text->substr(to) : ""}) {
      auto steps = JsonPathParser(side, /*inner=*/true).Parse();
      if (!steps) return false;
      filter.parts.push_back(std::move(*steps));
    }
    steps_.push_back(std::move(filter));
    return true;
  }

  // A side of a comparison: a text, a number, true or false. Go knows no other words, and finds out
  // when it evaluates them.
  bool Constant() {
    const char first = text_.front();
    if (first == '"' || first == '\'') return Quoted(first);
    Step constant{.kind = Kind::kConstant};
    if (first == '+' || first == '-' || (first >= '0' && first <= '9')) return Number();
    if (!IsWord(first)) return false;
    std::size_t size = 1;
    while (size < text_.size() && !Ends(text_[size])) ++size;
    const std::string_view word = text_.substr(0, size);
    text_.remove_prefix(size);
    if (word != "true" && word != "false") constant.kind = Kind::kFailing;
    constant.constant = Value::Bool(word == "true");
    steps_.push_back(std::move(constant));
    return true;
  }

  bool Quoted(char quote) {
    Step constant{.kind = Kind::kConstant};
    for (std::size_t i = 1; i < text_.size() && text_[i] != '\n'; ++i) {
      if (text_[i] == '\\' && i + 1 < text_.size()) {
        constant.text += text_[++i];
      } else if (text_[i] == quote) {
        text_.remove_prefix(i + 1);
        steps_.push_back(std::move(constant));
        return true;
      } else {
        constant.text += text_[i];
      }
    }
    return false;
  }

  bool Number() {
    std::size_t size = 1;
    while (size < text_.size() &&
           (text_[size] == '.' || (text_[size] >= '0' && text_[size] <= '9'))) {
      ++size;
    }
    std::string_view digits = text_.substr(0, size);
    text_.remove_prefix(size);
    if (digits.front() == '+') digits.remove_prefix(1);
    const char* const end = digits.data() + digits.size();
    std::int64_t whole = 0;
    double number = 0;
    Step constant{.kind = Kind::kConstant};
    if (const auto read = std::from_chars(digits.data(), end, whole);
        read.ec == std::errc() && read.ptr == end) {
      constant.constant = Value::Int(whole);
    } else if (const auto real = std::from_chars(digits.data(), end, number);
               real.ec == std::errc() && real.ptr == end) {
      constant.constant = Value::Double(number);
    } else {
      return false;
    }
    steps_.push_back(std::move(constant));
    return true;
  }

  std::string_view text_;
  const bool inner_;
  Steps steps_;
};

Result<JsonPath> JsonPath::Parse(std::string_view text) {
  // Columns have the path without braces; kubectl writes them.
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
  }
  auto steps = JsonPathParser(text, /*inner=*/false).Parse();
  if (!steps) return Status(Reason::kInvalid, "not a JSONPath of the kind columns have");
  JsonPath path;
  path.steps_ = std::move(*steps);
  return path;
}

}  // namespace apiserver::v0::registry
