#include "server/route_sources.h"

namespace apiserver::server {

std::shared_ptr<Route> RouteSources::Find(const List& list, const request::RequestInfo& info) {
  for (const auto& source : list) {
    if (std::shared_ptr<Route> route = source->Find(info)) return route;
  }
  return nullptr;
}

}  // namespace apiserver::server
