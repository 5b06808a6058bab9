#include <catch2/catch.hpp>

#include "apiserver/storage/interface.h"
#include "apiserver/testing/storage/widget.h"
#include "storage/errors.h"
#include "storage/list_options.h"
#include "storage/watch_events.h"

using namespace apiserver;  // NOLINT: a test.
using storage::ContinueToken;
using storage::DecodeContinueToken;
using storage::EncodeContinueToken;

namespace {

// base64url without padding, for tokens that our encoder would never make.
std::string Encode(std::string_view json) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const unsigned char c : json) {
    bits = (bits << 8) | c;
    for (count += 8; count >= 6;) out.push_back(kDigits[(bits >> (count -= 6)) & 63]);
  }
  if (count > 0) out.push_back(kDigits[(bits << (6 - count)) & 63]);
  return out;
}

std::string Refusal(std::string_view token) {
  const auto decoded = DecodeContinueToken(token);
  REQUIRE(!decoded.ok());
  CHECK(decoded.status().reason() == Reason::kBadRequest);
  return std::string(decoded.status().message());
}

}  // namespace

TEST_CASE("storage: a continue token has Go's bytes", "[storage]") {
  CHECK(EncodeContinueToken({123, std::string("ns/one\0", 7)}) ==
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTIzLCJzdGFydCI6Im5zL29uZVx1MDAwMCJ9");
  CHECK(EncodeContinueToken({-1, "a"}) == Encode(R"({"v":"meta.k8s.io/v1","rv":-1,"start":"a"})"));
}

TEST_CASE("storage: a continue token comes back as it was", "[storage]") {
  const auto token = DecodeContinueToken(EncodeContinueToken({77, std::string("a/b\0", 4)}));
  REQUIRE(token.ok());
  CHECK(token->resource_version == 77);
  CHECK(token->start_key == std::string("a/b\0", 4));
}

TEST_CASE("storage: a start key may begin with a slash", "[storage]") {
  const auto token = DecodeContinueToken(Encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":"/a"})"));
  REQUIRE(token.ok());
  CHECK(token->start_key == "a");
}

TEST_CASE("storage: a bad continue token is refused in Go's words", "[storage]") {
  const std::string begin = "invalid continue token: continue key is not valid";
  CHECK(Refusal("!!!") == begin + ": illegal base64 data at input byte 0");
  CHECK(Refusal("a").starts_with(begin + ": illegal base64 data at input byte"));
  CHECK(Refusal("") == begin + ": unexpected end of JSON input");
  CHECK(Refusal(Encode("{")) == begin + ": unexpected end of JSON input");
  CHECK(Refusal(Encode(R"({"v":"v2","rv":1,"start":"a"})")) ==
        begin + ": server does not recognize this encoded version v2");
  CHECK(Refusal(Encode(R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})")) ==
        begin + ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  CHECK(Refusal(Encode(R"({"v":"meta.k8s.io/v1","rv":1})")) ==
        begin + ": encoded start key empty (version meta.k8s.io/v1)");
  CHECK(Refusal(Encode(R"({"v":"meta.k8s.io/v1","rv":"1","start":"a"})")) ==
        begin +
            ": json: cannot unmarshal string into Go struct field continueToken.rv of type int64");
}

TEST_CASE("storage: a continue token cannot climb out of its prefix", "[storage]") {
  for (const std::string key : {"../a", "/../a", "a/../../b", "a//b", "a/", "./a", "a/.", "//"}) {
    INFO(key);
    CHECK(Refusal(Encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":")" + key + "\"}")) ==
          "invalid continue token: continue key is not valid: " + key);
  }
}

TEST_CASE("storage: a predicate without selectors matches everything", "[storage]") {
  const auto widget = apiserver::testing::NewWidget(apiserver::testing::NewWidgetKind(), "one");
  storage::SelectionPredicate predicate;
  CHECK(predicate.empty());
  CHECK(predicate.Matches(*widget));
}

TEST_CASE("storage: a predicate needs both selectors to match", "[storage]") {
  const auto widget = apiserver::testing::NewWidget(apiserver::testing::NewWidgetKind(), "one");
  widget->Edit("metadata", "labels", "a") = "b";
  storage::SelectionPredicate predicate;
  predicate.label = *meta::LabelSelector::Parse("a=b");
  predicate.field = meta::FieldSelector::Equals("metadata.name", "one");
  CHECK(predicate.Matches(*widget));
  predicate.field = meta::FieldSelector::Equals("metadata.namespace", "other");
  CHECK(!predicate.Matches(*widget));
  predicate.field = {};
  predicate.label = *meta::LabelSelector::Parse("a!=b");
  CHECK(!predicate.Matches(*widget));
}

TEST_CASE("storage: a predicate asks for the values of other fields", "[storage]") {
  const auto widget = apiserver::testing::NewWidget(apiserver::testing::NewWidgetKind(), "one");
  storage::SelectionPredicate predicate;
  predicate.field = meta::FieldSelector::Equals("spec.color", "red");
  CHECK(!predicate.Matches(*widget));
  predicate.field_value = [](const runtime::Object&, std::string_view field) {
    return std::string(field == "spec.color" ? "red" : "");
  };
  CHECK(predicate.Matches(*widget));
}

TEST_CASE("storage: unmet preconditions are told in Go's words", "[storage]") {
  const auto widget = apiserver::testing::NewWidget(apiserver::testing::NewWidgetKind(), "one");
  widget->Edit("metadata", "resourceVersion") = "5";
  meta::Preconditions wanted;
  CHECK(storage::CheckPreconditions("/k", wanted, widget.get()).ok());
  wanted.uid = "other";
  CHECK(storage::CheckPreconditions("/k", wanted, widget.get()).message() ==
        "StorageError: invalid object, Code: 4, Key: /k, ResourceVersion: 0, AdditionalErrorMsg: "
        "Precondition failed: UID in precondition: other, UID in object meta: uid-one");
  wanted.uid = "uid-one";
  wanted.resource_version = "4";
  CHECK(storage::CheckPreconditions("/k", wanted, widget.get()).message() ==
        "StorageError: invalid object, Code: 4, Key: /k, ResourceVersion: 0, AdditionalErrorMsg: "
        "Precondition failed: ResourceVersion in precondition: 4, ResourceVersion in object meta: "
        "5");
}

TEST_CASE("storage: keys that could leave the prefix are refused", "[storage]") {
  CHECK(*storage::PrepareKey("/p", "/ns", true) == "/p/ns/");
  CHECK(*storage::PrepareKey("/p", "", true) == "/p/");
  CHECK(*storage::PrepareKey("/p", "ns/one", false) == "/p/ns/one");
  for (const std::string key : {"..", "../a", "a/..", "a/../b", ".", "./a", "a/.", "a/./b"}) {
    INFO(key);
    CHECK(storage::PrepareKey("/p", key, false).status().message() ==
          "invalid key: \"" + key + "\"");
  }
  CHECK(storage::PrepareKey("/p", "/", false).status().message() == "empty key: \"/\"");
}

TEST_CASE("storage: bookmarks come once an interval and before the deadline", "[storage]") {
  using std::chrono::seconds;
  const Clock::Monotonic now{seconds(1000)};
  storage::BookmarkTimes often(seconds(60), std::nullopt);
  often.Schedule(now);
  CHECK(often.next() == now + seconds(60));
  storage::BookmarkTimes ending(seconds(60), now + seconds(30));
  ending.Schedule(now);
  CHECK(ending.next() == now + seconds(28));
  ending.Schedule(now + seconds(28));
  CHECK(ending.next() == now + seconds(88));
}
