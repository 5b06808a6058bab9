#include "apiserver/server/install.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/registry/scale.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/rest/status.h"
#include "apiserver/runtime/schema_path.h"
#include "base/status_macros.h"

namespace apiserver::v0::server {
namespace {

Status RefusedKind(Reason reason, const runtime::Kind& kind, std::string_view why) {
  std::string text = "cannot serve ";
  text.append(kind.group_resource().ToString()).append(": ").append(why);
  return {reason, std::move(text)};
}

// The strategies that a resource leaves out.
void FillIn(Resource& resource) {
  if (resource.strategy == nullptr) resource.strategy = rest::NewKindStrategy(resource.kind);
  if (resource.status_strategy == nullptr) {
    resource.status_strategy = rest::NewStatusStrategy(resource.strategy, resource.kind);
  }
}

Status CheckSubresources(const Resource& resource) {
  for (const auto& [name, make] : resource.subresources) {
    if (name.empty() || name.find('/') != std::string::npos) {
      return RefusedKind(Reason::kInvalid, *resource.kind,
                         "a subresource cannot be called " + field::Quote(name));
    }
    if (!make) {
      return RefusedKind(Reason::kInvalid, *resource.kind,
                         "nothing makes its subresource " + field::Quote(name));
    }
  }
  return {};
}

Status CheckPath(const runtime::Kind& kind, const runtime::KindVersion& version,
                 std::string_view what, std::string_view path) {
  const auto found = runtime::SchemaAt(*version.schema, path);
  if (found.ok()) return {};
  std::string why = "its version " + version.version + " has ";
  return RefusedKind(Reason::kInvalid, kind,
                     why.append(what).append(", but ").append(found.status().message()));
}

// Checks the fields that the subresources of each version show.
Status CheckShown(const runtime::Kind& kind) {
  for (const runtime::KindVersion& version : kind.versions()) {
    if (version.schema == nullptr) continue;
    if (version.status_subresource.value_or(false)) {
      RETURN_IF_ERROR(CheckPath(kind, version, "a status subresource", "status"));
    }
    if (!version.scale) continue;
    for (const std::string* path : {&version.scale->spec_replicas, &version.scale->status_replicas,
                                    &version.scale->label_selector}) {
      if (!path->empty()) RETURN_IF_ERROR(CheckPath(kind, version, "a scale subresource", *path));
    }
  }
  return {};
}

Status CheckResource(const Resource& resource) {
  const runtime::Kind& kind = *resource.kind;
  const auto& versions = kind.versions();
  const bool served =
      std::any_of(versions.begin(), versions.end(),
                  [](const runtime::KindVersion& version) { return version.served; });
  if (!served) return RefusedKind(Reason::kInvalid, kind, "it is served in no version");
  if (resource.strategy->NamespaceScoped() != kind.namespaced()) {
    return RefusedKind(Reason::kInvalid, kind,
                       kind.namespaced() ? "its kind is in namespaces, its strategy is not"
                                         : "its strategy is in namespaces, its kind is not");
  }
  RETURN_IF_ERROR(CheckShown(kind));
  return CheckSubresources(resource);
}

// The scheme would put the kind in the place of another one.
Status CheckScheme(const runtime::Scheme::Snapshot& scheme, const runtime::KindPtr& kind) {
  for (const runtime::KindPtr& other : scheme.kinds()) {
    if (other == kind) continue;
    if (other->group_kind() == kind->group_kind()) {
      return RefusedKind(Reason::kConflict, *kind,
                         "the scheme knows another kind " + kind->group_kind().ToString());
    }
    if (other->group_resource() == kind->group_resource()) {
      return RefusedKind(Reason::kConflict, *kind,
                         "its plural is that of the kind " + other->group_kind().ToString());
    }
  }
  return {};
}

// The scheme does not know them yet, so they are compared with each other. Quadratic, for a short
// list.
Status CheckTwice(const std::vector<Resource>& resources, std::size_t at) {
  for (std::size_t i = 0; i < at; ++i) {
    const runtime::Kind& kind = *resources[at].kind;
    const runtime::Kind& other = *resources[i].kind;
    if (other.group_kind() == kind.group_kind() ||
        other.group_resource() == kind.group_resource()) {
      return RefusedKind(Reason::kInvalid, kind, "two of the kinds have its name or plural");
    }
  }
  return {};
}

// Returns the options of a kind's scale subresource. nullopt: it has none.
Result<std::optional<registry::ScaleOptions>> ScaleOf(const runtime::Kind& kind,
                                                      const Clock& clock) {
  const auto& versions = kind.versions();
  const bool scaled =
      std::any_of(versions.begin(), versions.end(), [](const runtime::KindVersion& version) {
        return version.served && version.scale.has_value();
      });
  if (!scaled) return std::optional<registry::ScaleOptions>();
  const std::optional<runtime::ScalePaths>& hub = kind.FindVersion(kind.hub_version())->scale;
  if (!hub) {
    return RefusedKind(
        Reason::kInvalid, kind,
        "it has a scale subresource, and its hub version " + kind.hub_version() + " has none");
  }
  registry::ScaleOptions options{.spec_replicas_path = hub->spec_replicas,
                                 .status_replicas_path = hub->status_replicas,
                                 .label_selector_path = hub->label_selector,
                                 .clock = &clock};
  for (const runtime::KindVersion& version : versions) {
    if (version.scale)
      options.spec_replicas_path_in[version.version] = version.scale->spec_replicas;
    // Owners of the replicas may have come by a version without scale.
    for (const runtime::RenameField& rename : version.conversions) {
      if (!version.scale && "." + rename.hub == hub->spec_replicas) {
        options.spec_replicas_path_in[version.version] = "." + rename.here;
      }
    }
  }
  return std::optional(std::move(options));
}

// Installs what it is given, and takes all of it back unless it is kept.
// All or nothing: a host that is told of an error need not take anything back itself.
class Installation {
 public:
  Installation(Handler& server, const registry::StorageConfig& storage)
      : server_(server), storage_(storage) {}
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;
  ~Installation() {
    for (const runtime::GroupVersionResource& resource : installed_) {
      (void)server_.RemoveAPIResource(resource);  // Is there: nothing else knows of it yet.
    }
    for (const runtime::KindPtr& kind : added_) server_.scheme().Remove(kind->group_kind());
    for (const std::shared_ptr<registry::Store>& store : unserved_) store->Destroy();
  }

  // Each kind is served in all its versions before the next begins.
  Result<std::shared_ptr<registry::Store>> Install(const Resource& resource) {
    ASSIGN_OR_RETURN(std::shared_ptr<registry::Store> store, NewStore(resource));
    unserved_.push_back(store);
    ASSIGN_OR_RETURN(const Subresources subresources, SubresourcesOf(resource, store));
    const auto known = server_.scheme().snapshot()->kinds();
    if (std::find(known.begin(), known.end(), resource.kind) == known.end()) {
      RETURN_IF_ERROR(server_.scheme().Add(resource.kind));
      added_.push_back(resource.kind);
    }
    for (const runtime::KindVersion& version : resource.kind->versions()) {
      if (version.served) RETURN_IF_ERROR(Serve(resource, version, store, subresources));
    }
    return store;
  }

  void Keep() {
    installed_.clear();
    added_.clear();
    unserved_.clear();
  }

 private:
  struct Subresources {
    std::shared_ptr<rest::Storage> status;
    std::shared_ptr<rest::Storage> scale;
    std::map<std::string, std::shared_ptr<rest::Storage>> further;
  };

  Result<std::shared_ptr<registry::Store>> NewStore(const Resource& resource) const {
    registry::StoreOptions options{.kind = resource.kind, .strategy = resource.strategy};
    if (resource.configure) resource.configure(options);
    return registry::NewStore(storage_, std::move(options));
  }

  Result<Subresources> SubresourcesOf(const Resource& resource,
                                      const std::shared_ptr<registry::Store>& store) const {
    Subresources made;
    ASSIGN_OR_RETURN(made.status, registry::NewStatusStore(store, resource.status_strategy));
    ASSIGN_OR_RETURN(const auto scale, ScaleOf(*resource.kind, *storage_.clock));
    if (scale) {
      ASSIGN_OR_RETURN(made.scale, registry::NewScaleStore(store, *scale));
    }
    for (const auto& [name, make] : resource.subresources) {
      ASSIGN_OR_RETURN(made.further[name], make(store));
    }
    return made;
  }

  Status Serve(const Resource& resource, const runtime::KindVersion& version,
               const std::shared_ptr<registry::Store>& store, const Subresources& subresources) {
    const std::string& plural = resource.kind->plural();
    APIResourceInfo info{.resource = {resource.kind->group(), version.version, plural},
                         .storage = {{plural, store}}};
    const std::string below = plural + "/";
    if (version.status_subresource.value_or(false)) {
      info.storage[below + "status"] = subresources.status;
    }
    if (version.scale) info.storage[below + "scale"] = subresources.scale;
    for (const auto& [name, storage] : subresources.further) info.storage[below + name] = storage;
    const runtime::GroupVersionResource served = info.resource;
    RETURN_IF_ERROR(server_.InstallAPIResource(std::move(info)));
    installed_.push_back(served);
    // The server destroys it from here on.
    std::erase(unserved_, store);
    return {};
  }

  Handler& server_;
  const registry::StorageConfig& storage_;
  std::vector<runtime::GroupVersionResource> installed_;
  std::vector<runtime::KindPtr> added_;
  std::vector<std::shared_ptr<registry::Store>> unserved_;
};

}  // namespace

// Everything is checked before anything is installed, so that most errors change nothing even for a
// moment.
Result<std::vector<std::shared_ptr<registry::Store>>> InstallKinds(
    Handler& server, const registry::StorageConfig& storage, std::vector<Resource> resources) {
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (resources[i].kind == nullptr) {
      return Status(Reason::kInvalid, "cannot serve a resource without kind");
    }
    RETURN_IF_ERROR(CheckTwice(resources, i));
    FillIn(resources[i]);
    RETURN_IF_ERROR(CheckResource(resources[i]));
    RETURN_IF_ERROR(CheckScheme(*server.scheme().snapshot(), resources[i].kind));
  }
  Installation installation(server, storage);
  std::vector<std::shared_ptr<registry::Store>> stores;
  for (const Resource& resource : resources) {
    ASSIGN_OR_RETURN(stores.emplace_back(), installation.Install(resource));
  }
  installation.Keep();
  return stores;
}

}  // namespace apiserver::v0::server
