#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

// The selection of plugins and their configuration files: k8s.io/apiserver/pkg/admission/config.go
// and pkg/server/options/admission.go.
namespace apiserver::inline v0::admission {

// The configuration of one plugin.
struct PluginConfiguration {
  std::string text = {};   // YAML or JSON.
  std::string where = {};  // The file it was read from, for errors.
};

// An AdmissionConfiguration of apiserver.config.k8s.io/v1, read once.
struct AdmissionConfiguration {
  std::map<std::string, PluginConfiguration, std::less<>> plugins;  // By the plugin's name.

  // Returns the configuration of a plugin. Null: it has none.
  const PluginConfiguration* For(std::string_view plugin) const;
};

// Reads the file of --admission-control-config-file and the files it names, relative to its folder.
// An empty path: no plugin has a configuration. kInvalid, in one line with file, line and remedy:
// the file is malformed, or about a plugin that is not one of `known`.
Result<AdmissionConfiguration> ReadAdmissionConfiguration(const FileSystem& files,
                                                          const std::string& path,
                                                          const std::vector<std::string>& known);

// A WebhookAdmissionConfiguration of apiserver.config.k8s.io/v1.
struct WebhookAdmissionConfiguration {
  // An absolute path of a kubeconfig, for client::WebhookUsers. Empty: webhooks are called without
  // credentials.
  std::string kube_config_file = {};
};
// Reads the configuration of one of the webhook plugins. kInvalid, as above. staticManifestsDir is
// refused by name: webhooks are configured by the API alone.
Result<WebhookAdmissionConfiguration> ReadWebhookAdmissionConfiguration(
    const PluginConfiguration& configuration);

// A plugin that a server could run.
struct PluginChoice {
  std::shared_ptr<const Plugin> plugin = nullptr;
  bool on_by_default = true;
};
// The values of --enable-admission-plugins and --disable-admission-plugins.
struct PluginSelection {
  std::vector<std::string> enable = {};
  std::vector<std::string> disable = {};
};
// Returns the selected plugins, in the order of `choices` whatever the order of the names.
// kInvalid, in upstream's words: a name is unknown, or in both lists.
Result<std::vector<std::shared_ptr<const Plugin>>> SelectPlugins(
    const std::vector<PluginChoice>& choices, const PluginSelection& selection);

}  // namespace apiserver::inline v0::admission
