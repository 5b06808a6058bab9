#include "apiserver/admission/configuration.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "codec/config_reader.h"

namespace apiserver::v0::admission {

namespace {

using field::Path;
using runtime::Value;

constexpr std::string_view kApiVersion = "apiserver.config.k8s.io/v1";

Status InFile(const std::string& file, const Status& error) {
  return {Reason::kInvalid, file + ": " + std::string(error.message())};
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns `path` relative to the folder of `file`, which names it.
std::string Beside(const std::string& file, const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

// Reads one AdmissionConfiguration.
class ConfigurationReader {
 public:
  ConfigurationReader(const FileSystem& files, const std::string& path, std::string_view text,
                      const std::vector<std::string>& known)
      : files_(files), path_(path), known_(known), reader_(text) {}

  Result<AdmissionConfiguration> Read() {
    ASSIGN_OR_RETURN(const Value root, reader_.Parse("AdmissionConfiguration", {kApiVersion}));
    reader_.CheckFields(Path(), root, {"apiVersion", "kind", "plugins"});
    for (const auto& item : reader_.Items(Path("plugins"), root["plugins"])) {
      RETURN_IF_ERROR(ReadPlugin(item.path, item.value));
    }
    RETURN_IF_ERROR(reader_.Outcome());
    return std::move(configuration_);
  }

 private:
  // Returns an error only for another file that cannot be read; errors of this one are collected.
  Status ReadPlugin(const Path& path, const Value& plugin) {
    if (!reader_.IsMap(path, plugin)) return {};
    reader_.CheckFields(path, plugin, {"name", "path", "configuration"});
    const std::string name = reader_.Text(path.Child("name"), plugin["name"]);
    if (!Contains(known_, name)) {
      reader_.Wrong(path.Child("name"), "unknown admission plugin " + field::Quote(name) +
                                            "; this server has " + Joined(known_));
    }
    const std::string file = reader_.Text(path.Child("path"), plugin["path"]);
    // A configuration in the file itself is preferred, as in Go; of two entries the first counts.
    PluginConfiguration made{.where = path_};
    if (const Value inline_configuration = plugin["configuration"];
        !inline_configuration.is_null()) {
      codec::AppendJson(inline_configuration, made.text);
    } else if (!file.empty()) {
      made.where = Beside(path_, file);
      auto text = files_.Read(made.where);
      if (!text.ok()) {
        return {Reason::kInvalid, "unable to read the configuration of admission plugin " +
                                      field::Quote(name) + ": " +
                                      std::string(text.status().message())};
      }
      made.text = *std::move(text);
      // A plugin without a configuration runs with its defaults.
    } else {
      return {};
    }
    configuration_.plugins.emplace(name, std::move(made));
    return {};
  }

  const FileSystem& files_;
  const std::string& path_;
  const std::vector<std::string>& known_;
  codec::ConfigReader reader_;
  AdmissionConfiguration configuration_;
};

std::vector<std::string> NamesOf(const std::vector<PluginChoice>& choices) {
  std::vector<std::string> names;
  names.reserve(choices.size());
  for (const PluginChoice& choice : choices) names.emplace_back(choice.plugin->name());
  return names;
}

Status CheckKnown(const std::vector<std::string>& names, const std::vector<std::string>& known,
                  std::string_view flag) {
  for (const std::string& name : names) {
    if (Contains(known, name)) continue;
    return {Reason::kInvalid, std::string(flag) + " plugin " + field::Quote(name) +
                                  " is unknown; this server has " + Joined(known)};
  }
  return {};
}

}  // namespace

const PluginConfiguration* AdmissionConfiguration::For(std::string_view plugin) const {
  const auto at = plugins.find(plugin);
  return at == plugins.end() ? nullptr : &at->second;
}

Result<AdmissionConfiguration> ReadAdmissionConfiguration(const FileSystem& files,
                                                          const std::string& path,
                                                          const std::vector<std::string>& known) {
  if (path.empty()) return AdmissionConfiguration();
  const auto text = files.Read(path);
  if (!text.ok()) {
    return Status(Reason::kInvalid, "unable to read admission control configuration from " +
                                        field::Quote(path) + ": " +
                                        std::string(text.status().message()));
  }
  // Each file's errors are reported under its own name.
  auto configuration = ConfigurationReader(files, path, *text, known).Read();
  if (!configuration.ok()) return InFile(path, configuration.status());
  return configuration;
}

// Follows LoadConfig of webhook/config.
Result<WebhookAdmissionConfiguration> ReadWebhookAdmissionConfiguration(
    const PluginConfiguration& configuration) {
  codec::ConfigReader reader(configuration.text);
  const auto root = reader.Parse("WebhookAdmissionConfiguration", {kApiVersion});
  if (!root.ok()) return InFile(configuration.where, root.status());
  reader.CheckFields(Path(), *root, {"apiVersion", "kind", "kubeConfigFile", "staticManifestsDir"});
  WebhookAdmissionConfiguration read;
  const Path file("kubeConfigFile");
  read.kube_config_file = reader.Text(file, (*root)["kubeConfigFile"]);
  if (!read.kube_config_file.empty() && !read.kube_config_file.starts_with('/')) {
    field::ErrorList errors;
    errors.Invalid(file, read.kube_config_file, "must be an absolute file path");
    reader.Wrong(errors);
  }
  if (!reader.Text(Path("staticManifestsDir"), (*root)["staticManifestsDir"]).empty()) {
    reader.Wrong(Path("staticManifestsDir"),
                 "this server is told of webhooks by its API alone; leave it out");
  }
  const Status outcome = reader.Outcome();
  if (!outcome.ok()) return InFile(configuration.where, outcome);
  return read;
}

// Follows AdmissionOptions.enabledPluginNames: disabling concerns the plugins that are on by
// default.
Result<std::vector<std::shared_ptr<const Plugin>>> SelectPlugins(
    const std::vector<PluginChoice>& choices, const PluginSelection& selection) {
  const std::vector<std::string> known = NamesOf(choices);
  RETURN_IF_ERROR(CheckKnown(selection.enable, known, "enable-admission-plugins"));
  RETURN_IF_ERROR(CheckKnown(selection.disable, known, "disable-admission-plugins"));
  for (const std::string& name : selection.enable) {
    if (!Contains(selection.disable, name)) continue;
    return Status(Reason::kInvalid,
                  name + " in enable-admission-plugins and disable-admission-plugins overlapped");
  }
  std::vector<std::shared_ptr<const Plugin>> plugins;
  // The order of `choices` is the order in which the plugins run, so the flags must not change it.
  for (const PluginChoice& choice : choices) {
    const std::string_view name = choice.plugin->name();
    const bool on = choice.on_by_default ? !Contains(selection.disable, name)
                                         : Contains(selection.enable, name);
    if (on) plugins.push_back(choice.plugin);
  }
  return plugins;
}

}  // namespace apiserver::v0::admission
