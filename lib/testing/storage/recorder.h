#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "testing/storage/subject.h"

namespace apiserver::inline v0::testing::storage {

// An observer that records its calls, and whether they keep the promises of kv::Observer.
class Recorder final : public kv::Observer {
 public:
  // `act` is called at the end of each OnCommit(), on the engine's committing thread and without a
  // lock of the recorder.
  explicit Recorder(std::function<void()> act = {}) : act_(std::move(act)) {}

  // Registers the recorder with `engine`; at most once.
  Status Observe(kv::Engine& engine, std::string_view prefix = "") {
    prefix_ = prefix;
    ASSIGN_OR_RETURN(auto observation, engine.Observe(prefix, *this));
    begin_ = observation->begin();
    progress_ = observation->progress();
    *observation_.Lock() = std::move(observation);
    return Status::Ok();
  }
  // Unregisters the recorder; its calls have ended on return.
  void End() {
    auto observation = std::exchange(*observation_.Lock(), nullptr);
    observation.reset();
  }

  void OnCommit(std::span<const kv::Event* const> events, Revision revision) override {
    {
      auto state = state_.Lock();
      if (events.empty()) state->honest = false;
      for (const kv::Event* event : events) {
        if (event->kv.mod_revision <= state->revision) state->honest = false;
        if (!event->kv.key.starts_with(prefix_)) state->honest = false;
        state->revision = event->kv.mod_revision;
        state->events.push_back(*event);
      }
      if (revision < state->revision) state->honest = false;
      state->revision = revision;
      ++state->calls;
    }
    if (act_) act_();
  }
  void OnCompact(Revision compacted) override { state_.Lock()->compacted = compacted; }

  std::string Text() const { return TextOf(state_.Lock()->events); }
  std::size_t size() const { return state_.Lock()->events.size(); }
  // The number of calls of OnCommit().
  std::size_t calls() const { return state_.Lock()->calls; }
  // The revision of the last commit with events for the recorder.
  Revision revision() const { return state_.Lock()->revision; }
  Revision compacted() const { return state_.Lock()->compacted; }
  // True if all events were of the prefix, later than begin() and in order.
  bool honest() const {
    auto state = state_.Lock();
    const bool early = !state->events.empty() && state->events.front().kv.mod_revision <= begin_;
    return state->honest && !early;
  }
  Revision begin() const { return begin_; }
  Revision seen() const { return progress_->seen(); }
  const kv::Progress& progress() const { return *progress_; }

 private:
  struct State {
    std::vector<kv::Event> events;
    std::size_t calls = 0;
    Revision revision = 0;
    Revision compacted = 0;
    bool honest = true;
  };
  const std::function<void()> act_;
  std::string prefix_;
  Revision begin_ = 0;
  std::shared_ptr<const kv::Progress> progress_;
  Guarded<State> state_;
  // Last, so that it is destroyed first: the members above are used by calls until it ends.
  Guarded<std::unique_ptr<kv::Observation>> observation_;
};

}  // namespace apiserver::inline v0::testing::storage
