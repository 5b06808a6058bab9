#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/openapi/spec.h"
#include "endpoints/handlers/patch_types.h"
#include "endpoints/installer.h"
#include "endpoints/verbs.h"
#include "openapi/option_parameters.h"

namespace apiserver::v0::endpoints {

namespace {

using openapi::Parameter;
using openapi::Route;

// OpenAPI names of meta/v1, which generated clients depend on.
constexpr std::string_view kMetaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";

std::string Meta(std::string_view name) { return std::string(kMetaPrefix) + std::string(name); }

std::string Title(std::string_view word) {
  std::string title(word);
  if (!title.empty()) title[0] = static_cast<char>(std::toupper(title[0]));
  return title;
}

// Converts "wardle.example.com" to "WardleExampleCom"; ".k8s.io" is dropped, the legacy group is
// "Core".
std::string GroupWord(std::string_view group) {
  if (group.empty()) return "Core";
  constexpr std::string_view kSuffix = ".k8s.io";
  if (group.ends_with(kSuffix)) group.remove_suffix(kSuffix.size());
  std::string word;
  while (!group.empty()) {
    const std::size_t dot = group.find('.');
    word += Title(group.substr(0, dot));
    group = dot == std::string_view::npos ? "" : group.substr(dot + 1);
  }
  return word;
}

void Append(std::vector<Parameter>& to, std::vector<Parameter> more) {
  for (Parameter& parameter : more) to.push_back(std::move(parameter));
}

// Makes the rows of one resource.
class RouteMaker {
 public:
  RouteMaker(const RequestScope& scope, const std::string& prefix)
      : scope_(scope), prefix_(prefix) {}

  // A subresource is below an item, whatever its row in the table says.
  void Add(const VerbRow& row, std::vector<Route>& routes) const {
    const bool item = row.where == Where::kItem || !scope_.subresource.empty();
    routes.push_back(Make(row, item, /*all_namespaces=*/false));
    // A list over all namespaces is a path of its own, without the namespace.
    if (row.verb == "list" && scope_.namespaced && !item) {
      routes.push_back(Make(row, item, /*all_namespaces=*/true));
    }
  }

  // Adds the deprecated watch paths.
  void AddWatches(std::vector<Route>& routes) const {
    routes.push_back(MakeWatch(/*item=*/false, /*all_namespaces=*/false));
    routes.push_back(MakeWatch(/*item=*/true, /*all_namespaces=*/false));
    if (scope_.namespaced) routes.push_back(MakeWatch(/*item=*/false, /*all_namespaces=*/true));
  }

  // `subpath`: the row for the paths below the subresource rather than for the subresource itself.
  void AddConnect(std::string_view method, bool subpath, std::vector<Route>& routes) const {
    Route route = Base(/*item=*/true, /*all_namespaces=*/false, "");
    route.method = method;
    route.action = "connect";
    std::string word(method);
    for (std::size_t i = 1; i < word.size(); ++i) {
      word[i] = static_cast<char>(std::tolower(word[i]));
    }
    route.operation_id =
        OperationId("connect", word, subpath ? "WithPath" : "", /*all_namespaces=*/false);
    if (subpath) {
      // OpenAPI cannot say that the rest of a path matches, so upstream has one parameter for it.
      route.path += "/{path}";
      route.parameters.push_back(
          {.name = "path", .in = "path", .description = "path to the resource", .required = true});
    }
    route.description = "connect " + word + " requests to " + scope_.subresource;
    route.produces = {"*/*"};
    route.responses = {{200, ""}};
    routes.push_back(std::move(route));
  }

 private:
  std::string Definition() const { return openapi::DefinitionName(*scope_.kind, scope_.version); }

  std::string Path(bool item, bool all_namespaces, std::string_view watch) const {
    std::string path = prefix_ + std::string(watch);
    if (scope_.namespaced && !all_namespaces) path += "/namespaces/{namespace}";
    path += "/" + scope_.resource.resource;
    if (item) path += "/{name}";
    if (!scope_.subresource.empty()) path += "/" + scope_.subresource;
    return path;
  }

  // Follows APIInstaller.registerResourceHandlers, for example listCoreV1NamespacedPod.
  std::string OperationId(std::string_view verb, std::string_view method_word,
                          std::string_view suffix, bool all_namespaces) const {
    std::string id(verb);
    id += GroupWord(scope_.resource.group) + Title(scope_.resource.version);
    id += method_word;
    if (scope_.namespaced && !all_namespaces) id += "Namespaced";
    // Clients name their methods by these ids, so they must be upstream's.
    id += scope_.resource_kind->kind() + Title(scope_.subresource) + std::string(suffix);
    if (all_namespaces) id += "ForAllNamespaces";
    return id;
  }

  Route Base(bool item, bool all_namespaces, std::string_view watch) const {
    Route route;
    route.path = Path(item, all_namespaces, watch);
    route.gvk = scope_.gvk();
    std::string group = GroupWord(scope_.resource.group);
    group[0] = static_cast<char>(std::tolower(group[0]));
    route.tag = group + "_" + scope_.resource.version;
    if (item) {
      route.parameters.push_back({.name = "name",
                                  .in = "path",
                                  .description = "name of the " + scope_.kind->kind(),
                                  .required = true});
    }
    if (scope_.namespaced && !all_namespaces) {
      route.parameters.push_back({.name = "namespace",
                                  .in = "path",
                                  .description = "object name and auth scope, such as for teams "
                                                 "and projects",
                                  .required = true});
    }
    route.parameters.push_back(openapi::PrettyParameter());
    route.produces = {"application/json", "application/yaml"};
    return route;
  }

  Route MakeWatch(bool item, bool all_namespaces) const {
    Route route = Base(item, all_namespaces, "/watch");
    route.method = "GET";
    route.action = item ? "watch" : "watchlist";
    route.operation_id = OperationId("watch", "", item ? "" : "List", all_namespaces);
    route.description = "watch changes to " + scope_.kind->kind() +
                        ". deprecated: use the 'watch' parameter with a list operation instead.";
    Append(route.parameters, openapi::ListParameters());
    route.parameters.push_back(openapi::WatchParameter());
    route.produces = {"application/json", "application/json;stream=watch"};
    route.responses = {{200, Meta("WatchEvent")}};
    return route;
  }

  Route Make(const VerbRow& row, bool item, bool all_namespaces) const {
    Route route = Base(item, all_namespaces, "");
    route.method = row.method;
    route.action = row.action;
    // As in APIInstaller, the deletion of a collection has an operation id of its own.
    const bool collection = row.verb == "deletecollection";
    route.operation_id =
        OperationId(row.operation, collection ? "Collection" : "", "", all_namespaces);
    if (collection) {
      route.operation_id = OperationId("delete", "Collection", "", all_namespaces);
    }
    Describe(row, route);
    return route;
  }

  // One branch for each verb of the table; responses are those of upstream's installer.
  void Describe(const VerbRow& row, Route& route) const {
    const std::string definition = Definition();
    const std::string& kind = scope_.resource_kind->kind();
    // The text is "the specified Widget", or "status of the specified Widget".
    const std::string the_kind =
        (scope_.subresource.empty() ? "the specified "
                                    : scope_.subresource + " of the specified ") +
        kind;
    if (row.verb == "list") {
      route.description = "list or watch objects of kind " + kind;
      Append(route.parameters, openapi::ListParameters());
      if (scope_.capabilities.watcher) route.parameters.push_back(openapi::WatchParameter());
      route.produces.emplace_back("application/json;stream=watch");
      route.responses = {{200, definition + "List"}};
    } else if (row.verb == "get") {
      route.description = "read " + the_kind;
      route.parameters.push_back(openapi::ResourceVersionParameter());
      route.responses = {{200, definition}};
    } else if (row.verb == "create") {
      route.description = "create " + kind;
      Append(route.parameters, openapi::WriteParameters());
      Body(route, definition, {"application/json", "application/yaml"});
      route.responses = {{200, definition}, {201, definition}, {202, definition}};
    } else if (row.verb == "update") {
      route.description = "replace " + the_kind;
      Append(route.parameters, openapi::WriteParameters());
      Body(route, definition, {"application/json", "application/yaml"});
      route.responses = {{200, definition}, {201, definition}};
    } else if (row.verb == "patch") {
      route.description = "partially update " + the_kind;
      Append(route.parameters, openapi::PatchParameters());
      Body(route, Meta("Patch"), PatchMediaTypes(*scope_.kind));
      route.responses = {{200, definition}, {201, definition}};
    } else {
      DescribeDelete(row, route);
    }
  }

  void DescribeDelete(const VerbRow& row, Route& route) const {
    Append(route.parameters, openapi::DeleteParameters());
    Body(route, Meta("DeleteOptions"), {"application/json", "application/yaml"});
    // A delete without a body has the default options.
    route.body_required = false;
    std::string answer = Meta("Status");
    if (row.verb == "deletecollection") {
      route.description = "delete collection of " + scope_.kind->kind();
      for (Parameter& parameter : openapi::ListParameters()) {
        // A deletion is no watch.
        if (parameter.name == "allowWatchBookmarks") continue;
        route.parameters.push_back(std::move(parameter));
      }
    } else {
      route.description = "delete " + Article() + scope_.kind->kind();
      const auto* full = scope_.capabilities.full_object_deleter;
      // Without this capability the answer is a Status.
      if (full && full->DeleteReturnsDeletedObject()) answer = Definition();
    }
    route.responses = {{200, answer}};
    if (row.verb == "delete") route.responses.push_back({202, answer});
  }

  std::string Article() const {
    return std::string_view("AEIOU").find(scope_.kind->kind()[0]) == std::string_view::npos ? "a "
                                                                                            : "an ";
  }

  static void Body(Route& route, std::string definition, std::vector<std::string> consumes) {
    route.body = std::move(definition);
    route.consumes = std::move(consumes);
  }

  const RequestScope& scope_;
  const std::string& prefix_;
};

}  // namespace

// The order is that of the resources' names, so that the document is the same on every server.
std::vector<openapi::Route> RoutesOf(const Resources& resources, const std::string& prefix) {
  std::vector<Route> routes;
  for (const auto& [path, resource] : resources) {
    const RequestScope& scope = *resource.scope;
    const RouteMaker maker(scope, prefix);
    for (const VerbRow& row : Verbs()) {
      if (IsServed(row, scope)) maker.Add(row, routes);
    }
    if (IsWatched(scope)) maker.AddWatches(routes);
    if (scope.capabilities.connecter) {
      for (const std::string& method : scope.capabilities.connecter->ConnectMethods()) {
        maker.AddConnect(method, /*subpath=*/false, routes);
        if (resource.subpath) maker.AddConnect(method, /*subpath=*/true, routes);
      }
    }
  }
  return routes;
}

}  // namespace apiserver::v0::endpoints
