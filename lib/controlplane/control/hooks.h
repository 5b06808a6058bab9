#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::controlplane {

// A loop of a server that acts on its objects.
struct Controller {
  std::string start_hook;  // The post-start hook; its first step is part of it.
  std::string stop_hook;   // The pre-shutdown hook.
  // Runs before the first step. Null: nothing is done.
  std::function<void(server::GenericAPIServer& server)> begin = nullptr;
  // Does one step as system:apiserver, and returns the pause until the next one. May block until
  // `ctx` is done.
  std::function<std::chrono::milliseconds(const Context& ctx, client::Client& api)> step;
  // Runs once when the server stops, after the last step; may block. Null: nothing is done.
  std::function<void(client::Client& api)> stop = nullptr;
};

// Adds the hooks of a controller. Its functions must not keep the server. kConflict: there is
// a hook of that name.
Status AddController(server::GenericAPIServer& server, Controller controller);

}  // namespace apiserver::inline v0::controlplane
