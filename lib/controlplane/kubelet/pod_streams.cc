#include <memory>
#include <utility>
#include <vector>

#include "apiserver/groups/core_options.h"
#include "apiserver/meta/errors.h"
#include "apiserver/proxy/stream_translator.h"
#include "apiserver/proxy/stream_tunnel.h"
#include "apiserver/proxy/upgrade_aware_handler.h"
#include "base/status_macros.h"
#include "controlplane/kubelet/access.h"
#include "controlplane/kubelet/target.h"

// pods/exec, pods/attach and pods/portforward:
// k8s.io/kubernetes/pkg/registry/core/pod/rest, subresources.go.
namespace apiserver::v0::controlplane {
namespace {

using runtime::Object;

// Exec, attach and port-forward: a GET for a WebSocket, or a POST for SPDY.
class PodStream : public rest::Storage,
                  public rest::Connecter,
                  public std::enable_shared_from_this<PodStream> {
 public:
  PodStream(AccessPtr access, runtime::KindPtr options)
      : access_(std::move(access)), options_(std::move(options)) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(options_, options_->hub_version());
  }
  void Destroy() override { access_->kubelets->Stop(); }
  std::vector<std::string> ConnectMethods() const override { return {"GET", "POST"}; }
  Result<std::unique_ptr<Object>> NewConnectOptions(const meta::QueryValues& query,
                                                    std::string_view /*subpath*/) override {
    return groups::core::OptionsFromQuery(options_, query);
  }
  Result<http::Handler> Connect(const Context& ctx, const rest::ConnectRequest& request) override {
    ASSIGN_OR_RETURN(const runtime::ObjectPtr pod, ReadPod(*access_, ctx, request.name));
    ASSIGN_OR_RETURN(std::string path, PathFor(*pod, *request.options));
    if (pod->root()["spec"]["nodeName"].AsString().empty()) {
      return meta::NewBadRequest("pod " + std::string(request.name) +
                                 " does not have a host assigned");
    }
    ASSIGN_OR_RETURN(KubeletTarget target, TargetOn(*access_, ctx, *pod, std::move(path),
                                                    ParametersOf(*request.options).Encode()));
    return HandlerFor(std::move(target), *request.options);
  }

 protected:
  // Returns the path on the kubelet. kBadRequest: the container is not named, or is not there.
  virtual Result<std::string> PathFor(const Object& pod, const Object& options) const = 0;
  virtual Parameters ParametersOf(const Object& options) const = 0;
  virtual http::Handler HandlerFor(KubeletTarget target, const Object& options) const = 0;

  // Passes an upgrade on to the kubelet as it is.
  http::Step Pipe(const KubeletTarget& target, http::Exchange& exchange) const {
    return proxy::UpgradeAwareHandler{.location = target.location,
                                      .pool = target.kubelet.pool,
                                      .upgrade_required = true,
                                      .pipes = access_->pipes,
                                      .user = UserOf(exchange),
                                      .max_bytes_per_sec = access_->max_bytes_per_sec}
        .ServeHTTP(exchange);
  }
  const Access& access() const { return *access_; }

 private:
  const AccessPtr access_;
  const runtime::KindPtr options_;
};

std::string PodPath(std::string_view what, const Object& pod) {
  return "/" + std::string(what) + "/" + std::string(pod.namespace_()) + "/" +
         std::string(pod.name());
}

// Exec and attach, whose streams are those of a command.
class RemoteCommand final : public PodStream {
 public:
  RemoteCommand(AccessPtr access, runtime::KindPtr options, std::string verb)
      : PodStream(std::move(access), std::move(options)), verb_(std::move(verb)) {}

 protected:
  Result<std::string> PathFor(const Object& pod, const Object& options) const override {
    ASSIGN_OR_RETURN(const std::string container,
                     ContainerOf(pod, options["container"].AsString()));
    return PodPath(verb_, pod) + "/" + container;
  }

  Parameters ParametersOf(const Object& options) const override {
    Parameters parameters;
    parameters.AddIf(options["stdin"].AsBool(), "input", "1");
    parameters.AddIf(options["stdout"].AsBool(), "output", "1");
    parameters.AddIf(options["stderr"].AsBool(), "error", "1");
    parameters.AddIf(options["tty"].AsBool(), "tty", "1");
    for (const runtime::Value word : options["command"].items()) {
      parameters.Add("command", word.AsString());
    }
    return parameters;
  }

  http::Handler HandlerFor(KubeletTarget target, const Object& options) const override {
    const proxy::RemoteCommandStreams streams{.stdin_open = options["stdin"].AsBool(),
                                              .stdout_open = options["stdout"].AsBool(),
                                              .stderr_open = options["stderr"].AsBool(),
                                              .tty = options["tty"].AsBool()};
    return [self = shared_from_this(), this, target = std::move(target),
            streams](http::Exchange& exchange) {
      if (!proxy::AsksForStreamProtocolV5(exchange.request())) return Pipe(target, exchange);
      return proxy::StreamTranslatorHandler{.location = target.location,
                                            .pool = target.kubelet.pool,
                                            .streams = streams,
                                            .pipes = access().pipes,
                                            .user = UserOf(exchange),
                                            .on_request = access().count_translation}
          .ServeHTTP(exchange);
    };
  }

 private:
  const std::string verb_;  // "exec" or "attach".
};

class PortForward final : public PodStream {
 public:
  using PodStream::PodStream;

 protected:
  Result<std::string> PathFor(const Object& pod, const Object& /*options*/) const override {
    return PodPath("portForward", pod);
  }

  Parameters ParametersOf(const Object& options) const override {
    std::string ports;
    for (const runtime::Value port : options["ports"].items()) {
      if (!ports.empty()) ports += ',';
      ports += std::to_string(port.AsInt());
    }
    Parameters parameters;
    parameters.AddIf(!ports.empty(), "port", ports);
    return parameters;
  }

  http::Handler HandlerFor(KubeletTarget target, const Object& /*options*/) const override {
    return [self = shared_from_this(), this, target = std::move(target)](http::Exchange& exchange) {
      if (!proxy::AsksForSpdyTunnel(exchange.request())) return Pipe(target, exchange);
      return proxy::TunnelingHandler{.location = target.location,
                                     .pool = target.kubelet.pool,
                                     .pipes = access().pipes,
                                     .user = UserOf(exchange),
                                     .on_request = access().count_tunnel}
          .ServeHTTP(exchange);
    };
  }
};

}  // namespace

std::shared_ptr<rest::Storage> NewPodExec(AccessPtr access) {
  runtime::KindPtr options = access->kinds.exec;
  return std::make_shared<RemoteCommand>(std::move(access), std::move(options), "exec");
}

std::shared_ptr<rest::Storage> NewPodAttach(AccessPtr access) {
  runtime::KindPtr options = access->kinds.attach;
  return std::make_shared<RemoteCommand>(std::move(access), std::move(options), "attach");
}

std::shared_ptr<rest::Storage> NewPodPortForward(AccessPtr access) {
  runtime::KindPtr options = access->kinds.port_forward;
  return std::make_shared<PortForward>(std::move(access), std::move(options));
}

}  // namespace apiserver::v0::controlplane
