#include "apiserver/storage/store/rewriter.h"

#include "apiserver/base/progress.h"
#include "storage/backends.h"
#include "storage/encrypted.h"

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

}  // namespace
}  // namespace apiserver::inline v0
