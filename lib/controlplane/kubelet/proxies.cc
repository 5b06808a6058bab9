#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/random.h"
#include "apiserver/groups/core_options.h"
#include "apiserver/meta/errors.h"
#include "apiserver/proxy/upgrade_aware_handler.h"
#include "base/status_macros.h"
#include "controlplane/kubelet/access.h"
#include "controlplane/kubelet/target.h"

// pods/proxy, services/proxy and nodes/proxy:
// k8s.io/kubernetes/pkg/registry/core/{pod/rest,service,node/rest}.
namespace apiserver::v0::controlplane {
namespace {

using runtime::Object;
using runtime::Value;

// The place that a proxy forwards to, but for the path.
struct ProxyTarget {
  std::string scheme;
  std::string host;
  std::shared_ptr<proxy::UpstreamPool> pool;
  std::optional<proxy::Endpoint> endpoint = {};
};

// Finds the place that the name in a path stands for.
using FindTarget =
    std::function<Result<ProxyTarget>(Access& access, const Context& ctx, std::string_view id)>;

class ProxySubresource final : public rest::Storage, public rest::Connecter {
 public:
  ProxySubresource(AccessPtr access, runtime::KindPtr options, FindTarget find)
      : access_(std::move(access)), options_(std::move(options)), find_(std::move(find)) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(options_, options_->hub_version());
  }
  std::vector<std::string> ConnectMethods() const override {
    return {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};
  }
  bool TakesSubpath() const override { return true; }
  bool WebSocketNeedsCreate() const override { return false; }
  bool StreamsBody() const override { return true; }

  // The path is that of the request, whatever its query says.
  Result<std::unique_ptr<Object>> NewConnectOptions(const meta::QueryValues& query,
                                                    std::string_view subpath) override {
    ASSIGN_OR_RETURN(auto options, groups::core::OptionsFromQuery(options_, query));
    if (subpath.empty()) {
      options->Erase("path");
    } else {
      options->Edit("path") = subpath;
    }
    return options;
  }

  Result<http::Handler> Connect(const Context& ctx, const rest::ConnectRequest& request) override {
    ASSIGN_OR_RETURN(ProxyTarget target, find_(*access_, ctx, request.name));
    proxy::UpgradeAwareHandler handler{
        .location = {.scheme = std::move(target.scheme),
                     .host = std::move(target.host),
                     .path = PathOf((*request.options)["path"].AsString())},
        .pool = std::move(target.pool),
        .endpoint = std::move(target.endpoint),
        .wrap_transport = true,
        .pipes = access_->pipes,
        .max_bytes_per_sec = access_->max_bytes_per_sec};
    return http::Handler([handler = std::move(handler)](http::Exchange& exchange) {
      proxy::UpgradeAwareHandler mine = handler;
      mine.user = UserOf(exchange);
      return mine.ServeHTTP(exchange);
    });
  }

 private:
  const AccessPtr access_;
  const runtime::KindPtr options_;
  const FindTarget find_;
};

// Takes the name apart. `what` is the resource in the error: "pod".
Result<SchemeNamePort> Split(std::string_view what, std::string_view id) {
  auto parts = SplitSchemeNamePort(id);
  if (parts) return *std::move(parts);
  return meta::NewBadRequest("invalid " + std::string(what) + " request " + field::Quote(id));
}

// Returns the first port of the first container that has any. Empty: none has.
std::string FirstPort(const Object& pod) {
  for (const Value container : pod["spec"]["containers"].items()) {
    const Value port = container["ports"].at(0)["containerPort"];
    if (!container["ports"].items().empty()) return std::to_string(port.AsInt());
  }
  return "";
}

// Returns the pod's addresses. A pod with one may have it in the older field alone.
std::vector<std::string> PodIps(const Object& pod) {
  const Value status = pod["status"];
  std::vector<std::string> ips;
  for (const Value ip : status["podIPs"].items()) ips.emplace_back(ip["ip"].AsString());
  if (ips.empty() && !status["podIP"].is_null()) ips.emplace_back(status["podIP"].AsString());
  return ips;
}

// Follows pod.ResourceLocation.
Result<ProxyTarget> FindPod(Access& access, const Context& ctx, std::string_view id) {
  ASSIGN_OR_RETURN(SchemeNamePort asked, Split("pod", id));
  ASSIGN_OR_RETURN(const runtime::ObjectPtr pod, ReadPod(access, ctx, asked.name));
  if (asked.port.empty()) asked.port = FirstPort(*pod);
  const std::vector<std::string> ips = PodIps(*pod);
  if (ips.empty() || !IsGlobalUnicast(ips.front())) {
    return meta::NewBadRequest("address not allowed");
  }
  return ProxyTarget{.scheme = std::move(asked.scheme),
                     .host = HostPort(ips.front(), asked.port),
                     .pool = access.proxy_pool};
}

// Follows node.ResourceLocation. The address that was checked is dialled, under the node's name.
Result<ProxyTarget> FindNode(Access& access, const Context& ctx, std::string_view id) {
  ASSIGN_OR_RETURN(SchemeNamePort asked, Split("node", id));
  ASSIGN_OR_RETURN(const ConnectionInfo kubelet,
                   access.kubelets->GetConnectionInfo(ctx, asked.name));
  ASSIGN_OR_RETURN(const std::string ip, CheckedAddressOf(kubelet.host));
  const std::string kubelet_port = std::to_string(kubelet.port);
  const bool to_kubelet = asked.port.empty() || asked.port == kubelet_port;
  ProxyTarget target{.scheme = to_kubelet ? "https" : std::move(asked.scheme),
                     .host = HostPort(kubelet.host, to_kubelet ? kubelet_port : asked.port),
                     .pool = to_kubelet ? kubelet.pool : access.proxy_pool};
  const auto endpoint = proxy::EndpointOf({.scheme = target.scheme, .host = target.host});
  if (!endpoint.ok()) return meta::NewBadRequest(std::string(endpoint.status().message()));
  target.endpoint = *endpoint;
  target.endpoint->server_name = kubelet.host;
  target.endpoint->host = ip;
  return target;
}

Status NoEndpoints(std::string_view id) {
  return {Reason::kServiceUnavailable, "no endpoints available for service " + field::Quote(id)};
}

// Returns the name of the port that `port` stands for: a number is one of the service's.
Result<std::string> PortName(const ReadStores& stores, const Context& ctx,
                             const SchemeNamePort& asked) {
  std::int64_t number = 0;
  const char* const end = asked.port.data() + asked.port.size();
  const auto read = std::from_chars(asked.port.data(), end, number);
  if (asked.port.empty() || read.ec != std::errc() || read.ptr != end) return asked.port;
  ASSIGN_OR_RETURN(const runtime::ObjectPtr service, Read(stores.services, ctx, asked.name));
  for (const Value port : (*service)["spec"]["ports"].items()) {
    if (port["port"].AsInt() == number) return std::string(port["name"].AsString());
  }
  return Status(Reason::kServiceUnavailable, "no service port " + std::to_string(number) +
                                                 " found for service " + field::Quote(asked.name));
}

// Returns whether an address of endpoints is that of a pod of the request's namespace, as who may
// write endpoints could name any other. Follows isValidAddress; that the address is global unicast
// is checked once more, which upstream leaves to the validation of endpoints.
bool IsPodsAddress(const ReadStores& stores, const Context& ctx, Value address) {
  const Value pod_ref = address["targetRef"];
  if (pod_ref.is_null() || pod_ref["namespace"].AsString() != rest::NamespaceOf(ctx)) return false;
  const auto pod = Read(stores.pods, ctx, pod_ref["name"].AsString());
  if (!pod.ok()) return false;
  const std::string_view ip = address["ip"].AsString();
  const std::vector<std::string> ips = PodIps(**pod);
  return IsGlobalUnicast(ip) && std::find(ips.begin(), ips.end(), ip) != ips.end();
}

// Calls `use` with each item, beginning at a random one, until it returns true.
template <class Use>
bool AnyFromRandom(std::span<const Value> items, const Use& use) {
  const std::size_t start = items.empty() ? 0 : SecureRandom().Below(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (use(items[(start + i) % items.size()])) return true;
  }
  return false;
}

// Follows REST.ResourceLocation of services.
Result<ProxyTarget> FindService(Access& access, const Context& ctx, std::string_view id) {
  ASSIGN_OR_RETURN(const SchemeNamePort asked, Split("service", id));
  const ReadStores stores = *access.stores.Lock();
  ASSIGN_OR_RETURN(const std::string port_name, PortName(stores, ctx, asked));
  ASSIGN_OR_RETURN(const runtime::ObjectPtr endpoints, Read(stores.endpoints, ctx, asked.name));
  const Value subsets = (*endpoints)["subsets"];
  if (subsets.items().empty()) return NoEndpoints(asked.name);
  ProxyTarget target{.scheme = asked.scheme, .pool = access.proxy_pool};
  const bool found = AnyFromRandom(subsets.items(), [&](Value subset) {
    for (const Value port : subset["ports"].items()) {
      if (port["name"].AsString() != port_name) continue;
      const bool valid = AnyFromRandom(subset["addresses"].items(), [&](Value address) {
        if (!IsPodsAddress(stores, ctx, address)) return false;
        target.host = HostPort(address["ip"].AsString(), std::to_string(port["port"].AsInt()));
        return true;
      });
      if (valid) return true;
    }
    return false;
  });
  if (!found) return NoEndpoints(id);
  return target;
}

}  // namespace

std::shared_ptr<rest::Storage> NewPodProxy(AccessPtr access) {
  runtime::KindPtr options = access->kinds.pod_proxy;
  return std::make_shared<ProxySubresource>(std::move(access), std::move(options), FindPod);
}

std::shared_ptr<rest::Storage> NewServiceProxy(AccessPtr access) {
  runtime::KindPtr options = access->kinds.service_proxy;
  return std::make_shared<ProxySubresource>(std::move(access), std::move(options), FindService);
}

std::shared_ptr<rest::Storage> NewNodeProxy(AccessPtr access) {
  runtime::KindPtr options = access->kinds.node_proxy;
  return std::make_shared<ProxySubresource>(std::move(access), std::move(options), FindNode);
}

}  // namespace apiserver::v0::controlplane
