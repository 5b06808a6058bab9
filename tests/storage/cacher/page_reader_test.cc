#include "storage/cacher/page_reader.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/storage/memory/engine.h"
#include "storage/forwarding_engine.h"

using namespace apiserver;  // NOLINT: a test.
using storage::cacher::PageReader;
namespace kv = storage::kv;

namespace {

struct Memory {
  std::unique_ptr<kv::Engine> engine = storage::memory::NewEngine();
};

// Counts the pages that are asked for; the `fail_at`th fails.
class PagedEngine final : private Memory, public testing::ForwardingEngine {
 public:
  explicit PagedEngine(int keys) : ForwardingEngine(*engine) {
    for (int i = 0; i < keys; ++i) {
      kv::TxnRequest create;
      create.key = "/p/" + std::to_string(i);
      create.value = std::make_shared<const std::string>("v");
      REQUIRE(engine->Txn(Context::Background(), create).ok());
    }
  }

  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override {
    const int asked = ++*asked_.Lock();
    asked_.NotifyAll();
    if (asked == fail_at) return Status(Reason::kServiceUnavailable, "down");
    return ForwardingEngine::Range(ctx, request);
  }
  bool Asked(int pages) {
    auto asked = asked_.Lock();
    return asked.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                           [&] { return *asked >= pages; });
  }
  int asked() const { return *asked_.Lock(); }

  int fail_at = 0;

 private:
  Guarded<int> asked_{0};
};

// Has pages of its own: one without keys, and none behind it.
class OwnPagesEngine final : private Memory, public testing::ForwardingEngine {
 public:
  OwnPagesEngine() : ForwardingEngine(*engine) {}
  std::unique_ptr<kv::Pages> ReadPages(const Context&, std::string_view prefix) override {
    CHECK(prefix == "/p/");
    return std::make_unique<OnePage>();
  }

 private:
  class OnePage final : public kv::Pages {
   public:
    Result<std::optional<kv::RangeResponse>> Next() override {
      if (std::exchange(done_, true)) return std::optional<kv::RangeResponse>();
      kv::RangeResponse page;
      page.revision = 42;
      return std::optional(page);
    }

   private:
    bool done_ = false;
  };
};

const Context kContext = Context::Background();

}  // namespace

TEST_CASE("storage.cacher: all pages are of the first one's revision", "[storage.cacher]") {
  PagedEngine engine(10'001);
  for (const bool ahead : {false, true}) {
    PageReader reader(engine, kContext, "/p/", ahead);
    CHECK(reader.revision() == 0);
    CHECK((*reader.Next())->kvs.size() == 10'000);
    CHECK(reader.revision() == 10'002);
    CHECK((*reader.Next())->kvs.size() == 1);
    CHECK_FALSE(reader.Next()->has_value());
    CHECK_FALSE(reader.Next()->has_value());
  }
}

TEST_CASE("storage.cacher: the next page is asked for while the last one is worked on",
          "[storage.cacher]") {
  PagedEngine engine(10'001);
  PageReader reader(engine, kContext, "/p/", /*ahead=*/true);
  REQUIRE(reader.Next().ok());
  CHECK(engine.Asked(2));
}

TEST_CASE("storage.cacher: an engine at hand is asked for a page when it is wanted",
          "[storage.cacher]") {
  PagedEngine engine(10'001);
  PageReader reader(engine, kContext, "/p/", /*ahead=*/false);
  REQUIRE(reader.Next().ok());
  CHECK(engine.asked() == 1);
  REQUIRE(reader.Next().ok());
  CHECK(engine.asked() == 2);
}

TEST_CASE("storage.cacher: a page that was read ahead and failed is told when it is wanted",
          "[storage.cacher]") {
  PagedEngine engine(10'001);
  engine.fail_at = 2;
  PageReader reader(engine, kContext, "/p/", /*ahead=*/true);
  CHECK(reader.Next().ok());
  CHECK(reader.Next().status() == Status(Reason::kServiceUnavailable, "down"));
}

TEST_CASE("storage.cacher: an engine that is away and has pages of its own is asked for them",
          "[storage.cacher]") {
  OwnPagesEngine engine;
  PageReader ahead(engine, kContext, "/p/", /*ahead=*/true);
  CHECK((*ahead.Next())->revision == 42);
  CHECK(ahead.revision() == 42);
  CHECK_FALSE(ahead.Next()->has_value());
  PageReader at_hand(engine, kContext, "/p/", /*ahead=*/false);
  CHECK((*at_hand.Next())->revision == 1);
}
