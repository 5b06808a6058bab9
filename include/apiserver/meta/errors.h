#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// Makes API errors with Kubernetes' exact words, codes, reasons and details, because clients match
// them: k8s.io/apimachinery/pkg/api/errors. The arguments go into the message unchanged.
namespace apiserver::inline v0::meta {

using runtime::GroupKind;
using runtime::GroupResource;

// `<resource> "name" not found`.
Status NewNotFound(const GroupResource& resource, std::string_view name);
// `<resource> "name" already exists`.
Status NewAlreadyExists(const GroupResource& resource, std::string_view name);
// The same for a generateName that found no free name; retryAfterSeconds is 1.
Status NewGenerateNameConflict(const GroupResource& resource, std::string_view name);
// 401. An empty message becomes "not authorized".
Status NewUnauthorized(std::string message = "Unauthorized");
// `<resource> "name" is forbidden: <why>`.
Status NewForbidden(const GroupResource& resource, std::string_view name, std::string_view why);
// `Operation cannot be fulfilled on <resource> "name": <why>`.
Status NewConflict(const GroupResource& resource, std::string_view name, std::string_view why);
// 410: the resource is no longer served here.
Status NewGone(std::string message);
// 410 with reason Expired: the revision or continue token is too old.
Status NewResourceExpired(std::string message);
// `<kind> "name" is invalid: <errors>`, each finding as a cause. 422.
Status NewInvalid(const GroupKind& kind, std::string_view name, const field::ErrorList& errors);
// 400.
Status NewBadRequest(std::string message);
// 429; `retry_after_seconds` > 0 also sets Retry-After.
Status NewTooManyRequests(std::string message, int retry_after_seconds);
// 503.
Status NewServiceUnavailable(std::string message);
// `<verb> is not supported on resources of kind "<resource>"`.
Status NewMethodNotSupported(const GroupResource& resource, std::string_view verb);
// `The <operation> operation against <resource> could not be completed at this time, please try
// again.` 500 with reason ServerTimeout.
Status NewServerTimeout(const GroupResource& resource, std::string_view operation,
                        int retry_after_seconds);
// `Internal error occurred: <what>`.
Status NewInternalError(std::string_view what);
// `Timeout: <what>`. 504.
Status NewTimeoutError(std::string_view what, int retry_after_seconds);
// `Request entity too large: <what>`. 413.
Status NewRequestEntityTooLarge(std::string_view what);
// "Timeout: Too large resource version: N, current: M", with the cause ResourceVersionTooLarge.
Status NewTooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current,
                                  int retry_after_seconds);
// `only the following media types are accepted: <types>`. 406.
Status NewNotAcceptable(std::string_view accepted_media_types);
// 415, with the accepted types in the message.
Status NewUnsupportedMediaType(std::string_view accepted_media_types);
// The Status for a bare HTTP code: "the server could not find the requested resource" and its
// siblings. The details name the resource if one is given, else they are {}.
Status NewGenericServerResponse(int code, std::string_view verb, const GroupResource& resource,
                                std::string_view name);
// A response without a Status in its body, as a client sees it.
struct ServerResponse {
  int code = 0;
  std::string_view verb = {};  // As sent: "GET".
  GroupResource resource = {};
  std::string_view name = {};
  std::string_view message = {};  // The answer's body.
  int retry_after_seconds = 0;
  bool unexpected = false;  // Adds the cause UnexpectedServerResponse.
};
// The same for a response of a server, whose body may become part of the message.
Status NewGenericServerResponse(const ServerResponse& response);

// True if one of the causes has this reason: "ResourceVersionTooLarge".
bool HasCause(const Status& status, std::string_view reason);

}  // namespace apiserver::inline v0::meta
