#include "apiserver/registry/polling_store.h"

#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "apiserver/registry/store.h"
#include "base/status_macros.h"
#include "registry/replica.h"

namespace apiserver::v0::registry {
namespace {

// The strategy of a store that only polls write to; polled objects are not validated.
class PolledStrategy final : public rest::Strategy {
 public:
  explicit PolledStrategy(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }

 private:
  bool namespaced_;
};

class Polling final : public PollingStore, public std::enable_shared_from_this<Polling> {
 public:
  explicit Polling(PollingOptions options)
      : options_(std::move(options)),
        engine_(NewReplicaEngine(*options_.clock, options_.history_window,
                                 options_.history_events_max)) {}
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
  struct Turn {
    bool polling = false;
    bool polled = false;  // Once, with success.
    std::string error;    // The error of the last poll.
    bool stopped = false;
    Executor::Cancel timer;
  };

  Status CheckPolled() const;
  void Halt();
  void PollAgain();
  void Remember(const Status& outcome);
  Status PollOnce(const Context& ctx);

  const PollingOptions options_;
  const std::unique_ptr<storage::kv::Engine> engine_;
  std::shared_ptr<Store> store_;
  std::optional<Replica> replica_;
  // The Context of polls that come by the interval.
  const Context polls_ = Context::Child(Context::Background());
  Guarded<Turn> turn_;
};

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
  replica_.emplace(ReplicaOptions{.kind = options_.kind,
                                  .clock = options_.clock,
                                  .random = options_.random,
                                  .word = "polled",
                                  .kept_metadata = {"uid", "creationTimestamp"}},
                   store_->storage());
  return {};
}

void Polling::Start() {
  if (options_.interval.count() <= 0) return;
  options_.executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->PollAgain();
  });
}

// Order: first no new poll starts, then the current one's Context ends, then the store goes.
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

// The next poll is posted after this one has ended, so slow polls never overlap.
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

// Blocks while another poll runs; each caller gets the outcome of a poll that began after its call.
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

// Compares with the copy and writes the differences; a failed poll leaves the copy as it is.
Status Polling::PollOnce(const Context& ctx) {
  Result<PollingOptions::Objects> objects = PollingOptions::Objects();
  // A host's function may throw; the store's thread must survive it.
  try {
    objects = options_.poll(ctx);
  } catch (const std::exception& error) {
    return {Reason::kInternalError, error.what()};
  }
  RETURN_IF_ERROR(objects.status());
  ASSIGN_OR_RETURN(const Replica::Found found, replica_->ByKey(*std::move(objects)));
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, replica_->Keys(ctx));
  for (const std::string& key : keys) {
    if (!found.contains(key)) RETURN_IF_ERROR(replica_->Remove(ctx, key));
  }
  for (const auto& [key, object] : found) RETURN_IF_ERROR(replica_->Adopt(ctx, key, *object));
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
