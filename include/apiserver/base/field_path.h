#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"

// Where in an object something is wrong, and what: k8s.io/apimachinery/pkg/util/validation/field.
namespace apiserver::inline v0::field {

// What a stranger's object makes wrong is told as long as it helps a reader: an object of three
// megabytes can have millions of errors, or one value of three megabytes. Shorter texts are Go's.
inline constexpr std::size_t kErrorsMax = 500;                        // Of one list.
inline constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10;  // Text of one list.
inline constexpr std::size_t kTextBytesMax = std::size_t{8} << 10;  // One value, path or sentence.
inline constexpr std::size_t kMoreCountedMax = 10'000;  // Errors beyond, until nobody counts.

// `text`, or as much of its front as fits in `bytes_max`, then "...".
std::string Shorten(std::string_view text, std::size_t bytes_max = kTextBytesMax);

// "spec.ports[2].name", "metadata.labels[app]". Immutable; each step returns a longer path, up to
// kTextBytesMax. An empty one is the object itself, which errors call "<nil>", as Go does.
class Path {
 public:
  Path() = default;
  explicit Path(std::string text) : text_(std::move(text)) {}

  Path Child(std::string_view name) const;
  Path Index(std::size_t index) const;
  Path Key(std::string_view key) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// One finding. `detail` and `bad_value` are as Go prints them; see the factories of ErrorList.
struct Error {
  enum class Type {
    kRequired,
    kInvalid,
    kDuplicate,
    kNotSupported,
    kForbidden,
    kTooLong,
    kTooMany,
    kNotFound,
    kTypeInvalid,
    kInternal,
    kTooFew,
    kTooShort,
  };
  Type type;
  std::string field;
  std::string bad_value;  // Printed as Go does: strings quoted, "null", numbers, JSON otherwise.
  std::string detail;

  // "Invalid value: 3: must be even": the message without the field.
  std::string Body() const;
  // "spec.replicas: Invalid value: 3: must be even".
  std::string Message() const;
  // "FieldValueInvalid".
  std::string_view CauseReason() const;
};

// Findings in the order in which they were made. Empty means valid. It ends at kErrorsMax findings
// or kErrorBytesMax of text; those after them are counted, and each of their texts is shortened.
class ErrorList {
 public:
  void Required(const Path& path, std::string detail = "");
  // `bad_value` as text that is quoted.
  void Invalid(const Path& path, std::string_view bad_value, std::string detail);
  // `printed` is put in as it is: "3", "null", `{"a":1}`.
  void InvalidPrinted(const Path& path, std::string printed, std::string detail);
  void Duplicate(const Path& path, std::string_view bad_value);
  void DuplicatePrinted(const Path& path, std::string printed);
  void NotSupported(const Path& path, std::string_view bad_value,
                    const std::vector<std::string>& supported);
  void NotSupportedPrinted(const Path& path, std::string printed,
                           const std::vector<std::string>& supported);
  void Forbidden(const Path& path, std::string detail);
  // `limit` counts bytes; < 0: no number is known.
  void TooLong(const Path& path, long limit);
  void TooLongCharacters(const Path& path, long limit);
  void TooShort(const Path& path, long limit);
  void TooMany(const Path& path, std::size_t actual, std::size_t limit);
  void TooFew(const Path& path, std::size_t actual, std::size_t limit);
  void NotFound(const Path& path, std::string_view bad_value);
  void TypeInvalid(const Path& path, std::string printed, std::string detail);
  void Internal(const Path& path, std::string detail);

  void Add(Error error);
  void Append(ErrorList other);

  bool empty() const { return errors_.empty(); }
  // Whether nothing that is added changes what is told: loops over what a stranger sent stop here.
  bool full() const { return more_ >= kMoreCountedMax; }
  // How many were found that are not in the list.
  std::size_t more() const { return more_; }
  std::size_t size() const { return errors_.size(); }
  auto begin() const { return errors_.begin(); }
  auto end() const { return errors_.end(); }
  const Error& operator[](std::size_t i) const { return errors_[i]; }

  // One message alone, or "[a, b]", each distinct message once: Go's ToAggregate().Error(). Of a
  // list that has ended "[a, b, and 7 more]".
  std::string Aggregate() const;
  std::vector<StatusCause> Causes() const;

 private:
  // Whether there is room for another; counts it if not.
  bool Room();
  // "and 7 more".
  std::string More() const;

  std::vector<Error> errors_;
  std::size_t bytes_ = 0;
  std::size_t more_ = 0;
};

// Go's %q, for the strings that API messages quote.
std::string Quote(std::string_view text);
// The same of a text that a stranger chose, not longer than kTextBytesMax.
std::string QuoteShort(std::string_view text);

}  // namespace apiserver::inline v0::field
