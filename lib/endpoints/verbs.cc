#include "endpoints/verbs.h"

#include <algorithm>

namespace apiserver::inline v0::endpoints {

namespace {

using rest::Capabilities;

bool CanGet(const Capabilities& c) { return c.getter || c.getter_with_options || c.streamer; }
bool CanPatch(const Capabilities& c) { return c.getter && c.updater; }

constexpr VerbRow kVerbs[] = {
    {"list", "GET", Where::kCollection, "list", "list",
     [](const Capabilities& c) { return c.lister != nullptr; },
     [](ScopePtr scope) { return NewListHandler(std::move(scope), /*forced_watch=*/false); }},
    {"create", "POST", Where::kCollection, "create", "post",
     [](const Capabilities& c) { return c.creater || c.named_creater; }, &NewCreateHandler},
    {"deletecollection", "DELETE", Where::kCollection, "deletecollection", "deletecollection",
     [](const Capabilities& c) { return c.collection_deleter != nullptr; },
     &NewDeleteCollectionHandler},
    {"get", "GET", Where::kItem, "read", "get", &CanGet, &NewGetHandler},
    {"update", "PUT", Where::kItem, "replace", "put",
     [](const Capabilities& c) { return c.updater != nullptr; }, &NewUpdateHandler},
    {"patch", "PATCH", Where::kItem, "patch", "patch", &CanPatch, &NewPatchHandler},
    {"delete", "DELETE", Where::kItem, "delete", "delete",
     [](const Capabilities& c) { return c.graceful_deleter != nullptr; }, &NewDeleteHandler},
};

// As in discovery, each method of a connecter is the verb it usually stands for.
std::string_view VerbOfMethod(std::string_view method) {
  if (method == "GET") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

}  // namespace

std::span<const VerbRow> Verbs() { return kVerbs; }

std::vector<std::string> VerbsOf(const rest::Capabilities& capabilities) {
  std::vector<std::string> verbs;
  for (const VerbRow& row : kVerbs) {
    if (row.served(capabilities)) verbs.emplace_back(row.verb);
  }
  if (capabilities.watcher && capabilities.lister) verbs.emplace_back("watch");
  if (capabilities.connecter) {
    for (const std::string& method : capabilities.connecter->ConnectMethods()) {
      const std::string_view verb = VerbOfMethod(method);
      if (!verb.empty()) verbs.emplace_back(verb);
    }
  }
  std::sort(verbs.begin(), verbs.end());
  verbs.erase(std::unique(verbs.begin(), verbs.end()), verbs.end());
  return verbs;
}

}  // namespace apiserver::inline v0::endpoints
