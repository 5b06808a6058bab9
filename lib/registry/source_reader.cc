#include "registry/source_reader.h"

#include <vector>

#include "apiserver/meta/errors.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

// How often a wait for a key looks whether its Context has ended.
constexpr std::chrono::milliseconds kWaitLooksAgain{50};

// Members of metadata that a source need not keep.
std::vector<std::string> KeptMetadata() {
  return {"uid",        "creationTimestamp", "generation",      "deletionTimestamp",
          "finalizers", "annotations",       "ownerReferences", "deletionGracePeriodSeconds",
          "labels",     "managedFields",     "generateName"};
}

// A copy is in memory: it needs no encryption, and its reads come from a cache.
StorageConfig Over(storage::kv::Engine& engine, StorageConfig config) {
  config.engine = &engine;
  config.transformer_for = nullptr;
  config.watch_cache = true;
  return config;
}

Status Stopped() { return meta::NewServiceUnavailable("the store has stopped"); }

// Holds the reader weakly, since a host may keep it longer than the store.
class Changes final : public SourceChanges {
 public:
  explicit Changes(std::weak_ptr<SourceReader> reader) : reader_(std::move(reader)) {}
  void Changed(std::string_view space, std::string_view name) override {
    std::string key = "/";
    if (!space.empty()) key.append(space).append("/");
    if (const auto reader = reader_.lock()) reader->Changed(key.append(name));
  }
  void ChangedAll() override {
    if (const auto reader = reader_.lock()) reader->ChangedAll();
  }
  Status Wait(const Context& ctx) override {
    const auto reader = reader_.lock();
    return reader != nullptr ? reader->Wait(ctx) : Stopped();
  }

 private:
  std::weak_ptr<SourceReader> reader_;
};

}  // namespace

SourceReader::SourceReader(const StorageConfig& config, SourceOptions options,
                           std::unique_ptr<Source> source)
    : config_(config),
      options_(std::move(options)),
      engine_(
          NewReplicaEngine(*config.clock, options_.history_window, options_.history_events_max)),
      copy_(NewStorage(Over(*engine_, config), options_.store.kind)),
      replica_({.kind = options_.store.kind,
                .clock = config.clock,
                .random = config.random,
                .word = "source",
                .kept_metadata = KeptMetadata()},
               *copy_),
      source_(std::move(source)) {}

void SourceReader::Start() {
  source_->Start(std::make_shared<Changes>(weak_from_this()));
  ChangedAll();
}

// Waits for a read in progress and for keys that are held; then nothing calls the source any more.
void SourceReader::Stop() {
  Executor::Cancel retry;
  Executor::Cancel relist;
  {
    auto state = state_.Lock();
    if (std::exchange(state->stopped, true)) return;
    retry = std::move(state->retry);
    relist = std::move(state->relist);
  }
  state_.NotifyAll();
  if (retry) retry();
  if (relist) relist();
  reads_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
  {
    auto state = state_.Lock();
    state.Wait([&state] { return !state->reading && state->held.empty(); });
  }
  copy_->Stop();
  engine_->Stop();
  source_.reset();
}

// 429 with Retry-After, as upstream's cacher: clients try again instead of failing.
Status SourceReader::CheckListed() const {
  const auto state = state_.Lock();
  if (state->stopped) return Stopped();
  if (state->listed) return {};
  return meta::NewTooManyRequests("storage is (re)initializing", 1);
}

Status SourceReader::Ready() const {
  {
    const auto state = state_.Lock();
    if (state->stopped) return Stopped();
    if (!state->listed) {
      std::string text = kind().plural() + " have not been listed yet";
      if (!state->outcome.ok()) text.append(": ").append(state->outcome.message());
      return {Reason::kServiceUnavailable, std::move(text)};
    }
  }
  return copy_->Ready();
}

// Blocks until no other thread holds the key. If a list is being read, the key is marked as
// overtaken.
Result<SourceReader::Hold> SourceReader::HoldKey(const Context& ctx, const std::string& key) {
  auto state = state_.Lock();
  const auto free = [&] { return state->stopped || !state->held.contains(key); };
  while (!state.WaitUntil(RealClock().Now() + kWaitLooksAgain, free)) {
    RETURN_IF_ERROR(ctx.Err(*config_.clock));
  }
  if (state->stopped) return Stopped();
  state->held.insert(key);
  if (state->listing) state->overtaken.insert(key);
  return Hold(*this, key);
}

void SourceReader::Release(const std::string& key) {
  state_.Lock()->held.erase(key);
  state_.NotifyAll();
}

// `Hold` proves that the caller holds the key; the source is asked without state_'s lock.
Status SourceReader::Read(const Context& ctx, const Hold&, const std::string& key) {
  const std::size_t slash = key.rfind('/');
  const std::string_view space = std::string_view(key).substr(1, slash > 0 ? slash - 1 : 0);
  const std::string_view name = std::string_view(key).substr(slash + 1);
  auto found = CallSource([&] { return source_->Get(ctx, space, name); });
  const bool gone = found.ok() ? *found == nullptr : found.status().reason() == Reason::kNotFound;
  if (gone) return replica_.Remove(ctx, key);
  RETURN_IF_ERROR(found.status());
  ASSIGN_OR_RETURN(const std::string actual, replica_.KeyOf(**found));
  if (actual != key || (*found)->kind_ptr() != options_.store.kind) {
    return {Reason::kInternalError, "source returned " + actual + " for " + key};
  }
  return replica_.Adopt(ctx, key, **found);
}

void SourceReader::Changed(std::string key) {
  {
    auto state = state_.Lock();
    ++state->next.reports;
    state->next.keys.insert(std::move(key));
  }
  Post();
}

void SourceReader::ChangedAll() {
  {
    auto state = state_.Lock();
    ++state->next.reports;
    state->next.all = true;
  }
  Post();
}

// Waits for all reports up to now, not for those that come meanwhile, so it ends on a busy source.
Status SourceReader::Wait(const Context& ctx) {
  auto state = state_.Lock();
  const std::uint64_t wanted = state->next.reports;
  const auto read = [&] { return state->stopped || state->reports_read >= wanted; };
  while (!state.WaitUntil(RealClock().Now() + kWaitLooksAgain, read)) {
    RETURN_IF_ERROR(ctx.Err(*config_.clock));
  }
  return state->stopped ? Stopped() : state->outcome;
}

// At most one task runs at a time: `posted` is set from here until ReadBatches has nothing left.
void SourceReader::Post() {
  {
    auto state = state_.Lock();
    if (state->stopped || std::exchange(state->posted, true)) return;
  }
  config_.executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ReadBatches();
  });
}

void SourceReader::ReadBatches() {
  for (;;) {
    Batch batch;
    {
      auto state = state_.Lock();
      Batch& next = state->next;
      // Failed reads wait for the retry timer unless there are new reports.
      const bool nothing = next.keys.empty() && !next.all;
      if (state->stopped || nothing) {
        state->posted = false;
        state->reading = false;
        break;
      }
      state->reading = true;
      // The number of reports stays, since it counts on; keys and `all` start anew.
      batch = std::exchange(next, Batch{.reports = next.reports});
    }
    Batch failed;
    const Status outcome = ReadBatch(batch, failed);
    Finish(batch, outcome, std::move(failed));
    if (outcome.ok()) continue;
    auto state = state_.Lock();
    // Reports that came meanwhile do not wait for the retry.
    if (state->next.reports > batch.reports && !state->stopped) continue;
    state->posted = false;
    state->reading = false;
    break;
  }
  state_.NotifyAll();
}

Status SourceReader::ReadBatch(const Batch& batch, Batch& failed) {
  Status first;
  if (batch.all) {
    first = ListAll();
    failed.all = !first.ok();
    if (first.ok()) state_.Lock()->listed = true;
  }
  for (const std::string& key : batch.keys) {
    Status read = ReadKey(key);
    if (read.ok()) continue;
    failed.keys.insert(key);
    if (first.ok()) first = std::move(read);
  }
  return first;
}

Status SourceReader::ReadKey(const std::string& key) {
  ASSIGN_OR_RETURN(const Hold hold, HoldKey(reads_, key));
  return Read(reads_, hold, key);
}

// Marks the keys that are written during the list: for these the list may be older than the copy.
Status SourceReader::ListAll() {
  {
    auto state = state_.Lock();
    state->listing = true;
    state->overtaken = state->held;
  }
  Status outcome = CopyList();
  auto state = state_.Lock();
  state->listing = false;
  state->overtaken.clear();
  return outcome;
}

Status SourceReader::CopyList() {
  auto objects = CallSource([&] { return source_->List(reads_); });
  RETURN_IF_ERROR(objects.status());
  ASSIGN_OR_RETURN(const Replica::Found found, replica_.ByKey(*std::move(objects)));
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, replica_.Keys(reads_));
  for (const std::string& key : keys) {
    if (!found.contains(key)) RETURN_IF_ERROR(Apply(key, nullptr));
  }
  for (const auto& [key, object] : found) RETURN_IF_ERROR(Apply(key, object.get()));
  return {};
}

Status SourceReader::Apply(const std::string& key, runtime::Object* found) {
  bool overtaken = false;
  {
    // Before it is held, which marks it.
    auto state = state_.Lock();
    state.Wait([&] { return state->stopped || !state->held.contains(key); });
    if (state->stopped) return Stopped();
    overtaken = state->overtaken.contains(key);
    state->held.insert(key);
  }
  const Hold hold(*this, key);
  // The list's state is older than a write, so the object is read alone.
  if (overtaken) return Read(reads_, hold, key);
  return found == nullptr ? replica_.Remove(reads_, key) : replica_.Adopt(reads_, key, *found);
}

void SourceReader::Finish(const Batch& batch, const Status& outcome, Batch failed) {
  bool news = false;
  {
    auto state = state_.Lock();
    news = !state->stopped && state->outcome.message() != outcome.message();
    state->outcome = outcome;
    state->reports_read = batch.reports;
    // Failed keys join the next batch, with the retry timer or with the next report.
    state->next.keys.merge(failed.keys);
    state->next.all |= failed.all;
  }
  state_.NotifyAll();
  if (!outcome.ok()) {
    // Logged once, however often it fails.
    if (news) {
      Log(*config_.log, LogLevel::kWarning, "reading a source failed",
          {{"resource", kind().plural()}, {"error", std::string(outcome.message())}});
    }
    SetTimer(&State::retry, options_.retry_interval, &SourceReader::Post);
  } else if (batch.all && options_.relist_interval.count() > 0) {
    SetTimer(&State::relist, options_.relist_interval, &SourceReader::ChangedAll);
  }
}

void SourceReader::SetTimer(Executor::Cancel State::*timer, std::chrono::milliseconds delay,
                            void (SourceReader::*then)()) {
  auto cancel = config_.executor->PostAfter(delay, [weak = weak_from_this(), then] {
    if (const auto self = weak.lock()) (self.get()->*then)();
  });
  {
    auto state = state_.Lock();
    // The earlier one is cancelled, or after Stop() this one.
    if (!state->stopped) std::swap((*state).*timer, cancel);
  }
  if (cancel) cancel();
}

}  // namespace apiserver::v0::registry
