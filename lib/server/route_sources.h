#pragma once

#include <memory>
#include <vector>

#include "apiserver/server/route_source.h"

namespace apiserver::inline v0::server {

// The sources of routes in a serving chain, in the order in which they are asked. Complete before
// the first request.
class RouteSources {
 public:
  using List = std::vector<std::shared_ptr<const RouteSource>>;

  List in_front;  // Of all that is installed.
  List behind;

  // Null: none of `list` has it.
  static std::shared_ptr<Route> Find(const List& list, const request::RequestInfo& info);
};

}  // namespace apiserver::inline v0::server
