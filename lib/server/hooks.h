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
  // kConflict: the name is taken. kInvalid: they have run already.
  Status Add(std::string name, Hook hook);
  // Runs all side by side and waits. The first error in order of addition, naming its hook.
  Status Run(const HookContext& context, LogSink& log);
  // Whether hook `name` has run without error.
  bool Done(const std::string& name) const;
  std::vector<std::string> names() const;
  // Lets go of what the hooks own.
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
