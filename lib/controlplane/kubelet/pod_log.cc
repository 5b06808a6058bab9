#include <optional>
#include <utility>

#include "apiserver/groups/core_options.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "controlplane/kubelet/access.h"
#include "controlplane/kubelet/log_stream.h"
#include "controlplane/kubelet/target.h"

// pods/log: k8s.io/kubernetes/pkg/registry/core/pod/rest, log.go.
namespace apiserver::v0::controlplane {
namespace {

using runtime::Object;

// Follows pod.LogLocation.
Parameters ParametersOf(const Object& options) {
  Parameters parameters;
  parameters.AddIf(options["follow"].AsBool(), "follow", "true");
  parameters.AddIf(options["previous"].AsBool(), "previous", "true");
  parameters.AddIf(options["timestamps"].AsBool(), "timestamps", "true");
  parameters.AddNumber("sinceSeconds", options["sinceSeconds"]);
  if (const runtime::Value* since = options.root().Find("sinceTime")) {
    // Null is Go's zero time, which an empty parameter stands for.
    parameters.Add("sinceTime", since->is_null() ? "0001-01-01T00:00:00Z" : since->AsString());
  }
  parameters.AddNumber("tailLines", options["tailLines"]);
  parameters.AddNumber("limitBytes", options["limitBytes"]);
  return parameters;
}

class PodLog final : public rest::Storage, public rest::ResourceStreamer {
 public:
  PodLog(AccessPtr access, runtime::KindPtr pod)
      : access_(std::move(access)), pod_(std::move(pod)) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(pod_, pod_->hub_version());
  }
  void Destroy() override { access_->kubelets->Stop(); }
  // Never called: the server asks by InputStreamLater.
  Result<Input> InputStream(const Context& /*ctx*/, std::string_view /*name*/,
                            const meta::QueryValues& /*query*/) override {
    return Status(Reason::kInternalError, "a log is not waited for");
  }
  void InputStreamLater(const Context& ctx, std::string_view name, const meta::QueryValues& query,
                        Opened opened) override {
    auto target = TargetFor(ctx, name, query);
    if (!target.ok()) return opened(target.status());
    // A pod that is on no node has no log yet.
    if (!*target) return opened(Input{});
    OpenLog(ctx,
            {.location = std::move((*target)->location),
             .pool = std::move((*target)->kubelet.pool),
             .pod = std::string(name),
             .memory = access_->memory,
             .on_tls_failure = access_->count_log_tls_failure},
            std::move(opened));
  }

 private:
  // Returns where the log is. nullopt: the pod is on no node.
  Result<std::optional<KubeletTarget>> TargetFor(const Context& ctx, std::string_view name,
                                                 const meta::QueryValues& query) {
    ASSIGN_OR_RETURN(const auto options, groups::core::OptionsFromQuery(access_->kinds.log, query));
    const bool insecure = (*options)["insecureSkipTLSVerifyBackend"].AsBool();
    access_->count_log(insecure);
    if (const auto errors = groups::core::ValidatePodLogOptions(*options); !errors.empty()) {
      return meta::NewInvalid({"", "PodLogOptions"}, name, errors);
    }
    ASSIGN_OR_RETURN(const runtime::ObjectPtr pod, ReadPod(*access_, ctx, name));
    ASSIGN_OR_RETURN(const std::string container,
                     ContainerOf(*pod, (*options)["container"].AsString()));
    if ((*pod)["spec"]["nodeName"].AsString().empty()) return std::optional<KubeletTarget>();
    std::string path = "/containerLogs/" + std::string(pod->namespace_()) + "/" +
                       std::string(pod->name()) + "/" + container;
    ASSIGN_OR_RETURN(KubeletTarget target, TargetOn(*access_, ctx, *pod, std::move(path),
                                                    ParametersOf(*options).Encode()));
    if (insecure) target.kubelet.pool = target.kubelet.insecure_pool;
    return std::optional<KubeletTarget>(std::move(target));
  }

  const AccessPtr access_;
  const runtime::KindPtr pod_;
};

}  // namespace

std::shared_ptr<rest::Storage> NewPodLog(AccessPtr access, runtime::KindPtr pod) {
  return std::make_shared<PodLog>(std::move(access), std::move(pod));
}

}  // namespace apiserver::v0::controlplane
