#include "apiserver/base/status.h"

#include <catch2/catch.hpp>

#include "base/status_macros.h"

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: every reason has the word and the code of Kubernetes", "[base]") {
  struct Row {
    Reason reason;
    std::string_view word;
    int code;
  };
  const auto row = GENERATE(values<Row>({
      {Reason::kUnknown, "", 500},
      {Reason::kUnauthorized, "Unauthorized", 401},
      {Reason::kForbidden, "Forbidden", 403},
      {Reason::kNotFound, "NotFound", 404},
      {Reason::kAlreadyExists, "AlreadyExists", 409},
      {Reason::kConflict, "Conflict", 409},
      {Reason::kGone, "Gone", 410},
      {Reason::kInvalid, "Invalid", 422},
      {Reason::kServerTimeout, "ServerTimeout", 500},
      {Reason::kStorageReadError, "StorageReadError", 500},
      {Reason::kTimeout, "Timeout", 504},
      {Reason::kTooManyRequests, "TooManyRequests", 429},
      {Reason::kBadRequest, "BadRequest", 400},
      {Reason::kMethodNotAllowed, "MethodNotAllowed", 405},
      {Reason::kNotAcceptable, "NotAcceptable", 406},
      {Reason::kRequestEntityTooLarge, "RequestEntityTooLarge", 413},
      {Reason::kUnsupportedMediaType, "UnsupportedMediaType", 415},
      {Reason::kInternalError, "InternalError", 500},
      {Reason::kExpired, "Expired", 410},
      {Reason::kServiceUnavailable, "ServiceUnavailable", 503},
  }));

  CHECK(ReasonWord(row.reason) == row.word);
  CHECK(Status(row.reason, "").code() == row.code);
}

TEST_CASE("base: a default Status is OK", "[base]") {
  const Status status;

  CHECK(status.ok());
  CHECK(status.code() == 200);
  CHECK(status.message().empty());
  CHECK(status.details() == nullptr);
  CHECK(status.ToString() == "OK");
}

TEST_CASE("base: changing a Status leaves the original as it was", "[base]") {
  const Status original(Reason::kNotFound, "no flunder");

  const Status changed = original.WithCode(410)
                             .WithMessage("gone")
                             .WithDetails({.name = "x", .causes = {{"r", "m", "f"}}})
                             .WithContinueToken("next");

  CHECK(original == Status(Reason::kNotFound, "no flunder"));
  CHECK(changed.code() == 410);
  CHECK(changed.reason() == Reason::kNotFound);
  CHECK(changed.message() == "gone");
  CHECK(changed.details()->name == "x");
  CHECK(changed.details()->causes[0].field == "f");
  CHECK(changed.continue_token() == "next");
}

TEST_CASE("base: Statuses are equal when all they say is", "[base]") {
  const Status error(Reason::kConflict, "a");

  CHECK(error == Status(Reason::kConflict, "a"));
  CHECK_FALSE(error == Status(Reason::kConflict, "b"));
  CHECK_FALSE(error == Status(Reason::kGone, "a"));
  CHECK_FALSE(error == error.WithDetails({}));
  CHECK_FALSE(error == Status());
  CHECK(Status() == Status::Ok());
}

TEST_CASE("base: a Status prints its reason and message", "[base]") {
  CHECK(Status(Reason::kNotFound, "no x").ToString() == "NotFound: no x");
  CHECK(Status(Reason::kUnknown, "odd").ToString() == "Unknown: odd");
}

TEST_CASE("base: copies of a Status share its content, and outlive it", "[base]") {
  std::optional<Status> first = Status(Reason::kGone, std::string(100, 'x'));
  Status copy = *first;
  CHECK(copy.message().data() == first->message().data());
  Status other(Reason::kConflict, "other");
  other = copy;
  first.reset();
  CHECK(copy.message() == std::string(100, 'x'));
  const Status moved = std::move(copy);
  CHECK(copy.ok());  // NOLINT: what a move leaves behind is told.
  Status& same = other;
  other = same;
  CHECK(other == moved);
  other = std::move(same);
  CHECK(other == moved);
  other = Status();
  CHECK(other.ok());
  CHECK(moved.WithMessage("new").message() == "new");
  CHECK(moved.message() == std::string(100, 'x'));
}

Result<int> Half(int n) {
  if (n % 2 != 0) return Status(Reason::kInvalid, "odd");
  return n / 2;
}

Result<std::string> Quarter(int n) {
  ASSIGN_OR_RETURN(const int half, Half(n));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return std::to_string(quarter);
}

TEST_CASE("base: a Result holds a value or the reason why not", "[base]") {
  CHECK(*Quarter(8) == "2");
  CHECK(Quarter(8).status().ok());
  CHECK(Quarter(6).status() == Status(Reason::kInvalid, "odd"));
  CHECK_FALSE(Quarter(6));
}

TEST_CASE("base: a Result takes what its value can be made of", "[base]") {
  const auto made = []() -> Result<std::shared_ptr<const int>> { return std::make_shared<int>(7); };

  CHECK(**made() == 7);
}

}  // namespace
}  // namespace apiserver::inline v0
