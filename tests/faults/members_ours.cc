#include <charconv>
#include <utility>

#include "apiserver/storage/cacher/cacher.h"
#include "apiserver/storage/etcd/engine.h"
#include "apiserver/testing/storage/widget.h"
#include "base/status_macros.h"
#include "faults/members_systems.h"
#include "testing/storage/bell.h"

namespace apiserver::inline v0::faults {
namespace {

using std::chrono::milliseconds;
using testing::storage::Bell;

// What a request of a client may take.
constexpr std::chrono::seconds kRequest{10};
// After which a client that moves about opens its watch anew.
constexpr milliseconds kHop{1500};

Context Soon() { return Context::Child(Context::Background(), RealClock().Now() + kRequest); }

Revision NumberIn(std::string_view text) {
  Revision number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class OurWriter final : public WriteTarget {
 public:
  OurWriter(storage::Interface& storage, runtime::KindPtr kind)
      : storage_(storage), kind_(std::move(kind)) {}

  Result<Revision> Create(const std::string& key, std::int64_t value) override {
    const std::size_t slash = key.find('/');
    const auto object = testing::NewWidget(kind_, key.substr(slash + 1), key.substr(0, slash));
    object->Edit("spec", "size") = value;
    return RevisionOf(storage_.Create(Soon(), "/" + key, *object, {}));
  }
  Result<Revision> Update(const std::string& key, std::int64_t value) override {
    return RevisionOf(storage_.GuaranteedUpdate(Soon(), "/" + key, {},
                                                [value](const runtime::ObjectPtr& current) {
                                                  storage::Update update;
                                                  update.object = current->Clone();
                                                  update.object->Edit("spec", "size") = value;
                                                  return Result<storage::Update>(std::move(update));
                                                }));
  }
  Result<Revision> Delete(const std::string& key) override {
    return RevisionOf(storage_.Delete(Soon(), "/" + key, {}, nullptr));
  }

 private:
  static Result<Revision> RevisionOf(const Result<runtime::ObjectPtr>& object) {
    RETURN_IF_ERROR(object.status());
    return NumberIn((*object)->resource_version());
  }

  storage::Interface& storage_;
  const runtime::KindPtr kind_;
};

class TailSource final : public WatchSource {
 public:
  explicit TailSource(std::unique_ptr<storage::kv::Tail> tail) : tail_(std::move(tail)) {}

  Status Next(std::vector<Change>& changes, milliseconds patience) override {
    using storage::kv::Event;
    storage::kv::EventBatch batch;
    const auto state = tail_->Next(batch, Waker(*bell_, bell_));
    if (state == storage::kv::Tail::State::kEnd) return tail_->status();
    if (state == storage::kv::Tail::State::kWait) (void)bell_->Wait(patience);
    const std::size_t skip = std::string_view(kMembersPrefix).size() + 1;
    for (const Event& event : batch.events) {
      const bool erased = event.type == Event::Type::kDelete;
      changes.push_back({event.kv.mod_revision, event.kv.key.substr(skip),
                         erased ? 0 : ValueIn(*event.kv.value)});
    }
    return Status::Ok();
  }

 private:
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  const std::unique_ptr<storage::kv::Tail> tail_;
};

class StreamSource final : public WatchSource {
 public:
  explicit StreamSource(std::unique_ptr<watch::Stream> stream) : stream_(std::move(stream)) {}

  Status Next(std::vector<Change>& changes, milliseconds patience) override {
    std::vector<watch::Event> events;
    const auto state = stream_->Next(events, 100, Waker(*bell_, bell_));
    for (const watch::Event& event : events) {
      if (event.type == watch::EventType::kError) return event.error;
      if (event.type == watch::EventType::kBookmark) continue;
      const runtime::Object& object = *event.object;
      const bool erased = event.type == watch::EventType::kDeleted;
      changes.push_back({NumberIn(event.resource_version),
                         std::string(object.namespace_()) + "/" + std::string(object.name()),
                         erased ? 0 : object["spec"]["size"].AsInt()});
    }
    if (state == watch::Stream::State::kEnd) return {Reason::kServiceUnavailable, "it has ended"};
    if (state == watch::Stream::State::kWait) (void)bell_->Wait(patience);
    return Status::Ok();
  }

 private:
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  const std::unique_ptr<watch::Stream> stream_;
};

class OurSystem final : public MembersSystem {
 public:
  static Result<std::unique_ptr<MembersSystem>> New(const std::vector<std::string>& urls) {
    storage::etcd::Options options;
    options.servers = urls;
    // Every watch must be able to begin anywhere.
    options.compaction_interval = milliseconds(0);
    auto system = std::make_unique<OurSystem>();
    ASSIGN_OR_RETURN(system->engine_, storage::etcd::Open(options));
    storage::cacher::Options cache;
    cache.store.engine = system->engine_.get();
    cache.store.kind = system->kind_;
    cache.store.prefix = kMembersPrefix;
    cache.executor = system->pool_.get();
    system->cacher_ = storage::cacher::New(cache);
    return std::unique_ptr<MembersSystem>(std::move(system));
  }
  ~OurSystem() override {
    Stop();
    cacher_.reset();
    engine_.reset();
  }

  std::unique_ptr<WriteTarget> NewWriter(std::size_t) override {
    return std::make_unique<OurWriter>(*cacher_, kind_);
  }

  std::vector<Watch> Watches() override {
    return {{{.name = "engine, all", .prefix = ""}, Tail("")},
            {{.name = "engine, even/", .prefix = "even/"}, Tail("even/")},
            {{.name = "engine, hopping", .prefix = "odd/", .hop = kHop}, Tail("odd/")},
            {{.name = "cache, all", .prefix = ""}, Stream("")},
            {{.name = "cache, odd/", .prefix = "odd/"}, Stream("odd/")},
            {{.name = "cache, hopping", .prefix = "", .hop = kHop}, Stream("")}};
  }

  Result<Revision> List() override {
    ASSIGN_OR_RETURN(const runtime::List list, cacher_->GetList(Soon(), "/", {}));
    return NumberIn(list.resource_version);
  }

  void Stop() override {
    if (cacher_ != nullptr) cacher_->Stop();
    pool_->Stop();
    if (engine_ != nullptr) engine_->Stop();
  }

 private:
  OpenWatch Tail(const std::string& prefix) {
    return [this, prefix](Revision from) -> Result<std::unique_ptr<WatchSource>> {
      ASSIGN_OR_RETURN(auto tail,
                       engine_->NewTail(std::string(kMembersPrefix) + "/" + prefix, from));
      return std::make_unique<TailSource>(std::move(tail));
    };
  }
  OpenWatch Stream(const std::string& prefix) {
    return [this, prefix](Revision from) -> Result<std::unique_ptr<WatchSource>> {
      storage::ListOptions options;
      options.resource_version = std::to_string(from - 1);
      ASSIGN_OR_RETURN(auto stream, cacher_->Watch(Context::Background(), "/" + prefix, options));
      return std::make_unique<StreamSource>(std::move(stream));
    };
  }

  const runtime::KindPtr kind_ = testing::NewWidgetKind();
  const std::unique_ptr<ThreadPool> pool_ = NewThreadPool({"cacher", 2});
  std::unique_ptr<storage::kv::Engine> engine_;
  std::unique_ptr<storage::Interface> cacher_;
};

}  // namespace

Result<std::unique_ptr<MembersSystem>> NewOurSystem(const std::vector<std::string>& urls) {
  return OurSystem::New(urls);
}

}  // namespace apiserver::inline v0::faults
