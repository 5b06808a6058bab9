#include "endpoints/installer.h"

#include <utility>

#include "base/status_macros.h"
#include "endpoints/field_managers.h"
#include "endpoints/verbs.h"
#include "request/verbs.h"

namespace apiserver::v0::endpoints {

namespace {

// Splits "flunders/status" into {"flunders", "status"}.
std::pair<std::string, std::string> Split(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {path, ""};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Status Refused(const std::string& path, std::string_view why) {
  return {Reason::kInvalid, "cannot serve resource \"" + path + "\": " + std::string(why)};
}

// Returns the kind of the storage's bodies.
runtime::GroupVersionKind GvkOf(const RequestScope& scope) {
  return scope.capabilities.gvk->GetGroupVersionKind(
      {scope.resource.group, scope.resource.version});
}

// Checks a storage, as APIInstaller.registerResourceHandlers: an error that would show later is
// refused now.
Status Check(const std::string& path, const RequestScope& scope, bool is_subresource) {
  const rest::Capabilities& can = scope.capabilities;
  if (!is_subresource) {
    if (!can.scoper) return Refused(path, "it does not say whether it is namespaced (Scoper)");
    if (!can.singular_name || can.singular_name->GetSingularName().empty()) {
      return Refused(path, "it has no singular name (SingularNameProvider)");
    }
  }
  if (can.watcher && !can.lister) return Refused(path, "it can watch but not list");
  if (scope.capabilities.gvk && scope.gvk() != GvkOf(scope)) {
    return Refused(path, "the scheme does not know the kind " + GvkOf(scope).kind +
                             " its bodies have (GroupVersionKindProvider)");
  }
  if (!scope.kind->FindVersion(scope.version)) {
    return Refused(path, "kind " + scope.kind->kind() + " has no version " + scope.version);
  }
  return {};
}

rest::WarningPtr DeprecationOf(const RequestScope& scope) {
  const runtime::KindVersion* const version = scope.kind->FindVersion(scope.version);
  if (!version || version->deprecation_warning.empty()) return nullptr;
  return std::make_shared<const rest::Warning>(version->deprecation_warning);
}

// Collects once what each request would otherwise ask the storage for.
std::shared_ptr<RequestScope> ScopeOf(const APIGroupVersion& group, const std::string& path,
                                      std::shared_ptr<rest::Storage> storage,
                                      rest::Storage& parent) {
  const auto [resource, subresource] = Split(path);
  auto scope = std::make_shared<RequestScope>();
  scope->environment = group.environment;
  scope->capabilities = rest::Capabilities::Of(*storage);
  // The storage tells its kind only by an object that it makes.
  const std::unique_ptr<runtime::Object> example = storage->New();
  scope->kind = example->kind_ptr();
  scope->version = group.group_version.version;
  scope->resource = {group.group_version.group, group.group_version.version, resource};
  scope->subresource = subresource;
  if (scope->capabilities.gvk) {
    const runtime::GroupVersionKind gvk = GvkOf(*scope);
    scope->version = gvk.version;
    // A storage may serve a kind of another group than its own objects', as Scale does.
    if (scope->kind->group_kind() != runtime::GroupKind{gvk.group, gvk.kind}) {
      if (auto kind = group.scheme->Find(gvk)) scope->kind = kind;
    }
  }
  scope->deprecation = DeprecationOf(*scope);
  const rest::Scoper* const scoper = rest::Capabilities::Of(parent).scoper;
  scope->namespaced = scoper && scoper->NamespaceScoped();
  scope->resource_kind = subresource.empty() ? scope->kind : parent.New()->kind_ptr();
  scope->target = {
      .kind = scope->kind, .version = scope->version, .table = scope->capabilities.table_convertor};
  scope->storage = std::move(storage);
  return scope;
}

// `check` runs before the body is read, `handler` afterwards.
void AddRows(const ScopePtr& scope, std::vector<Action>& actions) {
  for (const VerbRow& row : Verbs()) {
    if (!IsServed(row, *scope)) continue;
    actions.push_back({.method = std::string(row.method),
                       .where = scope->subresource.empty() ? row.where : Where::kItem,
                       .verb = row.verb,
                       .handler = row.make(scope),
                       .check = row.check,
                       .long_running = row.verb == "get" && scope->capabilities.streamer});
  }
  // A list with "?watch"; a resource that cannot be watched answers with that error.
  if (scope->subresource.empty() && scope->capabilities.lister) {
    actions.push_back({.method = "GET",
                       .where = Where::kCollection,
                       .verb = "watch",
                       .handler = NewListHandler(scope, ListForm::kWatch)});
  }
  if (IsWatched(*scope)) {
    actions.push_back({.method = "GET",
                       .where = Where::kWatchPath,
                       .verb = "watch",
                       .handler = NewListHandler(scope, ListForm::kWatchPath)});
  }
}

// Tells the body filter that the handler reads the body itself.
Status LeaveBody(const RequestScope& /*scope*/, http::Exchange& exchange) {
  exchange.Set(rest::StreamedBody{});
  return {};
}

// A connecter answers its methods alone, whatever else its storage can do.
void AddConnects(const ScopePtr& scope, std::vector<Action>& actions) {
  const bool streams_body = scope->capabilities.connecter->StreamsBody();
  for (const std::string& method : scope->capabilities.connecter->ConnectMethods()) {
    std::erase_if(actions, [&method](const Action& action) {
      return action.where == Where::kItem && action.method == method;
    });
    actions.push_back({.method = method,
                       .where = Where::kItem,
                       .verb = request::VerbOfMethod(method),
                       .handler = NewConnectHandler(scope),
                       .check = streams_body ? LeaveBody : nullptr,
                       .long_running = true});
  }
}

Resource ResourceOf(const ScopePtr& scope) {
  Resource resource{.scope = scope};
  const rest::Capabilities& can = scope->capabilities;
  AddRows(scope, resource.actions);
  if (can.connecter) {
    AddConnects(scope, resource.actions);
    resource.subpath = can.connecter->TakesSubpath();
  }
  if (can.getter_with_options && can.getter_with_options->TakesSubpath()) resource.subpath = true;
  return resource;
}

}  // namespace

// Fails as a whole: no resource of the group version is installed if one cannot be served.
Result<std::vector<std::shared_ptr<const Installed>>> APIGroupVersion::InstallREST() const {
  std::map<std::string, Resources> by_parent;
  FieldManagers field_managers(*environment);
  for (const auto& [path, rest_storage] : storage) {
    const auto [resource, subresource] = Split(path);
    if (resource.empty() || subresource.find('/') != std::string::npos) {
      return Refused(path, "a resource has at most one subresource part");
    }
    // A subresource takes its scope and its place in discovery from its parent.
    const auto parent = storage.find(resource);
    if (parent == storage.end()) return Refused(path, "its parent resource is not served");
    const auto scope = ScopeOf(*this, path, rest_storage, *parent->second);
    RETURN_IF_ERROR(Check(path, *scope, !subresource.empty()));
    scope->field_manager = field_managers.For(*scope);
    by_parent[resource].emplace(path, ResourceOf(scope));
  }
  std::string prefix = root;
  if (!group_version.group.empty()) prefix += "/" + group_version.group;
  prefix += "/" + group_version.version;
  std::vector<std::shared_ptr<const Installed>> installed;
  installed.reserve(by_parent.size());
  for (auto& [resource, resources] : by_parent) {
    installed.push_back(NewInstalled({group_version.group, group_version.version, resource}, prefix,
                                     std::move(resources)));
  }
  return installed;
}

}  // namespace apiserver::v0::endpoints
