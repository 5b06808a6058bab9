#include "registry/errors.h"

#include <string>

#include "apiserver/meta/errors.h"
#include "storage/errors.h"

namespace apiserver::v0::registry {
namespace {

// The seconds of InterpretListError in apiserver/pkg/storage/errors.
constexpr int kRetryAfterSeconds = 2;

std::string_view VerbWord(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "get";
    case Verb::kList:
      return "list";
    case Verb::kWatch:
      return "watch";
    case Verb::kCreate:
      return "create";
    case Verb::kUpdate:
      return "update";
    case Verb::kDelete:
      return "delete";
  }
  return "";
}

bool Writes(Verb verb) { return verb == Verb::kUpdate || verb == Verb::kDelete; }

// Follows InterpretGetError and its siblings in apiserver/pkg/storage/errors.
Status InterpretStorageError(const Status& error, Verb verb, const runtime::GroupResource& resource,
                             std::string_view name) {
  switch (error.reason()) {
    case Reason::kNotFound:
      return meta::NewNotFound(resource, verb == Verb::kList ? "" : name);
    case Reason::kAlreadyExists:
      if (verb == Verb::kCreate) return meta::NewAlreadyExists(resource, name);
      [[fallthrough]];
    case Reason::kConflict:
      return Writes(verb) ? meta::NewConflict(resource, name, error.message()) : error;
    case Reason::kTimeout:
      if (verb != Verb::kList) return error;
      return meta::NewServerTimeout(resource, VerbWord(verb), kRetryAfterSeconds);
    case Reason::kInternalError:
      return meta::NewInternalError(error.message());
    default:
      return error;
  }
}

}  // namespace

Status InterpretError(const Status& error, Verb verb, const runtime::GroupResource& resource,
                      std::string_view name) {
  // An error with details is already one for clients.
  if (error.ok() || error.details() != nullptr) return error;
  if (storage::IsStorageError(error)) return InterpretStorageError(error, verb, resource, name);
  switch (error.reason()) {
    case Reason::kServiceUnavailable:
      return meta::NewServerTimeout(resource, VerbWord(verb), kRetryAfterSeconds);
    case Reason::kInternalError:
      return meta::NewInternalError(error.message());
    case Reason::kInvalid:
      // A resourceVersion on a create: Go answers 500 without a reason.
      return Status(Reason::kUnknown, std::string(error.message()));
    default:
      return error;
  }
}

}  // namespace apiserver::v0::registry
