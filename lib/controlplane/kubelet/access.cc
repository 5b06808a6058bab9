#include "controlplane/kubelet/access.h"

#include <array>
#include <utility>

#include "apiserver/auth/user.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "controlplane/kubelet/target.h"

namespace apiserver::v0::controlplane {
namespace {

// The lists of containers in the order in which podutil.VisitContainers walks them.
constexpr std::array<const char*, 3> kContainerLists = {"initContainers", "containers",
                                                        "ephemeralContainers"};

bool HasContainer(runtime::Value spec, std::string_view name) {
  for (const char* list : kContainerLists) {
    for (const runtime::Value container : spec[list].items()) {
      if (container["name"].AsString() == name) return true;
    }
  }
  return false;
}

// "[a b]", as Go prints a slice.
std::string ContainerNames(runtime::Value spec) {
  std::string names;
  for (const char* list : kContainerLists) {
    for (const runtime::Value container : spec[list].items()) {
      if (!names.empty()) names += ' ';
      names += container["name"].AsString();
    }
  }
  return "[" + names + "]";
}

}  // namespace

Result<runtime::ObjectPtr> Read(const std::weak_ptr<registry::Store>& store, const Context& ctx,
                                std::string_view name) {
  const auto kept = store.lock();
  if (kept == nullptr) return Status(Reason::kServiceUnavailable, "the server is not ready");
  return kept->Get(ctx, name, {});
}

Result<runtime::ObjectPtr> ReadPod(Access& access, const Context& ctx, std::string_view name) {
  const auto pods = access.stores.Lock()->pods;
  return Read(pods, ctx, name);
}

std::string UserOf(const http::Exchange& exchange) {
  const auto* user = exchange.Find<auth::UserInfoPtr>();
  return user == nullptr || *user == nullptr ? "" : (*user)->name;
}

Result<std::string> ContainerOf(const runtime::Object& pod, std::string_view wanted) {
  const runtime::Value spec = pod["spec"];
  const std::string name(pod.name());
  if (!wanted.empty()) {
    if (HasContainer(spec, wanted)) return std::string(wanted);
    return meta::NewBadRequest("container " + std::string(wanted) + " is not valid for pod " +
                               name);
  }
  const auto containers = spec["containers"].items();
  if (containers.size() == 1) return std::string(containers.front()["name"].AsString());
  std::string why = "a container name must be specified for pod " + name;
  if (!containers.empty()) why += ", choose one of: " + ContainerNames(spec);
  return meta::NewBadRequest(std::move(why));
}

Result<KubeletTarget> TargetOn(Access& access, const Context& ctx, const runtime::Object& pod,
                               std::string path, std::string query) {
  KubeletTarget target;
  ASSIGN_OR_RETURN(target.kubelet,
                   access.kubelets->GetConnectionInfo(ctx, pod["spec"]["nodeName"].AsString()));
  target.location = {.scheme = "https",
                     .host = HostPort(target.kubelet.host, std::to_string(target.kubelet.port)),
                     .path = std::move(path),
                     .raw_query = std::move(query)};
  return target;
}

}  // namespace apiserver::v0::controlplane
