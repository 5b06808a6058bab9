#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission/configuration.h"
#include "apiserver/admission/webhook.h"
#include "apiserver/base/file_system.h"
#include "apiserver/client/cpprest/http_client.h"
#include "apiserver/groups/admissionregistration.h"
#include "parts/parts.h"

namespace sample {

namespace {

namespace admission = apiserver::admission;
using apiserver::Status;

// Early return; the library's own macro is private to it.
#define RETURN_IF_NOT_OK(expr) \
  if (Status status_ = (expr); !status_.ok()) return status_

class Admission final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
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
    mutating_ = std::make_shared<admission::InformedWebhooks>(admission::WebhookType::kMutating,
                                                              environment.log);
    validating_ = std::make_shared<admission::InformedWebhooks>(admission::WebhookType::kValidating,
                                                                environment.log);
    admission::WebhookAdmissionOptions options{
        .webhooks = mutating_,
        .new_client = apiserver::client::NewCpprestHttpClientFactory(),
        .log = &environment.log};
    std::vector<admission::PluginChoice> choices;
    choices.push_back({admission::NewMutatingWebhookAdmission(options)});
    options.webhooks = validating_;
    choices.push_back({admission::NewValidatingWebhookAdmission(options)});
    // The program's own come after the library's.
    for (const auto& plugin : config.admission) choices.push_back({plugin});
    RETURN_IF_NOT_OK(CheckConfiguration(choices));
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
  Status CheckConfiguration(const std::vector<admission::PluginChoice>& choices) const {
    std::vector<std::string> known;
    known.reserve(choices.size());
    for (const auto& choice : choices) known.emplace_back(choice.plugin->name());
    const auto configuration =
        admission::ReadAdmissionConfiguration(apiserver::RealFileSystem(), config_file_, known);
    RETURN_IF_NOT_OK(configuration.status());
    for (const auto& [name, told] : configuration->plugins) {
      if (name.ends_with("AdmissionWebhook")) {
        RETURN_IF_NOT_OK(admission::CheckWebhookAdmissionConfiguration(told));
      } else {
        return {apiserver::Reason::kInvalid,
                told.where + ": admission plugin " + name + " takes no configuration; remove it"};
      }
    }
    return {};
  }

  admission::PluginSelection selection_;
  std::string config_file_;
  std::shared_ptr<admission::InformedWebhooks> mutating_;
  std::shared_ptr<admission::InformedWebhooks> validating_;
};

}  // namespace

std::unique_ptr<Part> NewAdmission() { return std::make_unique<Admission>(); }

}  // namespace sample
