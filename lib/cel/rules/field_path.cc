#include <optional>
#include <string>

#include "apiserver/cel/rules.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::v0::cel {
namespace {

using runtime::Schema;
using runtime::SchemaType;

Status BadPath(std::string text) { return {Reason::kInvalid, std::move(text)}; }

constexpr std::string_view kNoField = "does not refer to a valid field";

// Takes the next token off a path: a delimiter, a text in single quotes, or what stands before the
// next delimiter. nullopt: the path has ended.
std::optional<std::string_view> NextToken(std::string_view& path) {
  if (path.empty()) return std::nullopt;
  std::size_t size = path.size();
  if (path.front() == '\'') {
    for (std::size_t i = 1; i < path.size() && size == path.size(); ++i) {
      if (path[i] == '\'' && path[i - 1] != '\\') size = i + 1;
    }
  } else {
    const std::size_t delimiter = path.find_first_of(".[]");
    if (delimiter == 0) size = 1;
    if (delimiter != 0 && delimiter != std::string_view::npos) size = delimiter;
  }
  const std::string_view token = path.substr(0, size);
  path.remove_prefix(size);
  return token;
}

// Returns the character that a backslash and `c` stand for. nullopt: they stand for none.
std::optional<char> Escaped(char c) {
  constexpr std::string_view kNames = "abfnrtv'\\";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v'\\";
  const std::size_t at = kNames.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return kMeant[at];
}

// Resolves the escapes in a quoted text, of several bad ones the last is told.
Result<std::string> Unquote(std::string_view quoted) {
  std::string text;
  std::string bad;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    // Go's pattern is `\\.`, in which the dot is no line break.
    if (quoted[i] != '\\' || i + 1 == quoted.size() || quoted[i + 1] == '\n') {
      text += quoted[i];
      continue;
    }
    ++i;
    const std::optional<char> meant = Escaped(quoted[i]);
    if (meant.has_value()) {
      text += *meant;
      continue;
    }
    // The whole character.
    std::size_t end = i + 1;
    while (end < quoted.size() && (static_cast<unsigned char>(quoted[end]) & 0xC0U) == 0x80U) ++end;
    bad = std::string(quoted.substr(i - 1, end - i + 1));
    i = end - 1;
  }
  if (!bad.empty()) return BadPath("invalid string literal: invalid escape char " + bad);
  return text;
}

// A place in a schema that is reached step by step.
class FieldPlace {
 public:
  explicit FieldPlace(const Schema& schema) : schema_(&schema) {}

  // Goes on to a field, or to the value of a map's key.
  Status Step(std::string_view name) {
    if (schema_ == nullptr) return BadPath(std::string(kNoField));
    if (schema_->type == SchemaType::kMap) {
      path_ = path_.Key(name);
      schema_ = schema_->items().get();
      return {};
    }
    const runtime::Field* const field =
        schema_->type == SchemaType::kStruct ? schema_->FindField(name) : nullptr;
    if (field == nullptr) return BadPath(std::string(kNoField));
    path_ = path_.Child(name);
    schema_ = field->schema.get();
    return {};
  }
  const field::Path& path() const { return path_; }

 private:
  const Schema* schema_;
  field::Path path_;
};

// Reads what stands between brackets, and the closing one.
Status StepInBrackets(std::string_view& rest, FieldPlace& place) {
  const std::optional<std::string_view> key = NextToken(rest);
  if (!key) return BadPath("unexpected end of JSON path");
  if (key->size() < 2 || key->front() != '\'' || key->back() != '\'') {
    return BadPath("expected single quoted string but got " + std::string(*key));
  }
  const Result<std::string> name = Unquote(key->substr(1, key->size() - 2));
  if (!name.ok()) return name.status();
  if (Status status = place.Step(*name); !status.ok()) return status;
  const std::optional<std::string_view> end = NextToken(rest);
  if (!end) return BadPath("unexpected end of JSON path");
  if (*end != "]") return BadPath("expected ] but got " + std::string(*end));
  return {};
}

}  // namespace

// Follows ValidFieldPath, whose scanner knows nothing of the grammar around a token.
Result<field::Path> ParseFieldPath(std::string_view path, const Schema& schema, bool brackets) {
  FieldPlace place(schema);
  while (const std::optional<std::string_view> token = NextToken(path)) {
    if (*token == "[") {
      if (!brackets) return BadPath("array notation is not allowed");
      if (Status status = StepInBrackets(path, place); !status.ok()) return status;
    } else if (*token == ".") {
      const std::optional<std::string_view> name = NextToken(path);
      if (!name) return BadPath("unexpected end of JSON path");
      if (Status status = place.Step(*name); !status.ok()) return status;
    } else {
      return BadPath("expected [ or . but got: " + std::string(*token));
    }
  }
  return place.path();
}

}  // namespace apiserver::v0::cel
