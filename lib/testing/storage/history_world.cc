#include "testing/storage/history_world.h"

#include <charconv>
#include <utility>

#include "apiserver/codec/codec.h"
#include "base/status_macros.h"

namespace apiserver::v0::testing::storage {
namespace {

// Limits of a key's operations, which keep the search for its linearization short.
constexpr int kOperationsPerKey = 300;
constexpr int kUnknownPerKey = 12;
constexpr std::chrono::seconds kHistoryPatience{20};

}  // namespace

std::int64_t NumberOf(std::string_view text) {
  std::int64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Facts FactsOf(const runtime::Object* object) {
  if (object == nullptr) return {};
  Facts facts;
  facts.value = (*object)["spec"]["size"].AsInt();
  facts.uid = NumberOf(object->uid());
  facts.revision = NumberOf(object->resource_version());
  facts.red = object->labels()["color"].AsString() == "red";
  facts.key = std::string(object->namespace_()) + "/" + std::string(object->name());
  return facts;
}

KeyName World::KeyIn(std::size_t slot) {
  auto slots = slots_.Lock();
  Slot& state = (*slots)[slot];
  // A new generation of the key: its history starts without unknown outcomes.
  if (++state.operations > kOperationsPerKey || state.unknown > kUnknownPerKey) {
    state = {state.generation + 1, 1, 0};
  }
  return {slot % 2 == 0 ? "even" : "odd",
          "k" + std::to_string(slot) + "-" + std::to_string(state.generation)};
}

void World::SpoilKeyIn(std::size_t slot) { ++(*slots_.Lock())[slot].unknown; }

std::unique_ptr<runtime::Object> World::NewObject(const KeyName& key, std::int64_t value,
                                                  bool red) const {
  auto object = NewWidget(kind, key.name, key.space);
  object->Edit("metadata", "uid") = std::to_string(value);
  object->Edit("metadata", "labels", "color") = red ? "red" : "blue";
  object->Edit("spec", "size") = value;
  return object;
}

Result<std::unique_ptr<LogKeeper>> LogKeeper::Open(kv::Engine& engine, const runtime::KindPtr& kind,
                                                   const std::string& prefix) {
  std::unique_ptr<LogKeeper> keeper(new LogKeeper);
  keeper->kind_ = kind;
  // Not the prefix alone, which other resources may share.
  keeper->prefix_ = prefix + "/";
  keeper->engine_ = &engine;
  keeper->bell_ = std::make_shared<Bell>();
  ASSIGN_OR_RETURN(keeper->tail_, engine.NewTail(keeper->prefix_, 1));
  keeper->thread_ = Thread("log-keeper", [raw = keeper.get()] { raw->Run(); });
  return keeper;
}

LogKeeper::~LogKeeper() {
  stop_ = true;
  if (thread_.joinable()) thread_.Join();
}

void LogKeeper::Append(const kv::Event& event) {
  LogEntry entry;
  entry.revision = event.kv.mod_revision;
  entry.key = event.kv.key.substr(prefix_.size());
  entry.deleted = event.type == kv::Event::Type::kDelete;
  entry.created = event.is_create;
  entry.previous = event.previous.mod_revision;
  if (!entry.deleted) {
    const auto object = codec::DecodeFromStorage(kind_, event.kv.value, entry.revision);
    if (object.ok()) {
      const Facts facts = FactsOf(object->get());
      entry.value = facts.value;
      entry.uid = facts.uid;
      entry.red = facts.red;
    }
  }
  log_.push_back(std::move(entry));
}

void LogKeeper::Run() {
  while (!stop_) {
    kv::EventBatch batch;
    switch (tail_->Next(batch, Waker(*bell_, bell_))) {
      case kv::Tail::State::kEvents:
        for (const kv::Event& event : batch.events) Append(event);
        complete_ = batch.complete_up_to;
        break;
      case kv::Tail::State::kWait:
        (void)bell_->Wait(std::chrono::milliseconds(20));
        break;
      // The log is incomplete from here on, so that Finish() returns the error.
      case kv::Tail::State::kEnd:
        *status_.Lock() = tail_->status();
        return;
    }
  }
}

Result<std::vector<LogEntry>> LogKeeper::Finish(std::int64_t revision) {
  const auto deadline = RealClock().Now() + kHistoryPatience;
  Bell pause;
  while (complete_ < revision) {
    RETURN_IF_ERROR(*status_.Lock());
    if (RealClock().Now() > deadline) {
      return Status(Reason::kTimeout,
                    "the engine's log does not come to revision " + std::to_string(revision));
    }
    // A tail of a prefix without writes needs it to reach the revision.
    (void)engine_->RequestProgress(Context::Background());
    (void)pause.Wait(std::chrono::milliseconds(5));
  }
  stop_ = true;
  if (thread_.joinable()) thread_.Join();
  return std::move(log_);
}

}  // namespace apiserver::v0::testing::storage
