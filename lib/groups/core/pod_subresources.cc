#include "groups/core/pod_subresources.h"

#include <memory>
#include <utility>
#include <vector>

#include "apiserver/codec/proto_schema.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/status.h"
#include "base/status_macros.h"
#include "groups/core/kinds.h"
#include "groups/core/pod_binding.h"
#include "groups/core/pod_eviction.h"
#include "groups/core/pod_subresource_validation.h"
#include "groups/core/pod_validation.h"
#include "groups/map_edit.h"
#include "groups/policy_api.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Object;
using runtime::Value;

// The rules of subresources that change some fields of a pod's spec. The generation counts them.
class SpecPart : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& pod) const override {
    return ValidatePodCreate(pod);
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& pod, const Object& old) const override {
    if (!KeepRest(pod, old)) return;
    if (pod["spec"] == old["spec"]) return;
    pod.Edit("metadata", "generation") = old.generation() + 1;
  }

 protected:
  // Sets everything else to what it was. False: it is left as it is, for validation to refuse.
  virtual bool KeepRest(Object& pod, const Object& old) const = 0;

  static void KeepOthers(Object& pod, const Object& old, Value spec) {
    pod.SetPath({"spec"}, spec);
    rest::KeepStatus(pod, old);
    rest::ResetObjectMetaForStatus(pod, old);
  }
};

// Follows podEphemeralContainersStrategy.
class EphemeralContainers final : public SpecPart {
 public:
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& pod,
                                  const Object& old) const override {
    return ValidateEphemeralContainersUpdate(pod, old);
  }

 private:
  bool KeepRest(Object& pod, const Object& old) const override {
    constexpr const char* kList = "ephemeralContainers";
    const Value containers = pod["spec"][kList];
    Value spec = runtime::Without(Copy(old["spec"], pod.arena()), kList, pod.arena());
    if (containers.size() != 0) spec = runtime::With(spec, kList, containers, pod.arena());
    KeepOthers(pod, old, spec);
    return true;
  }
};

// Takes resources and resizePolicy of each container, and the rest from before.
Value Resized(Value now, Value before, runtime::Arena& arena) {
  runtime::ListBuilder containers(arena);
  for (std::size_t i = 0; i < before.items().size(); ++i) {
    MapEdit container(Copy(before.at(i), arena), arena);
    for (const char* const key : {"resources", "resizePolicy"}) {
      const Value value = now.at(i)[key];
      if (!value.is_null()) {
        container.Set(key, value);
      } else if (!container[key].is_null()) {
        container.Erase(key);
      }
    }
    containers.Add(container.Build());
  }
  return containers.Build();
}

// Follows podResizeStrategy.
class Resize final : public SpecPart {
 public:
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& pod,
                                  const Object& old) const override {
    return ValidatePodResize(pod, old);
  }

 private:
  bool KeepRest(Object& pod, const Object& old) const override {
    MapEdit spec(Copy(old["spec"], pod.arena()), pod.arena());
    for (const char* const list : {"containers", "initContainers"}) {
      const Value now = pod["spec"][list];
      if (now.items().size() != old["spec"][list].items().size()) return false;
      if (now.size() == 0) continue;
      spec.Set(list, SameContainerNames(now, old["spec"][list])
                         ? Resized(now, old["spec"][list], pod.arena())
                         : now);
    }
    KeepOthers(pod, old, spec.Build());
    return true;
  }
};

// Returns Eviction of policy/v1, which is that of v1beta1, too.
Result<runtime::KindPtr> EvictionKind() {
  ASSIGN_OR_RETURN(const codec::ProtoSchemas schemas,
                   codec::ProtoSchemas::Load(policy_api::Descriptors()));
  ASSIGN_OR_RETURN(const runtime::SchemaPtr schema, schemas.Find("k8s.io.api.policy.v1.Eviction"));
  return runtime::Kind::New({.group = "policy",
                             .kind = "Eviction",
                             .plural = "evictions",
                             .versions = {{.version = "v1", .schema = schema},
                                          {.version = "v1beta1", .schema = schema}}});
}

}  // namespace

Result<std::map<std::string, server::Resource::Subresource>> PodSubresources(const Clock& clock) {
  using StorePtr = std::shared_ptr<registry::Store>;
  using Made = Result<std::shared_ptr<rest::Storage>>;
  ASSIGN_OR_RETURN(const runtime::KindPtr binding, BindingKind());
  ASSIGN_OR_RETURN(const runtime::KindPtr eviction, EvictionKind());
  std::map<std::string, server::Resource::Subresource> made;
  made["binding"] = [binding, &clock](StorePtr pods) -> Made {
    return NewPodBinding(std::move(pods), binding, clock);
  };
  made["eviction"] = [eviction, &clock](StorePtr pods) -> Made {
    return NewPodEviction(std::move(pods), eviction, clock);
  };
  made["ephemeralcontainers"] = [](StorePtr pods) -> Made {
    return registry::NewStatusStore(std::move(pods), std::make_shared<EphemeralContainers>());
  };
  made["resize"] = [](StorePtr pods) -> Made {
    return registry::NewStatusStore(std::move(pods), std::make_shared<Resize>());
  };
  return made;
}

}  // namespace apiserver::v0::groups::core
