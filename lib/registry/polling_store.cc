#include "apiserver/registry/polling_store.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/time.h"
#include "apiserver/meta/validation.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/storage/memory/engine.h"
#include "base/status_macros.h"

namespace apiserver::v0::registry {
namespace {

// Nobody writes but the poll, which is believed.
class PolledStrategy final : public rest::Strategy {
 public:
  explicit PolledStrategy(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }

 private:
  bool namespaced_;
};

// What an object keeps from one poll to the next.
struct Identity {
  std::string uid;
  std::string creation_timestamp;
};

// The polled set, kept as any resource is: in an engine in memory behind a watch cache. That gives
// reads and watches all their meanings, and makes a poll a few writes.
class Polling final : public PollingStore, public std::enable_shared_from_this<Polling> {
 public:
  explicit Polling(PollingOptions options)
      : options_(std::move(options)), engine_(NewEngine(options_)) {}
  ~Polling() override { Halt(); }

  Status Open();
  void Start();

  Status Poll(const Context& ctx) override;

  std::unique_ptr<runtime::Object> New() const override { return store_->New(); }
  void Destroy() override { Halt(); }
  bool NamespaceScoped() const override { return options_.kind->namespaced(); }
  std::string GetSingularName() const override { return store_->GetSingularName(); }
  std::vector<std::string> ShortNames() const override { return store_->ShortNames(); }
  std::vector<std::string> Categories() const override { return store_->Categories(); }
  bool AnswersInline() const override { return store_->AnswersInline(); }
  void WhenFresh(const Context& ctx, FreshDone done) override {
    store_->WhenFresh(ctx, std::move(done));
  }
  Status ReadinessCheck() const override;
  std::optional<storage::Stats> GetStats() const override { return store_->GetStats(); }

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions& options) override {
    RETURN_IF_ERROR(CheckPolled());
    return store_->Get(ctx, name, options);
  }
  Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) override {
    RETURN_IF_ERROR(CheckPolled());
    return store_->List(ctx, options);
  }
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, const meta::ListOptions& options,
                                               Clock::Monotonic deadline) override {
    RETURN_IF_ERROR(CheckPolled());
    return store_->Watch(ctx, options, deadline);
  }
  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    return store_->ConvertToTable(ctx, items, options);
  }

 private:
  using Found = std::map<std::string, std::unique_ptr<runtime::Object>>;
  struct Turn {
    bool polling = false;
    bool polled = false;  // Once, with success.
    std::string error;    // Of the last poll.
    bool stopped = false;
    Executor::Cancel timer;
  };

  static std::unique_ptr<storage::kv::Engine> NewEngine(const PollingOptions& options);
  Status CheckPolled() const;
  void Halt();
  void PollAgain();
  void Remember(const Status& outcome);
  Status PollOnce(const Context& ctx);
  Result<std::string> KeyOf(const runtime::Object& object) const;
  Result<Found> ByKey(PollingOptions::Objects objects) const;
  Status RemoveLost(const Context& ctx, const Found& found);
  Status Write(const Context& ctx, const std::string& key, runtime::Object& object);

  const PollingOptions options_;
  const std::unique_ptr<storage::kv::Engine> engine_;
  std::shared_ptr<Store> store_;
  // Of the polls that nobody waits for.
  const Context polls_ = Context::Child(Context::Background());
  Guarded<Turn> turn_;
  std::map<std::string, Identity> known_;  // Of whoever polls.
};

std::unique_ptr<storage::kv::Engine> Polling::NewEngine(const PollingOptions& options) {
  const auto now = options.clock->WallNow().time_since_epoch();
  return storage::memory::NewEngine(
      {.clock = *options.clock,
       .history = {.window = options.history_window, .events_max = options.history_events_max},
       .first_revision = std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
}

Status Polling::Open() {
  ASSIGN_OR_RETURN(
      store_, NewStore({.engine = engine_.get(),
                        .executor = options_.executor,
                        .clock = options_.clock,
                        .random = options_.random,
                        .memory = options_.memory,
                        .log = options_.log},
                       {.kind = options_.kind,
                        .strategy = std::make_shared<PolledStrategy>(options_.kind->namespaced()),
                        .table_convertor = options_.table_convertor,
                        .functions_inline = options_.functions_inline}));
  return {};
}

void Polling::Start() {
  if (options_.interval.count() <= 0) return;
  options_.executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->PollAgain();
  });
}

void Polling::Halt() {
  Executor::Cancel timer;
  {
    auto turn = turn_.Lock();
    if (std::exchange(turn->stopped, true)) return;
    timer = std::move(turn->timer);
  }
  if (timer) timer();
  polls_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
  if (store_) store_->Destroy();
  engine_->Stop();
}

Status Polling::CheckPolled() const {
  if (turn_.Lock()->polled) return {};
  return meta::NewTooManyRequests("storage is (re)initializing", 1);
}

Status Polling::ReadinessCheck() const {
  {
    const auto turn = turn_.Lock();
    if (!turn->polled) {
      return {Reason::kServiceUnavailable, options_.kind->plural() + " have not been polled yet" +
                                               (turn->error.empty() ? "" : ": " + turn->error)};
    }
  }
  return store_->ReadinessCheck();
}

void Polling::PollAgain() {
  (void)Poll(polls_);  // Remembered, and logged.
  auto timer = options_.executor->PostAfter(options_.interval, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->PollAgain();
  });
  {
    auto turn = turn_.Lock();
    if (!turn->stopped) {
      turn->timer = std::move(timer);
      return;
    }
  }
  timer();
}

Status Polling::Poll(const Context& ctx) {
  {
    auto turn = turn_.Lock();
    turn.Wait([&turn] { return !turn->polling; });
    if (turn->stopped) return {Reason::kServiceUnavailable, "the store has stopped"};
    turn->polling = true;
  }
  Status outcome = PollOnce(ctx);
  Remember(outcome);
  return outcome;
}

void Polling::Remember(const Status& outcome) {
  bool news = false;
  {
    auto turn = turn_.Lock();
    turn->polling = false;
    turn->polled |= outcome.ok();
    news = !turn->stopped && turn->error != outcome.message();
    turn->error = outcome.message();
  }
  turn_.NotifyAll();
  // Once, however often it fails.
  if (!news || outcome.ok()) return;
  Log(*options_.log, LogLevel::kWarning, "polling failed",
      {{"resource", options_.kind->plural()}, {"error", std::string(outcome.message())}});
}

Status Polling::PollOnce(const Context& ctx) {
  Result<PollingOptions::Objects> objects = PollingOptions::Objects();
  try {
    objects = options_.poll(ctx);
  } catch (const std::exception& error) {
    return {Reason::kInternalError, error.what()};
  }
  RETURN_IF_ERROR(objects.status());
  ASSIGN_OR_RETURN(const Found found, ByKey(*std::move(objects)));
  RETURN_IF_ERROR(RemoveLost(ctx, found));
  for (const auto& [key, object] : found) RETURN_IF_ERROR(Write(ctx, key, *object));
  return {};
}

Result<std::string> Polling::KeyOf(const runtime::Object& object) const {
  const auto wrong = [&object](std::string_view what) {
    return Status(Reason::kInternalError,
                  "polled object " + field::Quote(object.name()) + " " + std::string(what));
  };
  if (object.name().empty()) return wrong("has no name");
  if (!meta::IsPathSegmentName(object.name()).empty()) return wrong("has a name no path can have");
  if (!options_.kind->namespaced()) {
    if (!object.namespace_().empty()) return wrong("has a namespace");
    return std::string("/").append(object.name());
  }
  if (!meta::IsDNS1123Label(object.namespace_()).empty()) return wrong("has no good namespace");
  return std::string("/").append(object.namespace_()).append("/").append(object.name());
}

Result<Polling::Found> Polling::ByKey(PollingOptions::Objects objects) const {
  Found found;
  for (auto& object : objects) {
    if (object == nullptr || object->kind_ptr() != options_.kind) {
      return Status(Reason::kInternalError,
                    "polled object is none of kind " + options_.kind->kind());
    }
    ASSIGN_OR_RETURN(const std::string key, KeyOf(*object));
    object->Erase("metadata", "resourceVersion");
    if (!found.emplace(key, std::move(object)).second) {
      return Status(Reason::kInternalError, "polled two objects at " + field::Quote(key));
    }
  }
  return found;
}

// What was there and is no more, or is there again as another.
Status Polling::RemoveLost(const Context& ctx, const Found& found) {
  for (auto known = known_.begin(); known != known_.end();) {
    const auto& [key, identity] = *known;
    const auto now = found.find(key);
    const bool same =
        now != found.end() && (now->second->uid().empty() || now->second->uid() == identity.uid);
    if (same) {
      ++known;
      continue;
    }
    RETURN_IF_ERROR(store_->storage().Delete(ctx, key, {}, nullptr).status());
    known = known_.erase(known);
  }
  return {};
}

Status Polling::Write(const Context& ctx, const std::string& key, runtime::Object& object) {
  const auto known = known_.find(key);
  const bool is_new = known == known_.end();
  Identity identity = is_new ? Identity{NewUuid(*options_.random), meta::Timestamp(*options_.clock)}
                             : known->second;
  if (object.uid().empty()) {
    object.Edit("metadata", "uid") = identity.uid;
  } else {
    identity.uid = object.uid();
  }
  if (object.metadata()["creationTimestamp"].is_null()) {
    object.Edit("metadata", "creationTimestamp") = identity.creation_timestamp;
  } else {
    identity.creation_timestamp = object.metadata()["creationTimestamp"].AsString();
  }
  RETURN_IF_ERROR(runtime::Settle(object));
  if (is_new) {
    RETURN_IF_ERROR(store_->storage().Create(ctx, key, object, std::chrono::seconds(0)).status());
  } else {
    const auto replace = [&object](const runtime::ObjectPtr&) -> Result<storage::Update> {
      return storage::Update{.object = object.Clone(), .ttl = std::nullopt};
    };
    RETURN_IF_ERROR(store_->storage().GuaranteedUpdate(ctx, key, {}, replace).status());
  }
  known_.insert_or_assign(key, std::move(identity));
  return {};
}

}  // namespace

Result<std::shared_ptr<PollingStore>> NewPollingStore(PollingOptions options) {
  const auto missing = [](std::string_view what) {
    return Status(Reason::kInvalid,
                  "registry polling store: " + std::string(what) + " is required");
  };
  if (!options.poll) return missing("poll");
  if (options.kind == nullptr) return missing("kind");
  if (options.executor == nullptr) return missing("executor");
  auto store = std::make_shared<Polling>(std::move(options));
  RETURN_IF_ERROR(store->Open());
  store->Start();
  return store;
}

}  // namespace apiserver::v0::registry
