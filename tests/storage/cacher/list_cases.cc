#include "storage/backends.h"

// Lists over every form of storage: RunTestList* of
// k8s.io/apiserver/pkg/storage/testing/store_tests.go.
using namespace apiserver;  // NOLINT: a test.
using meta::ResourceVersionMatch;
using storage::ListOptions;
using testing::NamesOf;

namespace {

ListOptions At(std::string rv, ResourceVersionMatch match = ResourceVersionMatch::kUnset,
               std::int64_t limit = 0) {
  ListOptions options;
  options.resource_version = std::move(rv);
  options.match = match;
  options.limit = limit;
  return options;
}

ListOptions Page(std::int64_t limit, std::string token = "") {
  ListOptions options;
  options.limit = limit;
  options.continue_token = std::move(token);
  return options;
}

ListOptions WithLabels(ListOptions options, std::string_view labels) {
  options.predicate.label = *meta::LabelSelector::Parse(labels);
  return options;
}

// a..e in "ns" at revisions 2..6; b, d red, the others blue.
void Fill(testing::Backend& backend) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    backend.Create(name, "ns", name[0] % 2 == 0 ? "red" : "blue");
  }
  // Every form has seen them, also one that follows a moment later.
  REQUIRE(backend.List().ok());
}

}  // namespace

TEST_CASE("storage.Interface: an empty list has a resource version", "[storage]") {
  FOR_EVERY_FORM();
  const auto list = backend.List();
  REQUIRE(list.ok());
  CHECK(list->items.empty());
  CHECK(list->resource_version == "1");
  CHECK(list->continue_token.empty());
  CHECK(!list->remaining_item_count);
}

TEST_CASE("storage.Interface: a list is ordered by key", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("b", "y");
  backend.Create("c", "x");
  backend.Create("a", "y");
  CHECK(NamesOf(backend.List()) == "c a b");
  CHECK(backend.List()->resource_version == "4");
}

TEST_CASE("storage.Interface: a list of a namespace holds only that one's", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a", "ns");
  backend.Create("b", "ns2");
  backend.Create("c", "n");
  CHECK(NamesOf(backend.List({}, "/ns/")) == "a");
  CHECK(NamesOf(backend.List({}, "/ns")) == "a");
  CHECK(NamesOf(backend.List({}, "/n/")) == "c");
}

TEST_CASE("storage.Interface: a list that is not recursive holds one object", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a");
  backend.Create("ab");
  ListOptions options;
  options.recursive = false;
  CHECK(NamesOf(backend.List(options, "/ns/a")) == "a");
  CHECK(NamesOf(backend.List(options, "/ns/b")).empty());
  options.predicate.field = meta::FieldSelector::Equals("metadata.name", "other");
  CHECK(NamesOf(backend.List(options, "/ns/a")).empty());
  options.predicate = {};
  options.resource_version = "2";
  options.match = ResourceVersionMatch::kExact;
  CHECK(NamesOf(backend.List(options, "/ns/ab")).empty());
}

TEST_CASE("storage.Interface: a consistent list sees every acknowledged write", "[storage]") {
  FOR_EVERY_FORM();
  for (int i = 0; i < 20; ++i) {
    backend.Create("a" + std::to_string(i));
    CHECK(backend.List()->items.size() == static_cast<std::size_t>(i + 1));
  }
}

TEST_CASE("storage.Interface: selectors filter a list", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  CHECK(NamesOf(backend.List(WithLabels({}, "color=red"))) == "b d");
  ListOptions options = WithLabels({}, "color=blue");
  options.predicate.field = meta::FieldSelector::Equals("metadata.name", "c");
  CHECK(NamesOf(backend.List(options)) == "c");
}

TEST_CASE("storage.Interface: a list is cut into pages of one revision", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto first = backend.List(Page(2));
  CHECK(NamesOf(first) == "a b");
  CHECK(first->resource_version == "6");
  CHECK(first->remaining_item_count == 3);
  CHECK(storage::DecodeContinueToken(first->continue_token)->start_key == std::string("ns/b\0", 5));
  REQUIRE(backend.Delete("d").ok());
  backend.Create("bb");
  const auto second = backend.List(Page(2, first->continue_token));
  CHECK(NamesOf(second) == "c d");
  CHECK(second->resource_version == "6");
  CHECK(second->remaining_item_count == 1);
  const auto third = backend.List(Page(2, second->continue_token));
  CHECK(NamesOf(third) == "e");
  CHECK(third->continue_token.empty());
  CHECK(!third->remaining_item_count);
}

TEST_CASE("storage.Interface: a page that holds all has no token", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto list = backend.List(Page(5));
  CHECK(NamesOf(list) == "a b c d e");
  CHECK(list->continue_token.empty());
}

TEST_CASE("storage.Interface: pages of a selective list are filled", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto first = backend.List(WithLabels(Page(2), "color=blue"));
  CHECK(NamesOf(first) == "a c");
  // Selectors hide how many are left.
  CHECK(!first->remaining_item_count);
  const auto second = backend.List(WithLabels(Page(2, first->continue_token), "color=blue"));
  CHECK(NamesOf(second) == "e");
  CHECK(second->continue_token.empty());
}

TEST_CASE("storage.Interface: a rare object is found behind many others", "[storage]") {
  FOR_EVERY_FORM();
  for (int i = 100; i < 150; ++i) backend.Create("a" + std::to_string(i));
  backend.Create("z", "ns", "red");
  const auto list = backend.List(WithLabels(Page(1), "color=red"));
  CHECK(NamesOf(list) == "z");
  CHECK(list->continue_token.empty());
}

TEST_CASE("storage.Interface: an exact list shows the past", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  REQUIRE(backend.Delete("a").ok());
  REQUIRE(backend.Resize("b", 9).ok());
  const auto list = backend.List(At("3", ResourceVersionMatch::kExact));
  CHECK(NamesOf(list) == "a b");
  CHECK(list->resource_version == "3");
  CHECK(list->items[1]->resource_version() == "3");
  CHECK(NamesOf(backend.List(At("7", ResourceVersionMatch::kExact))) == "b c d e");
}

TEST_CASE("storage.Interface: a limit with a revision is an exact list", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto list = backend.List(At("3", ResourceVersionMatch::kUnset, 1));
  CHECK(NamesOf(list) == "a");
  CHECK(list->resource_version == "3");
  CHECK(list->remaining_item_count == 1);
}

TEST_CASE("storage.Interface: not older than a revision is the state now", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto list = backend.List(At("3", ResourceVersionMatch::kNotOlderThan));
  CHECK(NamesOf(list) == "a b c d e");
  CHECK(NamesOf(backend.List(At("6"))) == "a b c d e");
  CHECK(NamesOf(backend.List(At("3", ResourceVersionMatch::kNotOlderThan, 2))) == "a b");
}

TEST_CASE("storage.Interface: a list of a future revision is too large", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  for (const auto match : {ResourceVersionMatch::kExact, ResourceVersionMatch::kNotOlderThan,
                           ResourceVersionMatch::kUnset}) {
    const auto list = backend.List(At("1000", match));
    CHECK(list.status().reason() == Reason::kTimeout);
    CHECK(list.status().message() == "Timeout: Too large resource version: 1000, current: 6");
  }
}

TEST_CASE("storage.Interface: a list refuses bad versions and tokens", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  CHECK(backend.List(At("abc")).status().reason() == Reason::kBadRequest);
  CHECK(backend.List(Page(1, "!")).status().message() ==
        "invalid continue token: continue key is not valid: illegal base64 data at input byte 0");
  ListOptions both = Page(1, storage::EncodeContinueToken({3, "ns/a"}));
  both.resource_version = "3";
  CHECK(backend.List(both).status().message() ==
        "specifying resource version is not allowed when using continue");
}

TEST_CASE("storage.Interface: a list of a compacted revision has expired", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  backend.Compact("5");
  const auto list = backend.List(At("3", ResourceVersionMatch::kExact));
  CHECK(list.status() ==
        Status(Reason::kExpired, "The resourceVersion for the provided list is too old."));
}

TEST_CASE("storage.Interface: an expired token comes with one that goes on now", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto first = backend.List(Page(2));
  REQUIRE(backend.Delete("c").ok());
  backend.Create("f");
  backend.Compact("8");
  const auto expired = backend.List(Page(2, first->continue_token));
  REQUIRE(expired.status().reason() == Reason::kExpired);
  CHECK(expired.status().message().find("use the continue token in this response") !=
        std::string::npos);
  const std::string fresh(expired.status().continue_token());
  CHECK(storage::DecodeContinueToken(fresh)->resource_version == -1);
  const auto rest = backend.List(Page(2, fresh));
  CHECK(NamesOf(rest) == "d e");
  CHECK(rest->resource_version == "8");
  CHECK(NamesOf(backend.List(Page(2, rest->continue_token))) == "f");
}

TEST_CASE("storage.Interface: a list of any revision may ask with zero", "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  const auto list = backend.List(At("0"));
  REQUIRE(list.ok());
  CHECK(list->resource_version != "0");
}

TEST_CASE("storage.Interface: a token of another namespace's list stays in the own one",
          "[storage]") {
  FOR_EVERY_FORM();
  Fill(backend);
  backend.Create("x", "other");
  const auto list = backend.List(Page(10, storage::EncodeContinueToken({-1, "ns/d"})), "/other/");
  REQUIRE(list.ok());
  CHECK(NamesOf(list) == "x");
}
