#include "apiserver/base/field_path.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::field {
namespace {

const Path kSpec("spec");

TEST_CASE("base: a path grows by names, indices and keys", "[base]") {
  CHECK(kSpec.Child("ports").Index(2).Child("name").text() == "spec.ports[2].name");
  CHECK(Path("metadata").Child("labels").Key("app").text() == "metadata.labels[app]");
  CHECK(Path().Child("spec").text() == "spec");
}

TEST_CASE("base: each kind of finding reads as Kubernetes words it", "[base]") {
  const Path path("f");
  const auto message = [](auto&& make) {
    ErrorList errors;
    make(errors);
    return errors[0].Message();
  };

  CHECK(message([&](auto& e) { e.Required(path); }) == "f: Required value");
  CHECK(message([&](auto& e) { e.Required(path, "a name"); }) == "f: Required value: a name");
  CHECK(message([&](auto& e) { e.Invalid(path, "a\"b", "no quotes"); }) ==
        R"(f: Invalid value: "a\"b": no quotes)");
  CHECK(message([&](auto& e) { e.Invalid(path, "", "empty"); }) ==
        R"(f: Invalid value: "": empty)");
  CHECK(message([&](auto& e) { e.InvalidPrinted(path, "-1", "must be positive"); }) ==
        "f: Invalid value: -1: must be positive");
  CHECK(message([&](auto& e) { e.Duplicate(path, "x"); }) == R"(f: Duplicate value: "x")");
  CHECK(message([&](auto& e) { e.DuplicatePrinted(path, R"({"a":1})"); }) ==
        R"(f: Duplicate value: {"a":1})");
  CHECK(message([&](auto& e) {
          e.NotSupported(path, "c", {"a", "b"});
        }) == R"(f: Unsupported value: "c": supported values: "a", "b")");
  CHECK(message([&](auto& e) { e.NotSupported(path, "c", {}); }) == R"(f: Unsupported value: "c")");
  CHECK(message([&](auto& e) { e.Forbidden(path, "no"); }) == "f: Forbidden: no");
  CHECK(message([&](auto& e) { e.TooLong(path, 63); }) ==
        "f: Too long: may not be more than 63 bytes");
  CHECK(message([&](auto& e) { e.TooLong(path, 1); }) ==
        "f: Too long: may not be more than 1 byte");
  CHECK(message([&](auto& e) { e.TooLong(path, -1); }) == "f: Too long: value is too long");
  CHECK(message([&](auto& e) { e.TooLongCharacters(path, 5); }) ==
        "f: Too long: may not be more than 5 characters");
  CHECK(message([&](auto& e) { e.TooShort(path, 1); }) ==
        "f: Too short: must be at least 1 character");
  CHECK(message([&](auto& e) { e.TooMany(path, 3, 2); }) ==
        "f: Too many: 3: must have at most 2 items");
  CHECK(message([&](auto& e) { e.TooMany(path, 2, 1); }) ==
        "f: Too many: 2: must have at most 1 item");
  CHECK(message([&](auto& e) { e.TooFew(path, 0, 1); }) ==
        "f: Too few: 0: must have at least 1 item");
  CHECK(message([&](auto& e) { e.NotFound(path, "x"); }) == R"(f: Not found: "x")");
  CHECK(message([&](auto& e) { e.TypeInvalid(path, "1", "must be a string"); }) ==
        "f: Invalid value: 1: must be a string");
  CHECK(message([&](auto& e) { e.Internal(path, "oops"); }) == "f: Internal error: oops");
}

TEST_CASE("base: a finding about the object itself bears Go's name of no path", "[base]") {
  ErrorList errors;

  errors.Required(Path(), "all of it");

  CHECK(errors[0].Message() == "<nil>: Required value: all of it");
}

TEST_CASE("base: findings become causes with Kubernetes' reasons", "[base]") {
  ErrorList errors;
  errors.Required(kSpec);
  errors.Invalid(kSpec, "x", "d");
  errors.Duplicate(kSpec, "x");
  errors.NotSupported(kSpec, "x", {});
  errors.Forbidden(kSpec, "d");
  errors.TooLong(kSpec, 1);
  errors.TooMany(kSpec, 2, 1);
  errors.NotFound(kSpec, "x");
  errors.TypeInvalid(kSpec, "1", "d");
  errors.Internal(kSpec, "d");
  errors.TooFew(kSpec, 0, 1);
  errors.TooShort(kSpec, 1);

  const auto causes = errors.Causes();

  std::vector<std::string> reasons;
  for (const StatusCause& cause : causes) reasons.push_back(cause.reason);
  CHECK(reasons == std::vector<std::string>{
                       "FieldValueRequired", "FieldValueInvalid", "FieldValueDuplicate",
                       "FieldValueNotSupported", "FieldValueForbidden", "FieldValueTooLong",
                       "FieldValueTooMany", "FieldValueNotFound", "FieldValueTypeInvalid",
                       "InternalError", "FieldValueTooFew", "FieldValueTooShort"});
  CHECK(causes[1] == StatusCause{"FieldValueInvalid", R"(Invalid value: "x": d)", "spec"});
}

TEST_CASE("base: an aggregate says each distinct message once, in brackets if several", "[base]") {
  ErrorList errors;
  CHECK(errors.Aggregate().empty());
  errors.Required(kSpec);
  CHECK(errors.Aggregate() == "spec: Required value");
  ErrorList more;
  more.Required(kSpec);
  more.Forbidden(kSpec, "no");

  errors.Append(std::move(more));

  CHECK(errors.size() == 3);
  CHECK(errors.Aggregate() == "[spec: Required value, spec: Forbidden: no]");
}

TEST_CASE("base: a list of findings ends, and says how many there are besides", "[base]") {
  ErrorList errors;

  for (int i = 0; i < 507; ++i) errors.Invalid(kSpec.Index(i), "x", "d");

  CHECK(errors.size() == 500);
  CHECK(errors.more() == 7);
  CHECK_FALSE(errors.full());
  CHECK(errors.Aggregate().starts_with(R"([spec[0]: Invalid value: "x": d, spec[1]: )"));
  CHECK(errors.Aggregate().ends_with(R"(, spec[499]: Invalid value: "x": d, and 7 more])"));
  const auto causes = errors.Causes();
  REQUIRE(causes.size() == 501);
  CHECK(causes[500] == StatusCause{"", "and 7 more", ""});
}

TEST_CASE("base: what nobody would count any more makes a list full", "[base]") {
  ErrorList errors;
  std::size_t asked = 0;

  for (; asked < 1'000'000 && !errors.full(); ++asked) errors.Required(kSpec);

  CHECK(asked == 10'500);
  CHECK(errors.Aggregate() == "[spec: Required value, and at least 10000 more]");
  ErrorList both;
  both.Append(std::move(errors));
  CHECK(both.full());
  CHECK(both.size() == 500);
}

TEST_CASE("base: findings with long texts are fewer, and each text is cut", "[base]") {
  const std::string megabyte(1 << 20, 'a');
  ErrorList errors;

  for (int i = 0; i < 100; ++i) {
    errors.InvalidPrinted(Path().Child(megabyte).Key(megabyte), megabyte, megabyte);
  }

  // 64 KiB of 24 each.
  CHECK(errors.size() == 3);
  CHECK(errors.more() == 97);
  CHECK(errors[0].field == std::string(8189, 'a') + "...");
  CHECK(errors[0].bad_value == std::string(8189, 'a') + "...");
  CHECK(errors[0].detail == std::string(8189, 'a') + "...");
}

TEST_CASE("base: a text is cut between characters, and quoted as far as it is shown", "[base]") {
  CHECK(Shorten("abc", 3) == "abc");
  CHECK(Shorten("abcdefg", 6) == "abc...");
  CHECK(Shorten("ab\xc3\xa9 and more", 6) == "ab...");
  CHECK(Shorten(std::string(9, '\x80'), 8) == std::string(5, '\x80') + "...");
  CHECK(QuoteShort("a\"") == R"("a\"")");
  CHECK(QuoteShort(std::string(8190, 'a')) == '"' + std::string(8190, 'a') + '"');
  CHECK(QuoteShort(std::string(1 << 20, 'a')) == '"' + std::string(8188, 'a') + "...");
}

}  // namespace
}  // namespace apiserver::inline v0::field
