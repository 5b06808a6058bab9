#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission/configuration.h"
#include "apiserver/admission/webhook.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/client/tracing.h"
#include "apiserver/client/webhook_users.h"
#include "apiserver/groups/admissionregistration.h"
#include "calls_out.h"
#include "cluster.h"
#include "parts/parts.h"

namespace sample {

namespace {

namespace admission = apiserver::admission;
namespace client = apiserver::client;
using apiserver::Result;
using apiserver::Status;

constexpr char kMutating[] = "MutatingAdmissionWebhook";
constexpr char kValidating[] = "ValidatingAdmissionWebhook";

// Early return; the library's own macro is private to it.
#define RETURN_IF_NOT_OK(expr) \
  if (Status status_ = (expr); !status_.ok()) return status_

class Admission final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    CLI::App& app = flags.app();
    app.add_option("--enable-admission-plugins", selection_.enable,
                   "Admission plugins to run besides those that run anyway, separated by commas")
        ->delimiter(',');
    app.add_option("--disable-admission-plugins", selection_.disable,
                   "Admission plugins not to run, separated by commas; known are BanFlunder, "
                   "MutatingAdmissionWebhook and ValidatingAdmissionWebhook")
        ->delimiter(',');
    app.add_option("--admission-control-config-file", config_file_,
                   "File with an AdmissionConfiguration");
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    std::vector<std::string> known = {kMutating, kValidating};
    for (const auto& plugin : config.admission) known.emplace_back(plugin->name());
    const auto configuration =
        admission::ReadAdmissionConfiguration(apiserver::RealFileSystem(), config_file_, known);
    if (!configuration.ok()) {
      return configuration.status().WithMessage("--admission-control-config-file: " +
                                                std::string(configuration.status().message()));
    }
    for (const auto& [name, told] : configuration->plugins) {
      if (name == kMutating || name == kValidating) continue;
      return {apiserver::Reason::kInvalid,
              told.where + ": admission plugin " + name + " takes no configuration; remove it"};
    }
    executor_ = apiserver::NewThreadPool({.name = "admission", .threads = 1});
    mutating_ = std::make_shared<admission::InformedWebhooks>(admission::WebhookType::kMutating,
                                                              environment.log);
    validating_ = std::make_shared<admission::InformedWebhooks>(admission::WebhookType::kValidating,
                                                                environment.log);
    auto options =
        WebhookOptions(environment, configuration->For(kMutating), mutating_, CallsOut(config));
    RETURN_IF_NOT_OK(options.status());
    std::vector<admission::PluginChoice> choices;
    choices.push_back({admission::NewMutatingWebhookAdmission(*options)});
    options =
        WebhookOptions(environment, configuration->For(kValidating), validating_, CallsOut(config));
    RETURN_IF_NOT_OK(options.status());
    choices.push_back({admission::NewValidatingWebhookAdmission(*options)});
    // The program's own come after the library's.
    for (const auto& plugin : config.admission) choices.push_back({plugin});
    auto selected = admission::SelectPlugins(choices, selection_);
    RETURN_IF_NOT_OK(selected.status());
    config.admission = *std::move(selected);
    return {};
  }

  Status Install(const Environment& /*environment*/, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    return apiserver::groups::admissionregistration::Install(
        server, {.storage = storage, .mutating = mutating_, .validating = validating_});
  }

 private:
  // Of the plugin to which the file says `told`; null: nothing.
  Result<admission::WebhookAdmissionOptions> WebhookOptions(
      const Environment& environment, const admission::PluginConfiguration* told,
      std::shared_ptr<const admission::WebhookSource> webhooks,
      client::HttpClientFactory new_client) const {
    client::WebhookUsers users;
    if (told != nullptr) {
      const auto read = admission::ReadWebhookAdmissionConfiguration(*told);
      RETURN_IF_NOT_OK(read.status());
      if (!read->kube_config_file.empty()) {
        auto found =
            client::WebhookUsers::ReadFile(apiserver::RealFileSystem(), read->kube_config_file);
        if (!found.ok()) {
          return found.status().WithMessage(
              told->where + ": kubeConfigFile: " + std::string(found.status().message()));
        }
        users = *std::move(found);
      }
    }
    if (auto pod = InPod()) users.SetCluster(*std::move(pod));
    return admission::WebhookAdmissionOptions{
        .webhooks = std::move(webhooks),
        .new_client = client::WithTracing(std::move(new_client)),
        .users = std::make_shared<const client::WebhookUsers>(std::move(users)),
        .executor = executor_.get(),
        .log = &environment.log};
  }

  // First, so that it goes last: webhooks' credentials are read there.
  std::unique_ptr<apiserver::ThreadPool> executor_;
  admission::PluginSelection selection_;
  std::string config_file_;
  std::shared_ptr<admission::InformedWebhooks> mutating_;
  std::shared_ptr<admission::InformedWebhooks> validating_;
};

}  // namespace

std::unique_ptr<Part> NewAdmission() { return std::make_unique<Admission>(); }

}  // namespace sample
