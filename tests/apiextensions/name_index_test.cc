// Names within a group: who gets which, and who waits for it. Go: naming_controller_test.go.
#include "apiextensions/control/name_index.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace apiserver::inline v0::apiextensions {
namespace {

Names NamesFor(const std::string& plural, const std::string& singular, const std::string& kind,
               const std::string& list_kind, std::vector<std::string> short_names = {}) {
  return {.plural = plural,
          .singular = singular,
          .short_names = std::move(short_names),
          .kind = kind,
          .list_kind = list_kind};
}

Facts Definition(const std::string& name, Names requested, Names accepted = {},
                 const std::string& group = "bravo.com") {
  Facts facts;
  facts.name = name;
  facts.group = group;
  facts.requested = std::move(requested);
  facts.accepted = std::move(accepted);
  return facts;
}

const Names kAlfa = NamesFor("alfa", "delta-singular", "echo-kind", "foxtrot-listkind",
                             {"golf-shortname-1", "hotel-shortname-2"});

TEST_CASE("apiextensions: the first definition of a group gets its names", "[apiextensions]") {
  NameIndex index;
  const auto verdict = index.Judge(Definition("alfa.bravo.com", kAlfa));
  CHECK(verdict.all);
  CHECK(verdict.accepted == kAlfa);
  CHECK(verdict.reason == "NoConflicts");
  CHECK(verdict.message == "no conflicts found");
}

// What another definition of the group has, and what that makes of the one that comes.
struct Conflict {
  std::string title;
  Names others;
  Names accepted;
  std::string reason;
  std::string message;
};

const std::vector<Conflict>& Conflicts() {
  static const std::vector<Conflict> conflicts = {
      {"different resource and kind", NamesFor("", "delta-singular", "echo-kind", ""),
       NamesFor("alfa", "", "", "foxtrot-listkind", {"golf-shortname-1", "hotel-shortname-2"}),
       "KindConflict", R"("echo-kind" is already in use)"},
      {"conflict on kind and list kind",
       NamesFor("india", "juliet", "foxtrot-listkind", "echo-kind"),
       NamesFor("alfa", "delta-singular", "", "", {"golf-shortname-1", "hotel-shortname-2"}),
       "ListKindConflict", R"("foxtrot-listkind" is already in use)"},
      {"conflict on plural", NamesFor("india", "juliet", "", "", {"alfa"}),
       NamesFor("", "delta-singular", "echo-kind", "foxtrot-listkind",
                {"golf-shortname-1", "hotel-shortname-2"}),
       "PluralConflict", R"("alfa" is already in use)"},
      {"conflict on singular", NamesFor("india", "delta-singular", "", ""),
       NamesFor("alfa", "", "echo-kind", "foxtrot-listkind",
                {"golf-shortname-1", "hotel-shortname-2"}),
       "SingularConflict", R"("delta-singular" is already in use)"},
      {"conflict on one short name", NamesFor("india", "juliet", "", "", {"hotel-shortname-2"}),
       NamesFor("alfa", "delta-singular", "echo-kind", "foxtrot-listkind"), "ShortNamesConflict",
       R"("hotel-shortname-2" is already in use)"},
      {"conflict on all short names", NamesFor("golf-shortname-1", "hotel-shortname-2", "", ""),
       NamesFor("alfa", "delta-singular", "echo-kind", "foxtrot-listkind"), "ShortNamesConflict",
       R"(["golf-shortname-1" is already in use, "hotel-shortname-2" is already in use])"},
  };
  return conflicts;
}

TEST_CASE("apiextensions: a name that is in use is not accepted", "[apiextensions]") {
  for (const Conflict& conflict : Conflicts()) {
    INFO(conflict.title);
    NameIndex index;
    index.Set(Definition("other.bravo.com", conflict.others, conflict.others));
    const auto verdict = index.Judge(Definition("alfa.bravo.com", kAlfa));
    CHECK_FALSE(verdict.all);
    CHECK(verdict.accepted == conflict.accepted);
    CHECK(verdict.reason == conflict.reason);
    CHECK(verdict.message == conflict.message);
  }
}

TEST_CASE("apiextensions: names of another group are in nobody's way", "[apiextensions]") {
  NameIndex index;
  index.Set(Definition("alfa.other.com", kAlfa, kAlfa, "other.com"));
  CHECK(index.Judge(Definition("alfa.bravo.com", kAlfa)).all);
}

TEST_CASE("apiextensions: names that are requested but not accepted take nothing",
          "[apiextensions]") {
  NameIndex index;
  index.Set(Definition("other.bravo.com", kAlfa));
  CHECK(index.Judge(Definition("alfa.bravo.com", kAlfa)).all);
}

TEST_CASE("apiextensions: a definition keeps the names it has got", "[apiextensions]") {
  NameIndex index;
  index.Set(Definition("alfa.bravo.com", kAlfa, kAlfa));
  CHECK(index.Judge(Definition("alfa.bravo.com", kAlfa, kAlfa)).all);
  // What it asks for instead, and another one has, is not accepted: the old name stays.
  Names others = NamesFor("mike", "november", "Oscar", "OscarList");
  index.Set(Definition("mike.bravo.com", others, others));
  Names wanted = kAlfa;
  wanted.singular = "november";
  wanted.categories = {"all"};
  const auto verdict = index.Judge(Definition("alfa.bravo.com", wanted, kAlfa));
  CHECK_FALSE(verdict.all);
  CHECK(verdict.accepted.singular == "delta-singular");
  // Categories are nobody's own.
  CHECK(verdict.accepted.categories == std::vector<std::string>{"all"});
}

TEST_CASE("apiextensions: resources and kinds do not conflict with each other", "[apiextensions]") {
  NameIndex index;
  const Names others = NamesFor("echo-kind", "foxtrot-listkind", "alfa", "delta-singular");
  index.Set(Definition("other.bravo.com", others, others));
  CHECK(index.Judge(Definition("alfa.bravo.com", kAlfa)).all);
}

TEST_CASE("apiextensions: who waits for a name is told when it is free", "[apiextensions]") {
  NameIndex index;
  const Names first = NamesFor("firsts", "shared", "First", "FirstList");
  const Names second = NamesFor("seconds", "shared", "Second", "SecondList");
  const Names third = NamesFor("thirds", "third", "Third", "ThirdList");
  index.Set(Definition("firsts.bravo.com", first, first));
  index.Set(Definition("thirds.bravo.com", third, third));
  REQUIRE_FALSE(index.Judge(Definition("seconds.bravo.com", second)).all);
  const std::vector<std::string> nobody;
  const std::vector<std::string> waiting = {"seconds.bravo.com"};

  CHECK(index.Remove("thirds.bravo.com") == nobody);
  SECTION("its owner goes") { CHECK(index.Remove("firsts.bravo.com") == waiting); }
  SECTION("its owner takes another one") {
    Names other = first;
    other.singular = "first";
    CHECK(index.Set(Definition("firsts.bravo.com", other, other)) == waiting);
  }
  CHECK(index.Judge(Definition("seconds.bravo.com", second)).all);
  // Whoever has got it waits no more.
  index.Set(Definition("seconds.bravo.com", second, second));
  CHECK(index.Remove("seconds.bravo.com") == nobody);
}

TEST_CASE("apiextensions: who waits and goes is not told", "[apiextensions]") {
  NameIndex index;
  const Names first = NamesFor("firsts", "shared", "First", "FirstList");
  index.Set(Definition("firsts.bravo.com", first, first));
  const Names second = NamesFor("seconds", "shared", "Second", "SecondList");
  REQUIRE_FALSE(index.Judge(Definition("seconds.bravo.com", second)).all);
  CHECK(index.Remove("seconds.bravo.com").empty());
  CHECK(index.Remove("firsts.bravo.com").empty());
}

TEST_CASE("apiextensions: an owner of a name twice frees it once both are gone",
          "[apiextensions]") {
  NameIndex index;
  const Names twice = NamesFor("same", "same", "Same", "SameList", {"same"});
  CHECK(index.Judge(Definition("same.bravo.com", twice)).all);
  index.Set(Definition("same.bravo.com", twice, twice));
  CHECK(index.Judge(Definition("same.bravo.com", twice, twice)).all);
  const Names other = NamesFor("others", "same", "Other", "OtherList");
  CHECK_FALSE(index.Judge(Definition("others.bravo.com", other)).all);
  CHECK(index.Remove("same.bravo.com") == std::vector<std::string>{"others.bravo.com"});
}

}  // namespace
}  // namespace apiserver::inline v0::apiextensions
