#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/controlplane/kubelet.h"
#include "base/status_macros.h"

namespace apiserver::v0::controlplane {
namespace {

constexpr std::chrono::minutes kReloadPeriod{1};

// The connections with one set of certificates. Requests in progress keep those that they began
// with.
struct Pools {
  std::shared_ptr<proxy::UpstreamPool> verifying;
  std::shared_ptr<proxy::UpstreamPool> insecure;
};

// The addresses as Go's %v prints them: "[{InternalIP 10.0.0.1} {Hostname a}]".
std::string Printed(runtime::Value addresses) {
  std::string text;
  for (const runtime::Value address : addresses.items()) {
    text += text.empty() ? "{" : " {";
    text.append(address["type"].AsString()).append(" ");
    text.append(address["address"].AsString()).append("}");
  }
  return "[" + text + "]";
}

class NodeConnections final : public ConnectionInfoGetter {
 public:
  NodeConnections(KubeletOptions options, std::function<std::shared_ptr<rest::Getter>()> nodes,
                  const ConnectionInfoDeps& deps)
      : options_(std::move(options)), nodes_(std::move(nodes)), deps_(deps) {}
  ~NodeConnections() override { Stop(); }

  // Reads the files for the first time.
  Status Start();
  Result<ConnectionInfo> GetConnectionInfo(const Context& ctx, std::string_view node) override;
  void Stop() override { auto watched = std::exchange(*watched_.Lock(), nullptr); }

 private:
  Status Use(const std::vector<std::string>& contents);
  Result<std::shared_ptr<proxy::UpstreamPool>> NewPool(http::ClientTls tls) const;
  Result<std::string> AddressOf(runtime::Value node) const;

  const KubeletOptions options_;
  const std::function<std::shared_ptr<rest::Getter>()> nodes_;
  const ConnectionInfoDeps deps_;
  Guarded<Pools> pools_;
  Guarded<std::unique_ptr<WatchedFiles>> watched_;
};

Status NodeConnections::Start() {
  std::vector<std::string> paths;
  for (const std::string* path :
       {&options_.certificate_authority, &options_.client_certificate, &options_.client_key}) {
    if (!path->empty()) paths.push_back(*path);
  }
  if (paths.empty()) return Use({});
  auto watched = WatchFiles(std::move(paths), kReloadPeriod,
                            {.files = *deps_.files, .executor = *deps_.executor, .log = *deps_.log},
                            [this](const auto& contents) { return Use(contents); });
  if (!watched.ok()) {
    return watched.status().WithMessage("--kubelet-*: " + std::string(watched.status().message()));
  }
  *watched_.Lock() = *std::move(watched);
  return {};
}

// `contents` are those of the files that are given, in the order of Start().
Status NodeConnections::Use(const std::vector<std::string>& contents) {
  http::ClientTls tls;
  std::size_t next = 0;
  if (!options_.certificate_authority.empty()) tls.ca_pem = contents.at(next++);
  if (!options_.client_certificate.empty()) {
    tls.client = {.certificate_pem = contents.at(next), .key_pem = contents.at(next + 1)};
  }
  Pools pools;
  ASSIGN_OR_RETURN(pools.verifying, NewPool(tls));
  tls.ca_pem.clear();
  ASSIGN_OR_RETURN(pools.insecure, NewPool(std::move(tls)));
  *pools_.Lock() = std::move(pools);
  return {};
}

Result<std::shared_ptr<proxy::UpstreamPool>> NodeConnections::NewPool(http::ClientTls tls) const {
  return proxy::NewUpstreamPool({.dialer = deps_.dialer,
                                 .tls = std::move(tls),
                                 .connect_timeout = options_.timeout,
                                 .memory = deps_.memory});
}

// Follows nodeutil.GetPreferredNodeAddress.
Result<std::string> NodeConnections::AddressOf(runtime::Value node) const {
  const runtime::Value addresses = node["status"]["addresses"];
  for (const std::string& type : options_.preferred_address_types) {
    for (const runtime::Value address : addresses.items()) {
      if (address["type"].AsString() == type) return std::string(address["address"].AsString());
    }
  }
  return Status(Reason::kUnknown,
                "no preferred addresses found; known addresses: " + Printed(addresses));
}

Result<ConnectionInfo> NodeConnections::GetConnectionInfo(const Context& ctx,
                                                          std::string_view node) {
  const auto nodes = nodes_();
  if (nodes == nullptr) return Status(Reason::kServiceUnavailable, "there are no nodes");
  // The request is for a pod in a namespace, which nodes have not.
  Context cluster = Context::Child(ctx);
  cluster.Set(rest::Namespace{});
  ASSIGN_OR_RETURN(const runtime::ObjectPtr found, nodes->Get(cluster, node, {}));
  ConnectionInfo info;
  ASSIGN_OR_RETURN(info.host, AddressOf(found->root()));
  const std::int64_t port =
      (*found)["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"].AsInt();
  info.port = port > 0 ? static_cast<int>(port) : options_.port;
  const Pools pools = *pools_.Lock();
  info.pool = pools.verifying;
  info.insecure_pool = pools.insecure;
  return info;
}

}  // namespace

Result<std::shared_ptr<ConnectionInfoGetter>> NewConnectionInfoGetter(
    const KubeletOptions& options, std::function<std::shared_ptr<rest::Getter>()> nodes,
    const ConnectionInfoDeps& deps) {
  RETURN_IF_ERROR(options.Validate());
  auto made = std::make_shared<NodeConnections>(options, std::move(nodes), deps);
  RETURN_IF_ERROR(made->Start());
  return std::shared_ptr<ConnectionInfoGetter>(std::move(made));
}

}  // namespace apiserver::v0::controlplane
