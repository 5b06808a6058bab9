#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/audit/backend.h"
#include "apiserver/audit/log_backend.h"
#include "apiserver/base/sync.h"

// Stand-ins of the audit tests.
namespace apiserver::inline v0::audit {

constexpr std::chrono::seconds kSoon{60};

// Stands still until a test moves it.
class SetClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(std::chrono::nanoseconds(passed_)); }
  Wall WallNow() const override {
    return Wall(std::chrono::duration_cast<Wall::duration>(std::chrono::nanoseconds(passed_)));
  }
  void Advance(std::chrono::nanoseconds by) { passed_ += by.count(); }

 private:
  std::atomic<std::int64_t> passed_{0};
};

inline EventPtr EventNamed(std::string id, std::size_t object_bytes = 0) {
  auto event = std::make_shared<Event>();
  event->audit_id = std::move(id);
  event->level = Level::kRequest;
  if (object_bytes > 0) {
    event->request_object =
        std::make_shared<const std::string>("\"" + std::string(object_bytes, 'A') + "\"");
  }
  return event;
}

// Keeps what it is given; answers when it is told to, or at once.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(bool answers_at_once = true) : answers_at_once_(answers_at_once) {}

  std::string name() const override { return "fake"; }
  Status Run(const BackendEnvironment&) override { return {}; }
  void ProcessEvents(Events events, Done done) override {
    {
      auto state = state_.Lock();
      state->batches.push_back(std::move(events));
      if (!answers_at_once_ && done) state->open.push_back(std::move(done));
    }
    state_.NotifyAll();
    if (answers_at_once_ && done) done(processed);
  }
  bool Holds() const override { return holds; }
  void Shutdown(std::chrono::milliseconds) override {
    state_.Lock()->shutdowns++;
    while (AnswerOne(false)) {
    }
  }

  // False: nothing waits.
  bool AnswerOne(bool result) {
    Done done;
    {
      auto state = state_.Lock();
      if (state->open.empty()) return false;
      done = std::move(state->open.front());
      state->open.pop_front();
    }
    done(result);
    return true;
  }
  // Whether there are so many batches soon.
  bool WaitForBatches(std::size_t count) {
    auto state = state_.Lock();
    return state.WaitUntil(RealClock().Now() + kSoon,
                           [&] { return state->batches.size() >= count; });
  }
  // The audit ids of each batch, "1,2".
  std::vector<std::string> Batches() const {
    std::vector<std::string> all;
    const auto state = state_.Lock();
    for (const Events& batch : state->batches) {
      std::string ids;
      for (const EventPtr& event : batch) ids += (ids.empty() ? "" : ",") + event->audit_id;
      all.push_back(std::move(ids));
    }
    return all;
  }
  EventPtr First() const { return state_.Lock()->batches.at(0).at(0); }
  int shutdowns() const { return state_.Lock()->shutdowns; }

  bool processed = true;
  bool holds = false;

 private:
  struct State {
    std::vector<Events> batches;
    std::deque<Done> open;
    int shutdowns = 0;
  };
  const bool answers_at_once_;
  Guarded<State> state_;
};

// Counters of a registry of its own.
struct Counted {
  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  Metrics metrics{*registry};

  BackendEnvironment environment() { return {.metrics = &metrics}; }
  bool Shows(const std::string& line) const {
    return ("\n" + registry->Serialize()).find("\n" + line + "\n") != std::string::npos;
  }
};

}  // namespace apiserver::inline v0::audit
