#include "apiserver/testing/storage/storage_conformance.h"

#include <utility>

#include "apiserver/storage/cacher/cacher.h"
#include "apiserver/storage/store/store.h"
#include "testing/storage/run_case.h"
#include "testing/storage/storage_subject.h"

namespace apiserver::v0::testing::storage {
namespace {

namespace storage = apiserver::storage;

storage::store::Options StoreOptions(const StorageSetup& setup) {
  storage::store::Options options;
  options.engine = setup.engine;
  options.kind = setup.kind;
  options.prefix = setup.prefix;
  options.clock = setup.clock;
  return options;
}

std::unique_ptr<storage::Interface> NewCacher(const StorageSetup& setup, kv::Engine* engine) {
  storage::cacher::Options options;
  options.store = StoreOptions(setup);
  // Not the setup's engine, which the remote one hides.
  options.store.engine = engine;
  options.executor = setup.executor;
  options.fresh_wait = setup.fresh_wait;
  options.bookmark_interval = setup.bookmark_interval;
  return storage::cacher::New(std::move(options));
}

// A cacher together with the engine that looks remote to it, which must live as long.
class RemoteCacher final : public storage::Interface {
 public:
  explicit RemoteCacher(const StorageSetup& setup)
      : engine_(NewRemoteEngine(*setup.engine)), cacher_(NewCacher(setup, engine_.get())) {}

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                    const runtime::Object& object,
                                    std::chrono::seconds ttl) override {
    return cacher_->Create(ctx, key, object, ttl);
  }
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                 const GetOptions& options) override {
    return cacher_->Get(ctx, key, options);
  }
  Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                const ListOptions& options) override {
    return cacher_->GetList(ctx, key, options);
  }
  Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                              const UpdateOptions& options,
                                              const storage::TryUpdate& try_update) override {
    return cacher_->GuaranteedUpdate(ctx, key, options, try_update);
  }
  Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                    const UpdateOptions& options,
                                    const storage::ValidateDeletion& validate) override {
    return cacher_->Delete(ctx, key, options, validate);
  }
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                               const ListOptions& options) override {
    return cacher_->Watch(ctx, key, options);
  }
  Result<std::size_t> Count(const Context& ctx, std::string_view key) override {
    return cacher_->Count(ctx, key);
  }
  Result<std::int64_t> CurrentResourceVersion(const Context& ctx) override {
    return cacher_->CurrentResourceVersion(ctx);
  }
  std::optional<storage::Stats> GetStats() const override { return cacher_->GetStats(); }
  Status Ready() const override { return cacher_->Ready(); }
  bool AnswersInline() const override { return cacher_->AnswersInline(); }
  void WhenFresh(const Context& ctx, FreshDone done) override {
    cacher_->WhenFresh(ctx, std::move(done));
  }
  void Stop() override { cacher_->Stop(); }

 private:
  std::unique_ptr<kv::Engine> engine_;
  std::unique_ptr<storage::Interface> cacher_;
};

}  // namespace

StorageHost StoreHost(EngineHost::Open open_engine) {
  return {std::move(open_engine), [](const StorageSetup& setup) {
            return Result<std::unique_ptr<storage::Interface>>(
                storage::store::New(StoreOptions(setup)));
          }};
}

StorageHost CacherHost(EngineHost::Open open_engine, bool observed) {
  return {std::move(open_engine), [observed](const StorageSetup& setup) {
            std::unique_ptr<storage::Interface> cacher;
            if (observed) {
              cacher = NewCacher(setup, setup.engine);
            } else {
              cacher = std::make_unique<RemoteCacher>(setup);
            }
            return Result<std::unique_ptr<storage::Interface>>(std::move(cacher));
          }};
}

std::vector<StorageCase> StorageCases() {
  std::vector<StorageCase> cases;
  for (const StorageCaseTable& table :
       {StorageObjectCases(), StorageDeleteCases(), StorageListCases(), StorageWatchCases(),
        StorageBookmarkCases(), StorageDamageCases()}) {
    for (const StorageCaseRow& row : table) {
      cases.push_back({row.name, row.upstream,
                       [run = row.run](const StorageHost& host) { return RunCase(host, run); }});
    }
  }
  return cases;
}

}  // namespace apiserver::v0::testing::storage
