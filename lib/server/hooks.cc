#include "server/hooks.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace apiserver::v0::server {

namespace {

// A hook is the host's code: its exception must not end the process.
Status Call(const Hook& hook, const HookContext& context) {
  try {
    return hook(context);
  } catch (const std::exception& bug) {
    return {Reason::kInternalError, std::string("exception: ") + bug.what()};
  } catch (...) {
    return {Reason::kInternalError, "exception of an unknown type"};
  }
}

}  // namespace

Status Hooks::Add(std::string name, Hook hook) {
  auto state = state_.Lock();
  if (state->running) return {Reason::kInvalid, "hook " + name + " comes too late: they have run"};
  for (const auto& entry : state->entries) {
    if (entry->name == name) return {Reason::kConflict, "there is a hook " + name + " already"};
  }
  state->entries.push_back(
      std::make_shared<Entry>(Entry{std::move(name), std::move(hook), {}, false}));
  return {};
}

// Each hook has a thread of its own and may block; returns after the last has ended, with the first
// error in the order of Add().
Status Hooks::Run(const HookContext& context, LogSink& log) {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    auto state = state_.Lock();
    if (state->running) return {};
    state->running = true;
    entries = state->entries;
  }
  {
    std::vector<Thread> threads;
    threads.reserve(entries.size());
    for (const auto& entry : entries) {
      // The destructor of `threads` joins them, so outcomes are read without the lock below.
      threads.emplace_back("hook", [this, entry, &context] {
        Status outcome = Call(entry->hook, context);
        auto state = state_.Lock();
        entry->done = outcome.ok();
        entry->outcome = std::move(outcome);
      });
    }
  }
  for (const auto& entry : entries) {
    if (entry->outcome.ok()) continue;
    Log(log, LogLevel::kError, "hook failed",
        {{"hook", entry->name}, {"error", entry->outcome.ToString()}});
    return entry->outcome.WithMessage("hook " + entry->name +
                                      " failed: " + std::string(entry->outcome.message()));
  }
  return {};
}

bool Hooks::Done(const std::string& name) const {
  auto state = state_.Lock();
  return std::any_of(state->entries.begin(), state->entries.end(),
                     [&name](const auto& entry) { return entry->name == name && entry->done; });
}

std::vector<std::string> Hooks::names() const {
  std::vector<std::string> names;
  const auto state = state_.Lock();
  for (const auto& entry : state->entries) names.push_back(entry->name);
  return names;
}

void Hooks::Forget() {
  // Destroyed after the lock is released: a hook's client waits for its connection's loop.
  std::vector<std::shared_ptr<Entry>> entries;
  entries.swap(state_.Lock()->entries);
}

}  // namespace apiserver::v0::server
