#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// API errors with Kubernetes' exact words, codes, reasons and details, because clients match them:
// k8s.io/apimachinery/pkg/api/errors. The arguments go into the message as they are.
namespace apiserver::inline v0::meta {

using runtime::GroupKind;
using runtime::GroupResource;

Status NewNotFound(const GroupResource& resource, std::string_view name);
Status NewAlreadyExists(const GroupResource& resource, std::string_view name);
// generateName found no free name: AlreadyExists with retryAfterSeconds 1.
Status NewGenerateNameConflict(const GroupResource& resource, std::string_view name);
Status NewUnauthorized(std::string message = "Unauthorized");
// `<resource> "name" is forbidden: <why>`.
Status NewForbidden(const GroupResource& resource, std::string_view name, std::string_view why);
// `Operation cannot be fulfilled on <resource> "name": <why>`.
Status NewConflict(const GroupResource& resource, std::string_view name, std::string_view why);
Status NewGone(std::string message);
Status NewResourceExpired(std::string message);
Status NewInvalid(const GroupKind& kind, std::string_view name, const field::ErrorList& errors);
Status NewBadRequest(std::string message);
Status NewTooManyRequests(std::string message, int retry_after_seconds);
Status NewServiceUnavailable(std::string message);
// `<verb> is not supported on resources of kind "<resource>"`.
Status NewMethodNotSupported(const GroupResource& resource, std::string_view verb);
Status NewServerTimeout(const GroupResource& resource, std::string_view operation,
                        int retry_after_seconds);
// `Internal error occurred: <what>`.
Status NewInternalError(std::string_view what);
Status NewTimeoutError(std::string_view what, int retry_after_seconds);
Status NewRequestEntityTooLarge(std::string_view what);
// Too large resource version: N, current: M.
Status NewTooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current,
                                  int retry_after_seconds);
Status NewNotAcceptable(std::string_view accepted_media_types);
Status NewUnsupportedMediaType(std::string_view accepted_media_types);
// What a router answers for `code` without knowing more: "the server could not find the requested
// resource" and siblings; details {} or about the resource if given.
Status NewGenericServerResponse(int code, std::string_view verb, const GroupResource& resource,
                                std::string_view name);
// An answer that is no Status, as a client sees it.
struct ServerResponse {
  int code = 0;
  std::string_view verb = {};  // As sent: "GET".
  GroupResource resource = {};
  std::string_view name = {};
  std::string_view message = {};  // The answer's body.
  int retry_after_seconds = 0;
  bool unexpected = false;  // Adds the cause UnexpectedServerResponse.
};
Status NewGenericServerResponse(const ServerResponse& response);

// Whether one of the causes has this reason: "ResourceVersionTooLarge".
bool HasCause(const Status& status, std::string_view reason);

}  // namespace apiserver::inline v0::meta
