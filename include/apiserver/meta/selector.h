#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// Label and field selectors: k8s.io/apimachinery/pkg/labels and pkg/fields. Immutable.
namespace apiserver::inline v0::meta {

// A label selector: requirements that must all match, in the grammar of labels.Parse.
class LabelSelector {
 public:
  // The operators of the grammar; kEquals is "=" and "==".
  enum class Operator : std::uint8_t {
    kEquals,
    kNotEquals,
    kIn,
    kNotIn,
    kExists,
    kDoesNotExist,
    kGreaterThan,
    kLessThan,
  };
  // One term of the selector.
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // Sorted, distinct.
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  LabelSelector() = default;  // Matches everything.
  // Parses a selector. kBadRequest: Go's words, "unable to parse requirement: …".
  static Result<LabelSelector> Parse(std::string_view text);

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // Reports whether all requirements match. `labels` is metadata.labels: a map of strings, or null.
  bool Matches(runtime::Value labels) const;
  // Returns the value that label `key` must have: that of its first requirement on `key`, if this
  // is `key=value` or `key in (value)`. nullopt: it requires no single value.
  std::optional<std::string> RequiresExact(std::string_view key) const;
  // Formats the selector for Parse(); `==` is written `=`.
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;  // Sorted by key.
};

// A field selector: requirements `field=value` or `field!=value` that must all match.
class FieldSelector {
 public:
  // One term of the selector; `equals` is false for "!=".
  struct Requirement {
    std::string field;
    bool equals = true;
    std::string value;
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  FieldSelector() = default;  // Matches everything.
  // Parses a selector. kBadRequest: "invalid selector: …; can't understand …".
  static Result<FieldSelector> Parse(std::string_view text);
  // The selector `field=value`.
  static FieldSelector Equals(std::string field, std::string value);
  // Changes the field or value of a requirement, as Scheme's field label conversion does. Called on
  // the thread of Transform(), once for each requirement; must not block. A requirement whose field
  // and value both become empty is dropped.
  using Rewrite = std::function<Status(std::string& field, std::string& value)>;
  // Returns the selector with every requirement rewritten, or the first error of `rewrite`.
  Result<FieldSelector> Transform(const Rewrite& rewrite) const;

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // Reports whether all requirements match. `read` returns the value of a field, "" for an unknown
  // one; it is called on this thread and must not block. The text must live until it returns the
  // next.
  bool Matches(const std::function<std::string_view(std::string_view field)>& read) const;
  // Returns the value that `field` must equal. nullopt: it requires no single value.
  std::optional<std::string> RequiresExact(std::string_view field) const;
  // Formats the selector for Parse(), with escapes.
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace apiserver::inline v0::meta
