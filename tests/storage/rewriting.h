#pragma once

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/cacher/cacher.h"
#include "apiserver/storage/store/rewriter.h"
#include "apiserver/storage/store/store.h"
#include "apiserver/testing/storage/widget.h"
#include "storage/encrypted.h"

// A change of keys over any engine, while others write.
namespace apiserver::inline v0::testing {

// Objects that writers change, create and delete, each by updates that add one to a number.
class ObjectsInUse {
 public:
  static constexpr int kObjects = 60;
  static constexpr int kWriters = 3;

  ObjectsInUse(apiserver::storage::kv::Engine& engine, bool cached) : engine_(engine) {
    if (cached) {
      storage_ = apiserver::storage::cacher::New({.store = options_, .executor = pool_.get()});
    } else {
      storage_ = apiserver::storage::store::New(options_);
    }
    for (int i = 0; i < kObjects; ++i) Create("/ns/w" + std::to_string(i));
  }
  ~ObjectsInUse() {
    storage_->Stop();
    pool_->Stop();
    storage_.reset();
  }

  void StartWriters() {
    for (int i = 0; i < kWriters; ++i) {
      writers_.emplace_back("writer", [this, i] { Write(i); });
    }
    AwaitWrites(10);
  }
  // Waits until each writer has begun and ended so many writes more.
  void AwaitWrites(int count) {
    std::array<int, kWriters> wanted{};
    for (int i = 0; i < kWriters; ++i) wanted[i] = rounds_[i] + count;
    for (int i = 0; i < kWriters; ++i) {
      while (rounds_[i] < wanted[i]) (void)Notification().WaitFor(std::chrono::milliseconds(1));
    }
  }
  void StopWriters() {
    over_ = true;
    writers_.clear();
  }

  // Checks that all is there that was written, and has the key `name`.
  void Check(char name) {
    CHECK(failed_ == 0);
    keys->Set(Keys({name}));
    for (int i = 0; i < kObjects; ++i) {
      const auto object = storage_->Get(ctx_, "/ns/w" + std::to_string(i), {});
      REQUIRE(object.ok());
      CHECK((**object)["spec"]["size"].AsInt() == added_[i]);
    }
    const auto stored =
        engine_.Range(ctx_, {.key = options_.prefix + "/",
                             .end = apiserver::storage::kv::PrefixEnd(options_.prefix + "/")});
    REQUIRE(stored.ok());
    CHECK(std::cmp_equal(stored->kvs.size(), kObjects + created_ - deleted_));
    for (const auto& kv : stored->kvs) {
      CHECK(kv.value->starts_with(std::string("k8s:enc:aesgcm:v1:") + name + ":"));
    }
  }

  apiserver::storage::Interface& storage() { return *storage_; }
  const apiserver::storage::store::Options& options() const { return options_; }
  const std::shared_ptr<Switch> keys = std::make_shared<Switch>(Keys({'a'}));

 private:
  void Create(const std::string& key) {
    const auto object = NewWidget(options_.kind, key.substr(key.rfind('/') + 1));
    if (!storage_->Create(ctx_, key, *object, {}).ok()) ++failed_;
  }
  void AddOne(int index) {
    const auto updated = storage_->GuaranteedUpdate(
        ctx_, "/ns/w" + std::to_string(index), {},
        [](const runtime::ObjectPtr& current) -> Result<apiserver::storage::Update> {
          apiserver::storage::Update update{.object = current->Clone()};
          update.object->Edit("spec", "size") = (*current)["spec"]["size"].AsInt() + 1;
          return update;
        });
    updated.ok() ? ++added_[index] : ++failed_;
  }
  // One of four writes creates an object, and every other one of those is deleted.
  void Write(int writer) {
    for (int round = 0; !over_; ++round, ++rounds_[writer]) {
      if (round % 4 != 0) {
        AddOne((round * 7 + writer * 13) % kObjects);
        continue;
      }
      const std::string key = "/ns/n" + std::to_string(writer) + "-" + std::to_string(round);
      Create(key);
      ++created_;
      if (round % 8 == 0) continue;
      storage_->Delete(ctx_, key, {}, nullptr).ok() ? ++deleted_ : ++failed_;
    }
  }

  apiserver::storage::kv::Engine& engine_;
  const Context ctx_ = Context::Background();
  const std::unique_ptr<ThreadPool> pool_ = NewThreadPool({"cacher", 2});
  const apiserver::storage::store::Options options_{.engine = &engine_,
                                                    .kind = NewWidgetKind(),
                                                    .prefix = "/registry/test.example.com/widgets",
                                                    .transformer = keys};
  std::unique_ptr<apiserver::storage::Interface> storage_;
  std::array<std::atomic<int>, kObjects> added_{};
  std::array<std::atomic<int>, kWriters> rounds_{};
  std::atomic<int> created_{0};
  std::atomic<int> deleted_{0};
  std::atomic<int> failed_{0};
  std::atomic<bool> over_{false};
  std::vector<Thread> writers_;
};

// Two servers' runs rewrite what has the old key, while others write. `engine` is empty.
inline void CheckRewritingBesideWriters(apiserver::storage::kv::Engine& engine, bool cached) {
  ObjectsInUse objects(engine, cached);
  const auto ours = apiserver::storage::store::NewRewriter({.rewrites_per_second_max = 0});
  const auto theirs = apiserver::storage::store::NewRewriter({.rewrites_per_second_max = 0});
  const auto other = apiserver::storage::store::New(objects.options());
  const auto added = ours->Add(objects.options(), objects.storage());
  const auto added_there = theirs->Add(objects.options(), *other);
  objects.StartWriters();

  objects.keys->Set(Keys({'b', 'a'}));
  // A write that had taken the old key before is over then.
  objects.AwaitWrites(1);
  theirs->Start();
  apiserver::storage::store::RewriteCounts counts;
  const Status outcome = ours->Run(Context::Background(), counts);
  INFO(outcome.ToString());
  CHECK(outcome.ok());
  theirs->Stop();
  objects.AwaitWrites(1);
  objects.StopWriters();

  objects.Check('b');
}

}  // namespace apiserver::inline v0::testing
