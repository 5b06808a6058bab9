#include "storage/store/stale_walk.h"

#include "storage/backends.h"
#include "storage/encrypted.h"
#include "storage/forwarding_engine.h"

// Stored values that are made anew with the present key.
namespace apiserver::inline v0 {
namespace {

using storage::store::RewriteCounts;
using testing::Backend;
using testing::Encrypted;
using testing::Form;
using testing::Keys;

// A walk over the values of a storage.
struct Walked {
  explicit Walked(Encrypted& encrypted, storage::kv::Engine* engine = nullptr)
      : encrypted_(encrypted), engine_(engine) {}

  Status Walk(const Context& ctx = Context::Background()) {
    Backend& backend = encrypted_.backend;
    const storage::store::Options store{
        .engine = engine_ != nullptr ? engine_ : backend.engine.get(),
        .kind = backend.kind,
        .prefix = "/registry/test.example.com/widgets",
        .transformer = encrypted_.keys};
    storage::store::Pace pace(0, RealClock());
    counts = {};
    return storage::store::WalkStale(
        ctx, {.store = store,
              .storage = *backend.storage,
              .page_objects_max = 3,
              .pace = pace,
              .counts = counts,
              .on_value = [this] { ++values; },
              .on_left = [this](const std::string& key,
                                const Status& why) { left.push_back(key + ": " + why.ToString()); },
              .on_failure = [this](const Status& why) { failures.push_back(why.ToString()); }});
  }

  RewriteCounts counts;
  std::size_t values = 0;
  std::vector<std::string> left;
  std::vector<std::string> failures;

 private:
  Encrypted& encrypted_;
  storage::kv::Engine* const engine_;
};

std::string NameOf(int i) { return "w" + std::to_string(100 + i); }

TEST_CASE("storage.store: a walk writes what has an older key, as a replace does",
          "[storage.store]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  INFO(testing::FormName(form));
  Encrypted encrypted(form);
  Backend& backend = encrypted.backend;
  std::string last;
  for (int i = 0; i < 10; ++i) last = backend.Create(NameOf(i))->resource_version();
  auto watch = backend.WatchFrom(last);
  encrypted.keys->Set(Keys({'b', 'a'}));
  const auto resized = backend.Resize(NameOf(4), 7);
  REQUIRE(resized.ok());

  Walked walked(encrypted);
  REQUIRE(walked.Walk().ok());

  CHECK(walked.counts == RewriteCounts{.looked_at = 10, .rewritten = 9});
  CHECK(walked.values == 10);
  CHECK(walked.left.empty());
  // The old key is not needed any more.
  encrypted.keys->Set(Keys({'b'}));
  const std::int64_t before = std::stoll(std::string((*resized)->resource_version()));
  CHECK(watch.NextText() == "MODIFIED " + NameOf(4) + " " + std::to_string(before));
  for (int i = 0, nth = 1; i < 10; ++i) {
    CHECK(encrypted.Stored(NameOf(i)).starts_with(testing::kWithB));
    if (i == 4) continue;
    CHECK(watch.NextText() == "MODIFIED " + NameOf(i) + " " + std::to_string(before + nth++));
  }
  CHECK((**backend.Get(NameOf(4)))["spec"]["size"].AsInt() == 7);
}

TEST_CASE("storage.store: a walk writes nothing where nothing is stale", "[storage.store]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  Encrypted encrypted(form);
  Walked walked(encrypted);
  REQUIRE(walked.Walk().ok());
  CHECK(walked.counts == RewriteCounts{});
  for (int i = 0; i < 7; ++i) encrypted.backend.Create(NameOf(i));
  const auto before = encrypted.backend.engine->CurrentRevision(encrypted.backend.ctx);

  REQUIRE(walked.Walk().ok());

  CHECK(walked.counts == RewriteCounts{.looked_at = 7});
  CHECK(*encrypted.backend.engine->CurrentRevision(encrypted.backend.ctx) == *before);
}

TEST_CASE("storage.store: a walk leaves what it cannot read, and goes on", "[storage.store]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  Encrypted encrypted(form);
  for (int i = 0; i < 5; ++i) encrypted.backend.Create(NameOf(i));
  const std::string lost = "k8s:enc:aesgcm:v1:z:whatever";
  encrypted.Put(NameOf(2), lost);
  encrypted.keys->Set(Keys({'b', 'a'}));

  Walked walked(encrypted);
  REQUIRE(walked.Walk().ok());

  CHECK(walked.counts == RewriteCounts{.looked_at = 5, .rewritten = 4, .unreadable = 1});
  REQUIRE(walked.left.size() == 1);
  CHECK(walked.left[0].starts_with(Encrypted::FullKey(NameOf(2)) + ": "));
  CHECK(walked.left[0].ends_with("no matching prefix found"));
  CHECK(encrypted.Stored(NameOf(2)) == lost);
  CHECK(encrypted.Stored(NameOf(4)).starts_with(testing::kWithB));
}

TEST_CASE("storage.store: a walk that is cancelled leaves the rest to the next",
          "[storage.store]") {
  // Cancels before the fifth page is read.
  class Ends final : public testing::ForwardingEngine {
   public:
    using ForwardingEngine::ForwardingEngine;
    Result<storage::kv::RangeResponse> Range(const Context& ctx,
                                             const storage::kv::RangeRequest& request) override {
      if (++pages == 5) ctx.Cancel({Reason::kServiceUnavailable, "enough"});
      return ForwardingEngine::Range(ctx, request);
    }
    int pages = 0;
  };
  Encrypted encrypted(Form::kObservingCacher);
  for (int i = 0; i < 20; ++i) encrypted.backend.Create(NameOf(i));
  encrypted.keys->Set(Keys({'b', 'a'}));
  Ends engine(*encrypted.backend.engine);

  Walked first(encrypted, &engine);
  const Status ended = first.Walk(Context::Child(Context::Background()));
  Walked second(encrypted);
  REQUIRE(second.Walk().ok());

  CHECK(ended.message() == "enough");
  CHECK(first.counts == RewriteCounts{.looked_at = 12, .rewritten = 12});
  CHECK(second.counts == RewriteCounts{.looked_at = 20, .rewritten = 8});
}

TEST_CASE("storage.store: a walk waits for an engine that does not answer", "[storage.store]") {
  class Fails final : public testing::ForwardingEngine {
   public:
    using ForwardingEngine::ForwardingEngine;
    Result<storage::kv::RangeResponse> Range(const Context& ctx,
                                             const storage::kv::RangeRequest& request) override {
      if (++pages == 2) return Status(Reason::kServiceUnavailable, "away");
      return ForwardingEngine::Range(ctx, request);
    }
    int pages = 0;
  };
  Encrypted encrypted(Form::kStore);
  for (int i = 0; i < 5; ++i) encrypted.backend.Create(NameOf(i));
  encrypted.keys->Set(Keys({'b', 'a'}));
  Fails engine(*encrypted.backend.engine);

  Walked walked(encrypted, &engine);
  REQUIRE(walked.Walk().ok());

  CHECK(walked.failures == std::vector<std::string>{"ServiceUnavailable: away"});
  CHECK(walked.counts == RewriteCounts{.looked_at = 5, .rewritten = 5});
}

// A kind that is stored in one of two versions.
runtime::KindPtr StoredIn(const std::string& storage_version) {
  const auto version = [](const std::string& name) {
    return runtime::KindVersion{.version = name,
                                .schema = runtime::StructBuilder("test.Widget." + name)
                                              .Field("metadata", runtime::ObjectMetaSchema())
                                              .Build()};
  };
  return runtime::Kind::New({.group = "test.example.com",
                             .kind = "Widget",
                             .plural = "widgets",
                             .versions = {version("v1"), version("v2")},
                             .storage_version = storage_version})
      .value();
}

TEST_CASE("storage.store: a walk writes what is not in the storage version", "[storage.store]") {
  const auto engine = storage::memory::NewEngine();
  storage::store::Options options{.engine = engine.get(), .kind = StoredIn("v1"), .prefix = "/w"};
  const Context ctx = Context::Background();
  const auto widget = testing::NewWidget(options.kind, "one");
  REQUIRE(storage::store::New(options)->Create(ctx, "/ns/one", *widget, {}).ok());
  options.kind = StoredIn("v2");
  const auto storage = storage::store::New(options);
  storage::store::Pace pace(0, RealClock());
  RewriteCounts counts;

  for (int i = 0; i < 2; ++i) {
    REQUIRE(storage::store::WalkStale(ctx, {.store = options,
                                            .storage = *storage,
                                            .page_objects_max = 10,
                                            .pace = pace,
                                            .counts = counts,
                                            .on_value = [] {},
                                            .on_left = [](const auto&, const auto&) {},
                                            .on_failure = [](const auto&) {}})
                .ok());
  }

  CHECK(counts == RewriteCounts{.looked_at = 2, .rewritten = 1});
  const auto stored = engine->Range(ctx, {.key = "/w/ns/one"});
  REQUIRE(stored.ok());
  CHECK(stored->kvs.at(0).value->find("test.example.com/v2") != std::string::npos);
}

}  // namespace
}  // namespace apiserver::inline v0
