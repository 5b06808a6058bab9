#include "apiserver/storage/store/rewriter.h"

#include <thread>

#include "apiserver/base/progress.h"
#include "storage/backends.h"
#include "storage/encrypted.h"
#include "storage/rewriting.h"

// The job that makes stored values anew with the present key.
namespace apiserver::inline v0 {
namespace {

using storage::store::NewRewriter;
using storage::store::RewriteCounts;
using storage::store::Rewriter;
using testing::Backend;
using testing::Encrypted;
using testing::Form;
using testing::Keys;

// Keeps the reports of finished jobs.
class Finished final : public ProgressSink {
 public:
  void Report(const Progress& progress) override {
    if (!progress.finished) return;
    all_.Lock()->push_back(progress);
    all_.NotifyAll();
  }
  std::vector<Progress> Await(std::size_t count) {
    auto all = all_.Lock();
    REQUIRE(all.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                          [&] { return all->size() >= count; }));
    return *all;
  }

 private:
  Guarded<std::vector<Progress>> all_;
};

storage::store::Options OptionsOf(Encrypted& encrypted) {
  return {.engine = encrypted.backend.engine.get(),
          .kind = encrypted.backend.kind,
          .prefix = "/registry/test.example.com/widgets",
          .transformer = encrypted.keys};
}

// A storage of some objects, and a rewriter that knows it.
struct Rewritten {
  explicit Rewritten(storage::store::RewriterOptions options = {}) {
    options.progress = finished;
    options.rewrites_per_second_max = 0;
    rewriter = NewRewriter(std::move(options));
    for (const char* name : {"one", "two", "three"}) encrypted.backend.Create(name);
    added = rewriter->Add(OptionsOf(encrypted), *encrypted.backend.storage);
  }
  Status Run(const Context& ctx = Context::Background()) { return rewriter->Run(ctx, counts); }

  Encrypted encrypted{Form::kObservingCacher};
  std::shared_ptr<Finished> finished = std::make_shared<Finished>();
  std::unique_ptr<Rewriter> rewriter;
  Context::Registration added;
  RewriteCounts counts;
};

TEST_CASE("storage.store: a run looks again after it has written, and reports itself",
          "[storage.store]") {
  Rewritten rewritten;
  rewritten.encrypted.keys->Set(Keys({'b', 'a'}));

  REQUIRE(rewritten.Run().ok());
  CHECK(rewritten.counts == RewriteCounts{.looked_at = 6, .rewritten = 3});
  REQUIRE(rewritten.Run().ok());
  CHECK(rewritten.counts == RewriteCounts{.looked_at = 3});

  const std::vector<Progress> jobs = rewritten.finished->Await(2);
  CHECK(jobs[0].ToString() == "re-encryption: 6 of 6 objects");
  CHECK(jobs[1].ToString() == "re-encryption: 3 of 3 objects");
  CHECK_FALSE(jobs[1].routine);
}

TEST_CASE("storage.store: a run ends with the number of values that it has left",
          "[storage.store]") {
  Rewritten rewritten;
  rewritten.encrypted.Put("two", "k8s:enc:aesgcm:v1:z:lost");
  rewritten.encrypted.keys->Set(Keys({'b', 'a'}));

  const Status outcome = rewritten.Run();

  CHECK(outcome.reason() == Reason::kInternalError);
  CHECK(outcome.message() ==
        "left as they are: 1 value that cannot be read, 0 values that cannot be written");
  CHECK(rewritten.counts == RewriteCounts{.looked_at = 6, .rewritten = 2, .unreadable = 1});
  CHECK(rewritten.finished->Await(1)[0].failure == outcome);
}

TEST_CASE("storage.store: a run says so if somebody keeps writing with another key",
          "[storage.store]") {
  // Takes every value for one of another key than its own.
  class Stubborn final : public storage::value::Transformer {
   public:
    Result<storage::value::FromStorage> TransformFromStorage(std::string_view data,
                                                             std::string_view key) const override {
      auto read = keys_->TransformFromStorage(data, key);
      if (read.ok()) read->stale = true;
      return read;
    }
    Result<std::string> TransformToStorage(std::string_view data,
                                           std::string_view key) const override {
      return keys_->TransformToStorage(data, key);
    }

   private:
    const storage::value::TransformerPtr keys_ = Keys({'a'});
  };
  Rewritten rewritten;
  rewritten.encrypted.keys->Set(std::make_shared<Stubborn>());

  CHECK(rewritten.Run().message() ==
        "somebody keeps writing stale values: does another server use other keys?");
}

TEST_CASE("storage.store: a run looks at the resources that it concerns", "[storage.store]") {
  std::string resource;
  bool concerned = false;
  Rewritten rewritten({.concerns = [&](const runtime::GroupResource& asked) {
    resource = asked.ToString();
    return concerned;
  }});
  rewritten.encrypted.keys->Set(Keys({'b', 'a'}));

  REQUIRE(rewritten.Run().ok());
  CHECK(resource == "widgets.test.example.com");
  CHECK(rewritten.counts == RewriteCounts{});
  concerned = true;
  REQUIRE(rewritten.Run().ok());
  CHECK(rewritten.counts.rewritten == 3);
}

TEST_CASE("storage.store: each start makes a run, and so does a storage added later",
          "[storage.store]") {
  Rewritten rewritten;
  Encrypted later(Form::kStore);
  later.backend.Create("four");
  rewritten.encrypted.keys->Set(Keys({'b', 'a'}));
  later.keys->Set(Keys({'b', 'a'}));

  rewritten.rewriter->Start();
  CHECK(rewritten.finished->Await(1)[0].done == 6);
  CHECK(rewritten.encrypted.Stored("one").starts_with(testing::kWithB));
  auto added = rewritten.rewriter->Add(OptionsOf(later), *later.backend.storage);
  const Progress second = rewritten.finished->Await(2)[1];
  CHECK(second.done == 2);
  CHECK(second.routine);
  CHECK(later.Stored("four").starts_with(testing::kWithB));
  // One that has gone is not looked at.
  added.Reset();
  rewritten.rewriter->Start();
  CHECK(rewritten.finished->Await(3)[2].done == 3);
  rewritten.rewriter->Stop();
  rewritten.rewriter->Start();
  CHECK(rewritten.finished->Await(3).size() == 3);
}

TEST_CASE("storage.store: a run is left by a storage that is closed, and by a stop",
          "[storage.store]") {
  const bool stop = GENERATE(false, true);
  Rewritten rewritten;
  // A pace at which the run never ends.
  const auto slow = NewRewriter({.rewrites_per_second_max = 1, .progress = rewritten.finished});
  for (int i = 0; i < 100; ++i) rewritten.encrypted.backend.Create("w" + std::to_string(i));
  rewritten.encrypted.keys->Set(Keys({'b', 'a'}));
  auto added = slow->Add(OptionsOf(rewritten.encrypted), *rewritten.encrypted.backend.storage);
  slow->Start();
  const auto first = [&] { return rewritten.encrypted.Stored("one").starts_with(testing::kWithB); };
  while (!first()) std::this_thread::yield();

  if (stop) {
    slow->Stop();
  } else {
    added.Reset();
  }

  const Progress job = rewritten.finished->Await(1)[0];
  CHECK(job.done < 100);
  CHECK(job.failure.ok() != stop);
}

TEST_CASE("storage.store: nothing is lost of what others write while values are made anew",
          "[storage.store]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  INFO(testing::FormName(form));
  const auto engine = storage::memory::NewEngine();
  const auto remote = testing::storage::NewRemoteEngine(*engine);
  testing::CheckRewritingBesideWriters(form == Form::kFollowingCacher ? *remote : *engine,
                                       form != Form::kStore);
  engine->Stop();
}

}  // namespace
}  // namespace apiserver::inline v0
