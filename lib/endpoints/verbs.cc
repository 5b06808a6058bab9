#include "endpoints/verbs.h"

#include <algorithm>

#include "request/verbs.h"

namespace apiserver::v0::endpoints {

namespace {

using rest::Capabilities;

bool CanGet(const Capabilities& c) { return c.getter || c.getter_with_options || c.streamer; }
// A patch reads the object before it writes.
bool CanPatch(const Capabilities& c) { return c.getter && c.updater; }

// The only table of verbs: installation, discovery and OpenAPI are made from it.
constexpr VerbRow kVerbs[] = {
    {"list", "GET", Where::kCollection, "list", "list",
     [](const Capabilities& c) { return c.lister != nullptr; },
     [](ScopePtr scope) { return NewListHandler(std::move(scope), ListForm::kList); }, nullptr},
    {"create", "POST", Where::kCollection, "create", "post",
     [](const Capabilities& c) { return c.creater || c.named_creater; }, &NewCreateHandler,
     &CheckCreate},
    {"deletecollection", "DELETE", Where::kCollection, "deletecollection", "deletecollection",
     [](const Capabilities& c) { return c.collection_deleter != nullptr; },
     &NewDeleteCollectionHandler, &CheckDeleteCollection},
    {"get", "GET", Where::kItem, "read", "get", &CanGet, &NewGetHandler, nullptr},
    {"update", "PUT", Where::kItem, "replace", "put",
     [](const Capabilities& c) { return c.updater != nullptr; }, &NewUpdateHandler, &CheckUpdate},
    {"patch", "PATCH", Where::kItem, "patch", "patch", &CanPatch, &NewPatchHandler, &CheckPatch},
    {"delete", "DELETE", Where::kItem, "delete", "delete",
     [](const Capabilities& c) { return c.graceful_deleter != nullptr; }, &NewDeleteHandler,
     &CheckDelete},
};

}  // namespace

std::span<const VerbRow> Verbs() { return kVerbs; }

bool IsServed(const VerbRow& row, const RequestScope& scope) {
  if (!row.served(scope.capabilities)) return false;
  // A subresource has no collection: its POST is a create of one object, and there is no list.
  return scope.subresource.empty() || row.verb == request::VerbOfMethod(row.method);
}

bool IsWatched(const RequestScope& scope) {
  return scope.subresource.empty() && scope.capabilities.watcher && scope.capabilities.lister;
}

std::vector<std::string> VerbsOf(const RequestScope& scope) {
  const rest::Capabilities& capabilities = scope.capabilities;
  std::vector<std::string> verbs;
  for (const VerbRow& row : kVerbs) {
    if (IsServed(row, scope)) verbs.emplace_back(row.verb);
  }
  if (IsWatched(scope)) verbs.emplace_back("watch");
  if (capabilities.connecter) {
    for (const std::string& method : capabilities.connecter->ConnectMethods()) {
      // As in discovery, each method of a connecter counts as the verb it usually stands for.
      const std::string_view verb = request::VerbOfMethod(method);
      if (!verb.empty()) verbs.emplace_back(verb);
    }
  }
  std::sort(verbs.begin(), verbs.end());
  verbs.erase(std::unique(verbs.begin(), verbs.end()), verbs.end());
  return verbs;
}

}  // namespace apiserver::v0::endpoints
