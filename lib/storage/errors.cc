#include "storage/errors.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::storage {
namespace {

constexpr std::string_view kPrefix = "StorageError: ";

// Codes of storage.StorageError in k8s.io/apiserver, as far as they are used here.
struct Code {
  int number;
  std::string_view words;
};
constexpr Code kKeyNotFound{1, "key not found"};
constexpr Code kKeyExists{2, "key exists"};
constexpr Code kInvalidObject{4, "invalid object"};
constexpr Code kRequestTimeout{6, "request timeout"};

// Go prints an absent inner error as "<nil>".
Status NewStorageError(Reason reason, Code code, std::string_view key, std::string_view message) {
  std::string text(kPrefix);
  text.append(code.words).append(", Code: ").append(std::to_string(code.number));
  text.append(", Key: ").append(key);
  text.append(", ResourceVersion: 0, AdditionalErrorMsg: ").append(message);
  return Status(reason, std::move(text));
}

}  // namespace

Status NewKeyNotFound(std::string_view key) {
  return NewStorageError(Reason::kNotFound, kKeyNotFound, key, "<nil>");
}

Status NewKeyExists(std::string_view key) {
  return NewStorageError(Reason::kAlreadyExists, kKeyExists, key, "<nil>");
}

Status NewInvalidObject(std::string_view key, std::string_view message) {
  return NewStorageError(Reason::kConflict, kInvalidObject, key, message);
}

Status NewStorageTimeout(std::string_view key, std::string_view message) {
  return NewStorageError(Reason::kTimeout, kRequestTimeout, key, message);
}

bool IsStorageError(const Status& status) {
  return !status.ok() && status.details() == nullptr && status.message().starts_with(kPrefix);
}

// Follows Preconditions.Check in k8s.io/apiserver's storage package.
Status CheckPreconditions(std::string_view key, const meta::Preconditions& preconditions,
                          const runtime::Object* object) {
  const auto check = [&](const std::optional<std::string>& wanted, std::string_view what,
                         std::string_view actual) -> Status {
    if (!wanted || *wanted == actual) return {};
    std::string text = "Precondition failed: ";
    text.append(what).append(" in precondition: ").append(*wanted);
    text.append(", ").append(what).append(" in object meta: ").append(actual);
    return NewInvalidObject(key, text);
  };
  RETURN_IF_ERROR(check(preconditions.uid, "UID", object != nullptr ? object->uid() : ""));
  return check(preconditions.resource_version, "ResourceVersion",
               object != nullptr ? object->resource_version() : "");
}

Result<std::int64_t> ParseReadVersion(std::string_view text) {
  ASSIGN_OR_RETURN(const std::uint64_t parsed, meta::ParseResourceVersion(text));
  // A value beyond the largest revision counts as the largest one: both lie in the future.
  return static_cast<std::int64_t>(
      std::min(parsed, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

Status CheckNotOlderThan(std::string_view wanted, std::int64_t actual) {
  if (wanted.empty()) return {};
  ASSIGN_OR_RETURN(const std::int64_t revision, ParseReadVersion(wanted));
  if (revision <= actual) return {};
  return meta::NewTooLargeResourceVersion(static_cast<std::uint64_t>(revision),
                                          static_cast<std::uint64_t>(actual), 0);
}

}  // namespace apiserver::v0::storage
