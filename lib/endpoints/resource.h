#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

// The URLs that an action stands for.
enum class Where : std::uint8_t {
  kCollection,  // ".../flunders". A subresource has none.
  kItem,        // ".../flunders/{name}", ".../flunders/{name}/status".
  kWatchPath,   // Either of them, without subresource, below the deprecated "/watch/".
};

// A handler, and the RequestInfo of requests that reach it. A request that was authorized as
// another one finds no action.
struct Action {
  std::string method;
  Where where = Where::kItem;
  std::string_view verb;  // RequestInfo::verb.
  http::Handler handler;
  BodyCheck check = nullptr;  // Null: there is no check before a body is read.
  // If set, a response may stay open without limit.
  bool long_running = false;
};

// The actions of one resource or subresource.
struct Resource {
  ScopePtr scope;
  std::vector<Action> actions;
  // If set, it serves paths below the item's too.
  bool subpath = false;
};

}  // namespace apiserver::inline v0::endpoints
