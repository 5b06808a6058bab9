#include "apiserver/meta/status.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/partial_object_metadata.h"
#include "apiserver/meta/watch.h"
#include "meta/json_text.h"

namespace apiserver::inline v0::meta {

TEST_CASE("meta: a Status is written with Go's members in Go's order", "[meta]") {
  runtime::Arena arena;
  field::ErrorList errors;
  errors.Required(field::Path("spec.x"), "set it");

  CHECK(JsonText(StatusToValue(NewInvalid({"g", "Kind"}, "n", errors), arena)) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"Kind.g \"n\" is invalid: spec.x: Required value: set it",)"
        R"("reason":"Invalid","details":{"name":"n","group":"g","kind":"Kind","causes":)"
        R"([{"reason":"FieldValueRequired","message":"Required value: set it",)"
        R"("field":"spec.x"}]},"code":422})");
  CHECK(JsonText(StatusToValue(NewUnauthorized(), arena)) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"Unauthorized","reason":"Unauthorized","code":401})");
  CHECK(JsonText(StatusToValue(NewTimeoutError("x", 0), arena)) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"Timeout: x","reason":"Timeout","details":{},"code":504})");
}

TEST_CASE("meta: a Status of ordinary size is told whole", "[meta]") {
  StatusDetails details;
  for (int i = 0; i < 500; ++i) details.causes.push_back({"r", std::string(60, 'm'), "f"});
  const Status status = Status(Reason::kInvalid, std::string(60'000, 'x')).WithDetails(details);

  CHECK(Bounded(status) == status);
  CHECK(Bounded(Status()).ok());
}

// Row 84.
TEST_CASE("meta: no Status is longer than 320 KiB of JSON, whatever is in it", "[meta]") {
  for (const char* text : {"a", "\"", "<", "\x01", "\xff", "\xc3\xa9"}) {
    std::string megabytes;
    while (megabytes.size() < (3 << 20)) megabytes += text;
    StatusDetails details{.name = megabytes,
                          .group = megabytes,
                          .kind = megabytes,
                          .uid = megabytes,
                          .causes = {{"r", "m", "f"}, {"r", megabytes, megabytes}, {"r", "m", "f"}},
                          .retry_after_seconds = 7};
    const Status status = Status(Reason::kInvalid, megabytes).WithDetails(details);
    runtime::Arena arena;

    const std::string json = JsonText(StatusToValue(status, arena));
    const Status cut = Bounded(status);

    INFO("of " << text);
    CHECK(json.size() <= 320 << 10);
    CHECK(json.size() > 40 << 10);
    CHECK(cut.message().ends_with("..."));
    CHECK(cut.reason() == Reason::kInvalid);
    CHECK(cut.details()->retry_after_seconds == 7);
    CHECK(cut.details()->causes ==
          std::vector<StatusCause>{{"r", "m", "f"}, {"", "and 2 more", ""}});
  }
}

TEST_CASE("meta: of a hundred thousand causes the first are told", "[meta]") {
  StatusDetails details;
  for (int i = 0; i < 100'000; ++i) details.causes.push_back({"r", "m", "f"});

  const Status cut = Bounded(Status(Reason::kInvalid, "x").WithDetails(std::move(details)));

  const auto& causes = cut.details()->causes;
  CHECK(cut.message() == "x");
  CHECK(causes.size() < 1'500);
  CHECK(causes.back().message == "and " + std::to_string(100'001 - causes.size()) + " more");
}

TEST_CASE("meta: an expired list's Status carries the token to go on with", "[meta]") {
  runtime::Arena arena;

  CHECK(JsonText(StatusToValue(NewResourceExpired("old").WithContinueToken("T"), arena)) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{"continue":"T"},"status":"Failure",)"
        R"("message":"old","reason":"Expired","code":410})");
}

TEST_CASE("meta: a success is written as a delete answers it", "[meta]") {
  runtime::Arena arena;
  StatusDetails details;
  details.name = "x";
  details.group = "g";
  details.kind = "flunders";
  details.uid = "u";

  CHECK(JsonText(SuccessToValue(&details, 0, arena)) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",)"
        R"("details":{"name":"x","group":"g","kind":"flunders","uid":"u"}})");
  CHECK(JsonText(SuccessToValue(nullptr, 200, arena)) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":200})");
}

TEST_CASE("meta: a Status read back is the error that was written", "[meta]") {
  runtime::Arena arena;
  field::ErrorList errors;
  errors.Required(field::Path("spec.x"));
  for (const Status& status :
       {NewInvalid({"g", "Kind"}, "n", errors), NewGenerateNameConflict({"g", "r"}, "x"),
        NewResourceExpired("old").WithContinueToken("T"), NewUnauthorized(),
        NewGenericServerResponse(418, "", {}, ""), NewTimeoutError("x", 0)}) {
    CAPTURE(status.ToString());
    CHECK(StatusFromValue(StatusToValue(status, arena)) == status);
  }
}

TEST_CASE("meta: what is no failed Status reads as none", "[meta]") {
  runtime::Arena arena;
  const runtime::Member pod[] = {{"kind", runtime::Value::String("Pod")}};

  CHECK(StatusFromValue(runtime::Value::Map(pod)) == std::nullopt);
  CHECK(StatusFromValue(SuccessToValue(nullptr, 200, arena)) == std::nullopt);
  CHECK(StatusFromValue(runtime::Value()) == std::nullopt);
}

TEST_CASE("meta: watch events have Kubernetes' words", "[meta]") {
  CHECK(watch::EventTypeWord(watch::EventType::kAdded) == "ADDED");
  CHECK(watch::EventTypeWord(watch::EventType::kModified) == "MODIFIED");
  CHECK(watch::EventTypeWord(watch::EventType::kDeleted) == "DELETED");
  CHECK(watch::EventTypeWord(watch::EventType::kBookmark) == "BOOKMARK");
  CHECK(watch::EventTypeWord(watch::EventType::kError) == "ERROR");
  CHECK(watch::EventTypeFromWord("BOOKMARK") == watch::EventType::kBookmark);
  CHECK(watch::EventTypeFromWord("added") == std::nullopt);
}

TEST_CASE("meta: an object's PartialObjectMetadata is its metadata alone", "[meta]") {
  const runtime::KindPtr kind = runtime::Kind::Untyped({"g", "v1", "Thing"});
  runtime::Object thing(kind, "v1");
  thing.Edit("metadata", "name") = "x";
  thing.Edit("spec", "size") = 3;

  const std::unique_ptr<runtime::Object> partial = PartialObjectMetadataOf(thing);

  CHECK(JsonText(partial->root()) == R"({"metadata":{"name":"x"}})");
  CHECK(partial->gvk().ToString() == "meta.k8s.io/v1, Kind=PartialObjectMetadata");
  CHECK(partial->kind().list_kind() == "PartialObjectMetadataList");
  CHECK(PartialObjectMetadataKind()->JsonPrefix("v1") ==
        R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)");
}

TEST_CASE("meta: a bad value is printed as Go's encoder prints it", "[meta]") {
  const runtime::Value items[] = {runtime::Value::Int(-3), runtime::Value::Bool(true),
                                  runtime::Value(), runtime::Value::Double(1.5),
                                  runtime::Value::String("a\"<\n\x01")};

  CHECK(JsonText(runtime::Value::List(items)) == R"([-3,true,null,1.5,"a\"\u003c\n\u0001"])");
}

}  // namespace apiserver::inline v0::meta
