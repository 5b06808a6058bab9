#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/resource.h"

namespace apiserver::inline v0::endpoints {

// One REST verb: the condition, method and URL under which it is served, and its handler. A new
// verb is a new row in verbs.cc, a capability in rest/storage.h and a file in handlers/.
struct VerbRow {
  std::string_view verb;  // The name in discovery.
  std::string_view method;
  Where where;
  // The first word of the operation id: "read", "replace", ….
  std::string_view operation;
  // The x-kubernetes-action: "get", "post", "put", ….
  std::string_view action;
  bool (*served)(const rest::Capabilities& capabilities);
  http::Handler (*make)(ScopePtr scope);
  BodyCheck check;  // Null: its handler reads no body.
};

// Returns the rows, in the order in which routes are made.
std::span<const VerbRow> Verbs();

// Returns true if a row becomes an action. RequestInfo never has "list" or "deletecollection" for a
// subresource, so a subresource does not serve these rows, whatever its storage can do.
bool IsServed(const VerbRow& row, const RequestScope& scope);
// Returns true if a GET of the collection may be a watch, and "/watch/" paths are served.
bool IsWatched(const RequestScope& scope);

// Returns discovery's verbs of a resource, sorted: those of the rows served, and "watch".
std::vector<std::string> VerbsOf(const RequestScope& scope);

}  // namespace apiserver::inline v0::endpoints
