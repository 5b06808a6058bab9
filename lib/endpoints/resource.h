#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

// What one resource or subresource answers, by HTTP method.
struct Resource {
  using Methods = std::map<std::string, http::Handler, std::less<>>;

  ScopePtr scope;
  Methods collection;  // ".../flunders". A subresource has none: its item path serves all.
  Methods item;        // ".../flunders/{name}", ".../flunders/{name}/status".
  // GET below the deprecated "/watch/" paths; empty: not served.
  http::Handler watch;
  // Methods of the item path whose answers may take as long as they like.
  std::vector<std::string> long_running;
  // Serves what follows the item path too.
  bool subpath = false;

  bool LongRunning(std::string_view method) const {
    return std::find(long_running.begin(), long_running.end(), method) != long_running.end();
  }
};

}  // namespace apiserver::inline v0::endpoints
