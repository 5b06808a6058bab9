#include "apiserver/meta/errors.h"

#include <cctype>
#include <utility>

namespace apiserver::v0::meta {
namespace {

StatusDetails DetailsOf(const GroupResource& resource, std::string_view name) {
  StatusDetails details;
  details.name = field::Shorten(name);
  details.group = resource.group;
  details.kind = resource.resource;
  return details;
}

bool Empty(const GroupResource& resource) {
  return resource.group.empty() && resource.resource.empty();
}

// `flunders.wardle "x"`.
std::string Named(const GroupResource& resource, std::string_view name) {
  return resource.ToString() + " " + field::QuoteShort(name);
}

Status WithRetryAfter(Reason reason, std::string message, int retry_after_seconds) {
  StatusDetails details;
  details.retry_after_seconds = retry_after_seconds;
  return Status(reason, std::move(message)).WithDetails(std::move(details));
}

struct Meaning {
  Reason reason;
  std::string message;
};

// The texts of errors.NewGenericServerResponse in apimachinery.
Meaning MeaningOf(const ServerResponse& response) {
  const std::string said(response.message);
  switch (response.code) {
    case 400:
      return {Reason::kBadRequest, "the server rejected our request for an unknown reason"};
    case 401:
      return {Reason::kUnauthorized, "the server has asked for the client to provide credentials"};
    case 403:
      // The message tells which user lacks which permission, so it is kept.
      return {Reason::kForbidden, said};
    case 404:
      return {Reason::kNotFound, "the server could not find the requested resource"};
    case 405:
      return {Reason::kMethodNotAllowed,
              "the server does not allow this method on the requested resource"};
    case 406:
      return {Reason::kNotAcceptable, said.empty() || said == "unknown"
                                          ? "the server was unable to respond with a content type "
                                            "that the client supports"
                                          : said};
    case 409:
      // Only a create conflicts with an object that exists.
      return {response.verb == "POST" ? Reason::kAlreadyExists : Reason::kConflict,
              "the server reported a conflict"};
    case 415:
      return {Reason::kUnsupportedMediaType, said};
    case 422:
      return {Reason::kInvalid, "the server rejected our request due to an error in our request"};
    case 429:
      return {Reason::kTooManyRequests,
              "the server has received too many requests and has asked us to try again later"};
    case 503:
      return {Reason::kServiceUnavailable, "the server is currently unable to handle the request"};
    case 504:
      return {Reason::kTimeout,
              "the server was unable to return a response in the time allotted, but may still be "
              "processing the request"};
    default:
      break;
  }
  if (response.code >= 500) {
    return {Reason::kInternalError, "an error on the server (" + field::Quote(said) +
                                        ") has prevented the request from succeeding"};
  }
  return {Reason::kUnknown, "the server responded with the status code " +
                                std::to_string(response.code) +
                                " but did not return more information"};
}

}  // namespace

Status NewNotFound(const GroupResource& resource, std::string_view name) {
  return Status(Reason::kNotFound, Named(resource, name) + " not found")
      .WithDetails(DetailsOf(resource, name));
}

Status NewAlreadyExists(const GroupResource& resource, std::string_view name) {
  return Status(Reason::kAlreadyExists, Named(resource, name) + " already exists")
      .WithDetails(DetailsOf(resource, name));
}

Status NewGenerateNameConflict(const GroupResource& resource, std::string_view name) {
  StatusDetails details = DetailsOf(resource, name);
  // A retry generates another name.
  details.retry_after_seconds = 1;
  return Status(Reason::kAlreadyExists,
                Named(resource, name) +
                    " already exists, the server was not able to generate a unique name for the "
                    "object")
      .WithDetails(std::move(details));
}

Status NewUnauthorized(std::string message) {
  return Status(Reason::kUnauthorized, message.empty() ? "not authorized" : std::move(message));
}

Status NewForbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string message;
  if (Empty(resource)) {
    message = "forbidden: ";
  } else if (name.empty()) {
    message = resource.ToString() + " is forbidden: ";
  } else {
    message = Named(resource, name) + " is forbidden: ";
  }
  message += why;
  return Status(Reason::kForbidden, std::move(message)).WithDetails(DetailsOf(resource, name));
}

Status NewConflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string message = "Operation cannot be fulfilled on " + Named(resource, name) + ": ";
  message += why;
  return Status(Reason::kConflict, std::move(message)).WithDetails(DetailsOf(resource, name));
}

Status NewGone(std::string message) { return Status(Reason::kGone, std::move(message)); }

Status NewResourceExpired(std::string message) {
  return Status(Reason::kExpired, std::move(message));
}

Status NewInvalid(const GroupKind& kind, std::string_view name, const field::ErrorList& errors) {
  StatusDetails details;
  details.name = field::Shorten(name);
  details.group = kind.group;
  details.kind = kind.kind;
  details.causes = errors.Causes();
  std::string message = kind.ToString() + " " + field::QuoteShort(name) + " is invalid";
  if (!errors.empty()) message += ": " + errors.Aggregate();
  return Status(Reason::kInvalid, std::move(message)).WithDetails(std::move(details));
}

Status NewBadRequest(std::string message) {
  return Status(Reason::kBadRequest, std::move(message));
}

Status NewTooManyRequests(std::string message, int retry_after_seconds) {
  return WithRetryAfter(Reason::kTooManyRequests, std::move(message), retry_after_seconds);
}

Status NewServiceUnavailable(std::string message) {
  return Status(Reason::kServiceUnavailable, std::move(message));
}

Status NewMethodNotSupported(const GroupResource& resource, std::string_view verb) {
  std::string message(verb);
  message += " is not supported on resources of kind " + field::Quote(resource.ToString());
  return Status(Reason::kMethodNotAllowed, std::move(message)).WithDetails(DetailsOf(resource, ""));
}

Status NewServerTimeout(const GroupResource& resource, std::string_view operation,
                        int retry_after_seconds) {
  // Go puts the operation where the name stands.
  StatusDetails details = DetailsOf(resource, operation);
  details.retry_after_seconds = retry_after_seconds;
  std::string message = "The ";
  message += operation;
  message += " operation against " + resource.ToString() +
             " could not be completed at this time, please try again.";
  return Status(Reason::kServerTimeout, std::move(message)).WithDetails(std::move(details));
}

Status NewInternalError(std::string_view what) {
  StatusDetails details;
  details.causes.push_back({"", std::string(what), ""});
  return Status(Reason::kInternalError, "Internal error occurred: " + std::string(what))
      .WithDetails(std::move(details));
}

Status NewTimeoutError(std::string_view what, int retry_after_seconds) {
  return WithRetryAfter(Reason::kTimeout, "Timeout: " + std::string(what), retry_after_seconds);
}

Status NewRequestEntityTooLarge(std::string_view what) {
  return Status(Reason::kRequestEntityTooLarge, "Request entity too large: " + std::string(what));
}

// Follows storage.NewTooLargeResourceVersionError. Clients recognize the error by its cause.
Status NewTooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current,
                                  int retry_after_seconds) {
  StatusDetails details;
  details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  details.retry_after_seconds = retry_after_seconds;
  return Status(Reason::kTimeout, "Timeout: Too large resource version: " + std::to_string(wanted) +
                                      ", current: " + std::to_string(current))
      .WithDetails(std::move(details));
}

Status NewNotAcceptable(std::string_view accepted_media_types) {
  return Status(Reason::kNotAcceptable, "only the following media types are accepted: " +
                                            std::string(accepted_media_types));
}

Status NewUnsupportedMediaType(std::string_view accepted_media_types) {
  return Status(
      Reason::kUnsupportedMediaType,
      "the body of the request was in an unknown format - accepted media types include: " +
          std::string(accepted_media_types));
}

Status NewGenericServerResponse(const ServerResponse& response) {
  Meaning meaning = MeaningOf(response);
  if (!Empty(response.resource)) {
    meaning.message += " (";
    for (const char c : response.verb) {
      meaning.message += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    meaning.message += " " + response.resource.ToString();
    if (!response.name.empty()) meaning.message += " " + std::string(response.name);
    meaning.message += ")";
  }
  StatusDetails details = DetailsOf(response.resource, response.name);
  details.retry_after_seconds = response.retry_after_seconds;
  if (response.unexpected) {
    details.causes.push_back({"UnexpectedServerResponse", std::string(response.message), ""});
  }
  return Status(meaning.reason, std::move(meaning.message))
      .WithDetails(std::move(details))
      .WithCode(response.code);
}

Status NewGenericServerResponse(int code, std::string_view verb, const GroupResource& resource,
                                std::string_view name) {
  return NewGenericServerResponse(
      ServerResponse{.code = code, .verb = verb, .resource = resource, .name = name});
}

bool HasCause(const Status& status, std::string_view reason) {
  if (status.details() == nullptr) return false;
  for (const StatusCause& cause : status.details()->causes) {
    if (cause.reason == reason) return true;
  }
  return false;
}

}  // namespace apiserver::v0::meta
