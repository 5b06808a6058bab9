#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

// Whether a route stands for all objects or for one.
enum class Where : std::uint8_t { kCollection, kItem };

// One REST verb: when it is served, at which method and path, and by what. A new verb is a new row
// in verbs.cc, a capability in rest/storage.h and a file in handlers/.
struct VerbRow {
  std::string_view verb;  // As discovery lists it.
  std::string_view method;
  Where where;
  // First word of the operation id: "read", "replace", ….
  std::string_view operation;
  // x-kubernetes-action: "get", "post", "put", ….
  std::string_view action;
  bool (*served)(const rest::Capabilities& capabilities);
  http::Handler (*make)(ScopePtr scope);
};

// In the order in which routes are made.
std::span<const VerbRow> Verbs();

// Discovery's verbs of a resource, sorted: those of the rows served, and "watch".
std::vector<std::string> VerbsOf(const rest::Capabilities& capabilities);

}  // namespace apiserver::inline v0::endpoints
