// Results of a conversion webhook: one call for all who want the same, kept while there is room.
#include "apiextensions/convert/cache.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

using namespace apiserver;  // NOLINT: tests only.
using apiextensions::Conversion;
using apiextensions::ConversionCache;
using apiextensions::ConversionKey;
using apiextensions::ConvertedContent;

namespace {

apiextensions::ConvertedContentPtr ContentNamed(std::string_view name) {
  auto content = std::make_shared<ConvertedContent>();
  content->root = runtime::Value::String(content->arena.Copy(name));
  return content;
}

// Makes and keeps the result of `key`.
void Keep(ConversionCache& cache, const std::string& key, bool keep = true) {
  const auto claim = cache.Take(key);
  REQUIRE(claim.leads);
  cache.Finish(key, claim, ContentNamed(key), keep);
}

std::shared_ptr<EvictingShare> ShareOf(std::size_t bytes) {
  return std::make_shared<EvictingShare>(bytes);
}

}  // namespace

TEST_CASE("conversion cache: the key tells objects, revisions and versions apart",
          "[apiextensions]") {
  const std::string key = ConversionKey(R"({"metadata":{"resourceVersion":"1"}})", "v2");
  CHECK(key == ConversionKey(R"({"metadata":{"resourceVersion":"1"}})", "v2"));
  CHECK(key != ConversionKey(R"({"metadata":{"resourceVersion":"2"}})", "v2"));
  CHECK(key != ConversionKey(R"({"metadata":{"resourceVersion":"1"}})", "v3"));
}

TEST_CASE("conversion cache: a kept result is found, an error and a passing result are not",
          "[apiextensions]") {
  ConversionCache cache(ShareOf(1 << 20));
  Keep(cache, "kept");
  const auto kept = cache.Take("kept");
  CHECK_FALSE(kept.leads);
  const auto outcome = kept.conversion->Wait(Context::Background());
  REQUIRE(outcome.has_value());
  CHECK(outcome->value()->root.AsString() == "kept");

  Keep(cache, "passing", /*keep=*/false);
  CHECK(cache.Take("passing").leads);
  const auto failing = cache.Take("failing");
  cache.Finish("failing", failing, Status(Reason::kUnknown, "down"), /*keep=*/true);
  CHECK(cache.Take("failing").leads);
}

TEST_CASE("conversion cache: without a share nothing is kept", "[apiextensions]") {
  ConversionCache cache;
  Keep(cache, "a");
  CHECK(cache.size() == 0);
  CHECK(cache.Take("a").leads);
}

TEST_CASE("conversion cache: those who wait get the outcome, also an error", "[apiextensions]") {
  ConversionCache cache(ShareOf(1 << 20));
  for (const bool succeeds : {true, false}) {
    const std::string key = succeeds ? "good" : "bad";
    const auto lead = cache.Take(key);
    REQUIRE(lead.leads);
    const auto joined = cache.Take(key);
    REQUIRE_FALSE(joined.leads);
    CHECK(joined.conversion == lead.conversion);
    std::optional<Conversion::Outcome> outcome;
    {
      Thread waits("waits", [&] { outcome = joined.conversion->Wait(Context::Background()); });
      cache.Finish(key, lead,
                   succeeds ? Conversion::Outcome(ContentNamed(key))
                            : Conversion::Outcome(Status(Reason::kUnknown, "down")),
                   /*keep=*/true);
    }
    REQUIRE(outcome.has_value());
    CHECK(outcome->ok() == succeeds);
    if (!succeeds) CHECK(outcome->status().message() == "down");
  }
}

TEST_CASE("conversion cache: whoever waits for a caller that gives up takes over",
          "[apiextensions]") {
  ConversionCache cache(ShareOf(1 << 20));
  const auto lead = cache.Take("key");
  const auto joined = cache.Take("key");
  {
    Thread waits("waits",
                 [&] { CHECK_FALSE(joined.conversion->Wait(Context::Background()).has_value()); });
    cache.GiveUp("key", lead);
  }
  const auto next = cache.Take("key");
  CHECK(next.leads);
  CHECK(next.conversion != lead.conversion);
}

TEST_CASE("conversion cache: a caller waits no longer than its own work goes on",
          "[apiextensions]") {
  ConversionCache cache(ShareOf(1 << 20));
  const auto lead = cache.Take("key");
  const auto joined = cache.Take("key");
  SECTION("cancelled") {
    const Context ctx = Context::Child(Context::Background());
    Thread waits("waits", [&] { CHECK_FALSE(joined.conversion->Wait(ctx).has_value()); });
    ctx.Cancel(Status(Reason::kTimeout, "the client left"));
  }
  SECTION("its deadline has passed") {
    const Context ctx = Context::Child(Context::Background(), RealClock().Now());
    CHECK_FALSE(joined.conversion->Wait(ctx).has_value());
  }
  CHECK_FALSE(cache.Take("key").leads);
  cache.GiveUp("key", lead);
}

TEST_CASE("conversion cache: results that are not used are forgotten first", "[apiextensions]") {
  const auto share = ShareOf(64 << 10);
  ConversionCache cache(share);
  Keep(cache, "used");
  for (int i = 0; i < 2000; ++i) {
    Keep(cache, "result " + std::to_string(i));
    CHECK_FALSE(cache.Take("used").leads);
  }
  CHECK(share->used() <= share->bytes_max());
  // Forgotten results leave the map, too.
  CHECK(cache.size() < 600);
  const auto first = cache.Take("result 0");
  CHECK(first.leads);
  cache.GiveUp("result 0", first);
  CHECK_FALSE(cache.Take("result 1999").leads);
}

TEST_CASE("conversion cache: a destroyed cache takes nothing of the share", "[apiextensions]") {
  const auto share = ShareOf(1 << 20);
  {
    ConversionCache cache(share);
    Keep(cache, "a");
    CHECK(share->used() > 0);
  }
  CHECK(share->used() == 0);
}
