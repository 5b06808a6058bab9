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

class LabelSelector {
 public:
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
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // Sorted, distinct.
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  LabelSelector() = default;  // Matches everything.
  // kBadRequest: Go's words, "unable to parse requirement: …".
  static Result<LabelSelector> Parse(std::string_view text);

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // `labels` is metadata.labels: a map of strings, or null.
  bool Matches(runtime::Value labels) const;
  // The value that label `key` must have, if the selector says so: its first requirement of `key`
  // is `key=value` or `key in (value)`.
  std::optional<std::string> RequiresExact(std::string_view key) const;
  // In the form that Parse reads; `==` is written `=`.
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;  // Sorted by key.
};

class FieldSelector {
 public:
  struct Requirement {
    std::string field;
    bool equals = true;
    std::string value;
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  FieldSelector() = default;  // Matches everything.
  // kBadRequest: "invalid selector: …; can't understand …".
  static Result<FieldSelector> Parse(std::string_view text);
  static FieldSelector Equals(std::string field, std::string value);
  // Gives a requirement other words, as Scheme's field label conversion does. A requirement whose
  // field and value both become empty is dropped.
  using Rewrite = std::function<Status(std::string& field, std::string& value)>;
  // The first error of `rewrite`, or the selector with every requirement rewritten.
  Result<FieldSelector> Transform(const Rewrite& rewrite) const;

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // `read` gives the value of a field; an unknown one reads as empty.
  bool Matches(const std::function<std::string_view(std::string_view field)>& read) const;
  // The value that `field` must equal, if the selector says so.
  std::optional<std::string> RequiresExact(std::string_view field) const;
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace apiserver::inline v0::meta
