#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"

// The findings of validation, each with the path of a field:
// k8s.io/apimachinery/pkg/util/validation/field.
namespace apiserver::inline v0::field {

// Limits of what is told about an object of an untrusted client, which may be three megabytes with
// millions of errors, or with one value of three megabytes. Shorter texts are Go's.
inline constexpr std::size_t kErrorsMax = 500;  // The most errors of one list.
inline constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10;  // Text of one list.
inline constexpr std::size_t kTextBytesMax = std::size_t{8} << 10;  // One value, path or sentence.
// Errors beyond the list, until counting stops.
inline constexpr std::size_t kMoreCountedMax = 10'000;

// Returns `text`, or as much of its front as fits in `bytes_max`, and then "...".
std::string Shorten(std::string_view text, std::size_t bytes_max = kTextBytesMax);

// The path of a field: "spec.ports[2].name", "metadata.labels[app]". Immutable; each step returns a
// longer path, up to kTextBytesMax. An empty one is the object itself, which errors call "<nil>",
// as Go does.
class Path {
 public:
  Path() = default;
  // A path that is written already: "spec.ports".
  explicit Path(std::string text) : text_(std::move(text)) {}

  // Appends a field: "spec" becomes "spec.name".
  Path Child(std::string_view name) const;
  // Appends a list's index: "ports[2]".
  Path Index(std::size_t index) const;
  // Appends a map's key: "labels[app]".
  Path Key(std::string_view key) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// One finding. `detail` and `bad_value` are as Go prints them; see the factories of ErrorList.
struct Error {
  // The kinds of findings of Go's field.ErrorType. Each has its word in CauseReason().
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

  // Returns the message without the field: "Invalid value: 3: must be even".
  std::string Body() const;
  // Returns the whole message: "spec.replicas: Invalid value: 3: must be even".
  std::string Message() const;
  // Returns the reason of a StatusCause: "FieldValueInvalid".
  std::string_view CauseReason() const;
};

// Findings in the order in which they were made. Empty: the object is valid. The list ends at
// kErrorsMax findings or kErrorBytesMax of text; later ones are only counted, and each text is
// shortened.
class ErrorList {
 public:
  // "Required value". A field that must be set is missing or empty.
  void Required(const Path& path, std::string detail = "");
  // "Invalid value". `bad_value` is text and is quoted.
  void Invalid(const Path& path, std::string_view bad_value, std::string detail);
  // The same; `printed` is put in as it is: "3", "null", `{"a":1}`.
  void InvalidPrinted(const Path& path, std::string printed, std::string detail);
  // "Duplicate value". The ...Printed variants of this and the next method take the value as it is
  // printed.
  void Duplicate(const Path& path, std::string_view bad_value);
  void DuplicatePrinted(const Path& path, std::string printed);
  // "Unsupported value", with the list of `supported` ones, each quoted.
  void NotSupported(const Path& path, std::string_view bad_value,
                    const std::vector<std::string>& supported);
  void NotSupportedPrinted(const Path& path, std::string printed,
                           const std::vector<std::string>& supported);
  // "Forbidden". A field must not be set or changed here.
  void Forbidden(const Path& path, std::string detail);
  // "Too long". `limit` counts bytes; negative: the message names no number.
  void TooLong(const Path& path, long limit);
  // The same; `limit` counts characters.
  void TooLongCharacters(const Path& path, long limit);
  // "Too short". `limit` counts characters; negative: the message names no number.
  void TooShort(const Path& path, long limit);
  // "Too many". A list has `actual` items and may have `limit`.
  void TooMany(const Path& path, std::size_t actual, std::size_t limit);
  // "Too few". A list has `actual` items and needs `limit`.
  void TooFew(const Path& path, std::size_t actual, std::size_t limit);
  // "Not found". A reference points to nothing.
  void NotFound(const Path& path, std::string_view bad_value);
  // "Invalid value" of the wrong type; `printed` is put in as it is.
  void TypeInvalid(const Path& path, std::string printed, std::string detail);
  // "Internal error". The check itself failed.
  void Internal(const Path& path, std::string detail);

  // Appends one finding, shortened to the limits, or only counts it if the list is full.
  void Add(Error error);
  // Appends all findings of `other`, with those that it only counted.
  void Append(ErrorList other);

  bool empty() const { return errors_.empty(); }
  // True if further findings change nothing: a loop over untrusted input stops here.
  bool full() const { return more_ >= kMoreCountedMax; }
  // The number of findings that are not in the list.
  std::size_t more() const { return more_; }
  std::size_t size() const { return errors_.size(); }
  auto begin() const { return errors_.begin(); }
  auto end() const { return errors_.end(); }
  const Error& operator[](std::size_t i) const { return errors_[i]; }

  // Returns the message of a single finding, or "[a, b]", each distinct message once: Go's
  // ToAggregate().Error(). For a list that has reached its limit "[a, b, and 7 more]".
  std::string Aggregate() const;
  // Returns the findings as the causes of a Status.
  std::vector<StatusCause> Causes() const;

 private:
  // Reports whether there is room for another finding; counts it if not.
  bool Room();
  // "and 7 more".
  std::string More() const;

  std::vector<Error> errors_;
  std::size_t bytes_ = 0;
  std::size_t more_ = 0;
};

// Quotes a text as Go's %q, for API messages.
std::string Quote(std::string_view text);
// The same for a client's text, cut to kTextBytesMax.
std::string QuoteShort(std::string_view text);

}  // namespace apiserver::inline v0::field
