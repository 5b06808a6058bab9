#pragma once

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/meta/watch.h"
#include "apiserver/storage/cacher/cacher.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/storage/store/store.h"
#include "apiserver/testing/storage/storage_conformance.h"
#include "apiserver/testing/storage/widget.h"

// apiserver::storage::Interface in its forms, and a watch that a test can wait on.
namespace apiserver::inline v0::testing {

enum class Form { kStore, kObservingCacher, kFollowingCacher };

inline std::string FormName(Form form) {
  switch (form) {
    case Form::kStore:
      return "store";
    case Form::kObservingCacher:
      return "observing cacher";
    case Form::kFollowingCacher:
      return "following cacher";
  }
  return "";
}

// Reads a watch from a test's thread.
class WatchReader {
 public:
  explicit WatchReader(std::unique_ptr<watch::Stream> stream)
      : stream_(std::move(stream)),
        pool_(NewThreadPool({"watch", 1})),
        bell_(std::make_shared<Bell>()) {}
  ~WatchReader() {
    stream_.reset();
    pool_->Stop();
  }

  // The next event; nullopt: the watch is over. Fails the test when nothing comes.
  std::optional<watch::Event> Next() {
    const auto deadline = RealClock().Now() + std::chrono::seconds(60);
    while (next_ == events_.size()) {
      events_.clear();
      next_ = 0;
      if (over_) return std::nullopt;
      const auto state = stream_->Next(events_, 100, Waker(*pool_, bell_));
      over_ = state == watch::Stream::State::kEnd;
      if (!events_.empty() || state != watch::Stream::State::kWait) continue;
      auto rung = bell_->rung.Lock();
      if (!rung.WaitUntil(deadline, [&] { return *rung; })) FAIL("no event came");
      *rung = false;
    }
    return events_[next_++];
  }
  // "ADDED one 5", "BOOKMARK  7", "BOOKMARK-END  7", "ERROR Expired".
  std::string NextText() {
    const auto event = Next();
    if (!event) return "END";
    std::string text(watch::EventTypeWord(event->type));
    if (event->type == watch::EventType::kError) {
      return text + " " + std::string(ReasonWord(event->error.reason()));
    }
    if (event->initial_events_end) text += "-END";
    text += " " + std::string(event->object != nullptr ? event->object->name() : "");
    return text + " " + event->resource_version;
  }
  // Whether everything has been read, and there is nothing new; the watch then waits.
  bool Waits() {
    events_.clear();
    next_ = 0;
    const auto state = stream_->Next(events_, 100, Waker(*pool_, bell_));
    return state == watch::Stream::State::kWait && events_.empty();
  }
  // Returns the events that are ready.
  std::vector<watch::Event> Ready() {
    std::vector<watch::Event> events;
    while (stream_->Next(events, 1000, Waker()) == watch::Stream::State::kMore) {
    }
    return events;
  }

 private:
  struct Bell final : Wakeable {
    void OnWake() override {
      *rung.Lock() = true;
      rung.NotifyAll();
    }
    Guarded<bool> rung{false};
  };
  std::unique_ptr<watch::Stream> stream_;
  std::unique_ptr<ThreadPool> pool_;
  std::shared_ptr<Bell> bell_;
  std::vector<watch::Event> events_;
  std::size_t next_ = 0;
  bool over_ = false;
};

// One form over a fresh memory engine.
struct Backend {
  explicit Backend(Form form, std::size_t history_max = 100'000,
                   apiserver::storage::value::TransformerPtr transformer = nullptr,
                   runtime::KindPtr of_kind = NewWidgetKind(),
                   std::shared_ptr<apiserver::MemoryBudget> memory = nullptr)
      : kind(std::move(of_kind)),
        engine(apiserver::storage::memory::NewEngine()),
        remote(apiserver::testing::storage::NewRemoteEngine(*engine)) {
    apiserver::storage::store::Options store;
    store.engine = form == Form::kFollowingCacher ? remote.get() : engine.get();
    store.kind = kind;
    store.prefix = "/registry/test.example.com/widgets";
    store.transformer = std::move(transformer);
    if (form == Form::kStore) {
      storage = apiserver::storage::store::New(store);
      return;
    }
    apiserver::storage::cacher::Options options;
    options.store = store;
    options.executor = pool.get();
    options.history_events_max = history_max;
    options.memory = std::move(memory);
    options.on_slow_watch = [this] { ++slow_watches; };
    storage = apiserver::storage::cacher::New(options);
  }
  ~Backend() {
    storage->Stop();
    pool->Stop();
    storage.reset();
    engine->Stop();
  }

  static std::string KeyOf(std::string_view name, std::string_view space = "ns") {
    return "/" + std::string(space) + "/" + std::string(name);
  }
  runtime::ObjectPtr Create(std::string_view name, std::string_view space = "ns",
                            std::string_view color = "") {
    auto object = NewWidget(kind, name, space);
    if (!color.empty()) {
      object->Edit("spec", "color") = color;
      object->Edit("metadata", "labels", "color") = color;
    }
    const auto stored = storage->Create(ctx, KeyOf(name, space), *object, {});
    INFO(stored.status().ToString());
    REQUIRE(stored.ok());
    return *stored;
  }
  // Sets spec.size, and spec.color and its label if `color` is given.
  Result<runtime::ObjectPtr> Resize(std::string_view name, int size, std::string_view color = "") {
    return storage->GuaranteedUpdate(
        ctx, KeyOf(name), {},
        [&](const runtime::ObjectPtr& current) -> Result<apiserver::storage::Update> {
          apiserver::storage::Update update;
          update.object = current->Clone();
          update.object->Edit("spec", "size") = size;
          if (!color.empty()) {
            update.object->Edit("spec", "color") = color;
            update.object->Edit("metadata", "labels", "color") = color;
          }
          return update;
        });
  }
  Result<runtime::ObjectPtr> Delete(std::string_view name) {
    return storage->Delete(ctx, KeyOf(name), {}, nullptr);
  }
  Result<runtime::ObjectPtr> Get(std::string_view name, std::string rv = "") {
    apiserver::storage::GetOptions options;
    options.resource_version = std::move(rv);
    return storage->Get(ctx, KeyOf(name), options);
  }
  Result<runtime::List> List(apiserver::storage::ListOptions options = {},
                             std::string_view key = "/") {
    return storage->GetList(ctx, key, options);
  }
  WatchReader Watch(apiserver::storage::ListOptions options, std::string_view key = "/") {
    auto stream = storage->Watch(ctx, key, options);
    INFO(stream.status().ToString());
    REQUIRE(stream.ok());
    return WatchReader(std::move(*stream));
  }
  WatchReader WatchFrom(std::string_view rv, std::string_view key = "/") {
    apiserver::storage::ListOptions options;
    options.resource_version = rv;
    return Watch(options, key);
  }
  void Compact(std::string_view rv) {
    REQUIRE(engine->Compact(ctx, std::stoll(std::string(rv))).ok());
  }

  Context ctx = Context::Background();
  std::atomic<int> slow_watches{0};  // That the cacher has closed.
  runtime::KindPtr kind;
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"cacher", 2});
  std::unique_ptr<apiserver::storage::kv::Engine> engine;
  std::unique_ptr<apiserver::storage::kv::Engine> remote;
  std::unique_ptr<apiserver::storage::Interface> storage;
};

// "one two": what a list holds.
inline std::string NamesOf(const Result<runtime::List>& list) {
  if (!list.ok()) return list.status().ToString();
  std::string names;
  for (const auto& item : list->items) {
    names.append(names.empty() ? "" : " ").append(item->name());
  }
  return names;
}

}  // namespace apiserver::inline v0::testing
