#include "apiserver/base/status_macros.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/base/status.h"

// As a host includes it: outside of the library's namespace, under the public names alone.
namespace {

using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

Status Even(int n, int& asked) {
  ++asked;
  return n % 2 == 0 ? Status() : Status(Reason::kInvalid, "odd");
}

Result<std::string> Describe(int n, int& asked) {
  if (n < 0) APISERVER_RETURN_IF_ERROR(Status(Reason::kNotFound, "negative"));
  APISERVER_RETURN_IF_ERROR(Even(n, asked));
  APISERVER_ASSIGN_OR_RETURN(const int half, Result<int>(n / 2));
  APISERVER_ASSIGN_OR_RETURN(
      const std::string text,
      half > 5 ? Result<std::string>(Status(Reason::kConflict, "large")) : std::to_string(half));
  return text;
}

TEST_CASE("base: the public macros return the first error, and evaluate once", "[base]") {
  int asked = 0;

  CHECK(*Describe(4, asked) == "2");
  CHECK(Describe(3, asked).status() == Status(Reason::kInvalid, "odd"));
  CHECK(Describe(-1, asked).status() == Status(Reason::kNotFound, "negative"));
  CHECK(Describe(12, asked).status() == Status(Reason::kConflict, "large"));
  CHECK(asked == 3);
}

}  // namespace
