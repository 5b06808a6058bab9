#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::server {

// Named functions that run once: after the start, or before the stop. Any thread.
class Hooks {
 public:
  // Adds a hook. kConflict: the name is taken. kInvalid: they have run already.
  Status Add(std::string name, Hook hook);
  // Runs all side by side, a thread each, and waits. Returns the first error in order of addition,
  // with the hook's name.
  Status Run(const HookContext& context, LogSink& log);
  // True if hook `name` has run without error.
  bool Done(const std::string& name) const;
  std::vector<std::string> names() const;
  // Destroys the hooks and what they own.
  void Forget();

 private:
  struct Entry {
    std::string name;
    Hook hook;
    Status outcome;
    bool done = false;
  };
  struct State {
    bool running = false;
    std::vector<std::shared_ptr<Entry>> entries;
  };
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::server
