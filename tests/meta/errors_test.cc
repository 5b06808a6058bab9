#include "apiserver/meta/errors.h"

#include <catch2/catch.hpp>
#include <string>

namespace apiserver::inline v0::meta {
namespace {

const GroupResource kFlunders{"wardle.example.com", "flunders"};
const GroupResource kPods{"", "pods"};

StatusDetails About(const GroupResource& resource, const std::string& name) {
  StatusDetails details;
  details.name = name;
  details.group = resource.group;
  details.kind = resource.resource;
  return details;
}

}  // namespace

TEST_CASE("meta: errors about one object have Kubernetes' words, code and details", "[meta]") {
  struct Row {
    Status status;
    Reason reason;
    int code;
    const char* message;
  };
  const Row rows[] = {
      {NewNotFound(kFlunders, "x"), Reason::kNotFound, 404,
       R"(flunders.wardle.example.com "x" not found)"},
      {NewAlreadyExists(kFlunders, "x"), Reason::kAlreadyExists, 409,
       R"(flunders.wardle.example.com "x" already exists)"},
      {NewForbidden(kFlunders, "x", "no"), Reason::kForbidden, 403,
       R"(flunders.wardle.example.com "x" is forbidden: no)"},
      {NewConflict(kFlunders, "x", "be true"), Reason::kConflict, 409,
       R"(Operation cannot be fulfilled on flunders.wardle.example.com "x": be true)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.message);
    CHECK(row.status.reason() == row.reason);
    CHECK(row.status.code() == row.code);
    CHECK(row.status.message() == row.message);
    REQUIRE(row.status.details() != nullptr);
    CHECK(*row.status.details() == About(kFlunders, "x"));
  }
}

TEST_CASE("meta: a name in a message is quoted as Go quotes", "[meta]") {
  CHECK(NewNotFound(kPods, "a\"b\n").message() == R"(pods "a\"b\n" not found)");
}

TEST_CASE("meta: a forbidden collection and a forbidden path leave the name out", "[meta]") {
  CHECK(NewForbidden(kPods, "", "no").message() == "pods is forbidden: no");
  CHECK(NewForbidden({}, "", "no").message() == "forbidden: no");
}

TEST_CASE("meta: errors that are only a message have no details", "[meta]") {
  struct Row {
    Status status;
    int code;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {NewUnauthorized(), 401, "Unauthorized", "Unauthorized"},
      {NewUnauthorized(""), 401, "Unauthorized", "not authorized"},
      {NewGone("gone"), 410, "Gone", "gone"},
      {NewResourceExpired("old"), 410, "Expired", "old"},
      {NewBadRequest("bad"), 400, "BadRequest", "bad"},
      {NewServiceUnavailable("later"), 503, "ServiceUnavailable", "later"},
      {NewRequestEntityTooLarge("limit is 3145728"), 413, "RequestEntityTooLarge",
       "Request entity too large: limit is 3145728"},
      {NewNotAcceptable("application/json"), 406, "NotAcceptable",
       "only the following media types are accepted: application/json"},
      {NewUnsupportedMediaType("application/json"), 415, "UnsupportedMediaType",
       "the body of the request was in an unknown format - accepted media types include: "
       "application/json"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.message);
    CHECK(row.status.code() == row.code);
    CHECK(ReasonWord(row.status.reason()) == row.reason);
    CHECK(row.status.message() == row.message);
    CHECK(row.status.details() == nullptr);
  }
}

TEST_CASE("meta: errors that ask to come again say when", "[meta]") {
  const Status conflict = NewGenerateNameConflict(kPods, "x");
  CHECK(conflict.message() ==
        R"(pods "x" already exists, the server was not able to generate a unique name for )"
        "the object");
  CHECK(conflict.details()->retry_after_seconds == 1);
  const Status many = NewTooManyRequests("slow down", 7);
  CHECK(many.code() == 429);
  CHECK(many.details()->retry_after_seconds == 7);
  const Status timeout = NewTimeoutError("request did not complete", 3);
  CHECK(timeout.code() == 504);
  CHECK(timeout.message() == "Timeout: request did not complete");
  CHECK(timeout.details()->retry_after_seconds == 3);
  const Status server = NewServerTimeout(kPods, "get", 2);
  CHECK(server.code() == 500);
  CHECK(server.message() ==
        "The get operation against pods could not be completed at this time, please try again.");
  CHECK(server.details()->name == "get");
  CHECK(server.details()->retry_after_seconds == 2);
}

TEST_CASE("meta: a resource version from the future is a timeout with its cause", "[meta]") {
  const Status status = NewTooLargeResourceVersion(100, 7, 1);

  CHECK(status.code() == 504);
  CHECK(status.message() == "Timeout: Too large resource version: 100, current: 7");
  CHECK(status.details()->retry_after_seconds == 1);
  CHECK(status.details()->causes ==
        std::vector<StatusCause>{{"ResourceVersionTooLarge", "Too large resource version", ""}});
  CHECK(HasCause(status, "ResourceVersionTooLarge"));
  CHECK_FALSE(HasCause(NewTimeoutError("x", 1), "ResourceVersionTooLarge"));
}

TEST_CASE("meta: an internal error keeps what happened as its cause", "[meta]") {
  const Status status = NewInternalError("boom");

  CHECK(status.code() == 500);
  CHECK(status.message() == "Internal error occurred: boom");
  CHECK(status.details()->causes == std::vector<StatusCause>{{"", "boom", ""}});
}

TEST_CASE("meta: an unsupported method names the resource as a kind", "[meta]") {
  const Status status = NewMethodNotSupported(kFlunders, "patch");

  CHECK(status.code() == 405);
  CHECK(status.message() ==
        R"(patch is not supported on resources of kind "flunders.wardle.example.com")");
  CHECK(*status.details() == About(kFlunders, ""));
}

// TestNewInvalid
TEST_CASE("meta: an invalid object lists its findings as message and causes", "[meta]") {
  const GroupKind kind{"wardle.example.com", "Flunder"};
  const field::Path path("spec.replicas");
  field::ErrorList one;
  one.Invalid(path, "bar", "detail");
  field::ErrorList two;
  two.Required(path);
  two.Forbidden(field::Path("spec.x"), "no");

  CHECK(NewInvalid({"", "Kind"}, "name", {}).message() == R"(Kind "name" is invalid)");
  CHECK(NewInvalid({"", "Kind"}, "name", one).message() ==
        R"(Kind "name" is invalid: spec.replicas: Invalid value: "bar": detail)");
  const Status status = NewInvalid(kind, "name", two);
  CHECK(status.code() == 422);
  CHECK(status.message() ==
        R"(Flunder.wardle.example.com "name" is invalid: [spec.replicas: Required value, )"
        "spec.x: Forbidden: no]");
  CHECK(status.details()->kind == "Flunder");
  CHECK(status.details()->group == "wardle.example.com");
  CHECK(status.details()->causes ==
        std::vector<StatusCause>{{"FieldValueRequired", "Required value", "spec.replicas"},
                                 {"FieldValueForbidden", "Forbidden: no", "spec.x"}});
}

TEST_CASE("meta: a bare response code becomes the Status a client would make of it", "[meta]") {
  struct Row {
    int code;
    const char* verb;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {400, "", "BadRequest", "the server rejected our request for an unknown reason"},
      {401, "", "Unauthorized", "the server has asked for the client to provide credentials"},
      {404, "", "NotFound", "the server could not find the requested resource"},
      {405, "", "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {409, "POST", "AlreadyExists", "the server reported a conflict"},
      {409, "PUT", "Conflict", "the server reported a conflict"},
      {418, "", "",
       "the server responded with the status code 418 but did not return more information"},
      {500, "", "InternalError",
       "an error on the server (\"\") has prevented the request from succeeding"},
      {503, "", "ServiceUnavailable", "the server is currently unable to handle the request"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code);
    const Status status = NewGenericServerResponse(row.code, row.verb, {}, "");
    CHECK(status.code() == row.code);
    CHECK(ReasonWord(status.reason()) == row.reason);
    CHECK(status.message() == row.message);
    CHECK(*status.details() == StatusDetails());
  }
  CHECK(NewGenericServerResponse(404, "GET", kPods, "x").message() ==
        "the server could not find the requested resource (get pods x)");
  CHECK(NewGenericServerResponse(404, "GET", kPods, "").message() ==
        "the server could not find the requested resource (get pods)");
}

TEST_CASE("meta: an answer that is no Status keeps its text as a cause", "[meta]") {
  const Status status = NewGenericServerResponse(ServerResponse{
      .code = 502, .message = "bad gateway", .retry_after_seconds = 4, .unexpected = true});

  CHECK(status.message() ==
        "an error on the server (\"bad gateway\") has prevented the request from succeeding");
  CHECK(HasCause(status, "UnexpectedServerResponse"));
  CHECK(status.details()->retry_after_seconds == 4);
}

}  // namespace apiserver::inline v0::meta
