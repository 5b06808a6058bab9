#include "apiserver/options/api_enablement.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "text/trim.h"

namespace apiserver::v0::options {

namespace {

constexpr char kHelp[] =
    "Pairs that enable or disable built-in APIs:\n"
    "v1=true|false for the core group\n"
    "<group>/<version>=true|false for a version of a group, e.g. apps/v1=true\n"
    "<group>/<version>/<resource>=true|false for a resource of it\n"
    "api/all=true|false for all versions\n"
    "api/ga=true|false for all versions of the form v[0-9]+\n"
    "api/beta=true|false for all versions of the form v[0-9]+beta[0-9]+\n"
    "api/alpha=true|false for all versions of the form v[0-9]+alpha[0-9]+";

// Reads "key=value", "key" with an empty value, and passes over nothing at all, as upstream's
// ConfigurationMap does.
void Read(std::string_view pair, server::RuntimeConfig& config) {
  if (pair.empty()) return;
  const auto equals = pair.find('=');
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
  config[std::string(text::TrimSpace(pair.substr(0, equals)))] = text::TrimSpace(value);
}

}  // namespace

void APIEnablementOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("API enablement");
  flags.Add({.name = "--runtime-config",
             .value = ReadTexts([this](const std::vector<std::string>& texts) {
               for (const std::string& each : texts) Read(each, runtime_config);
               return Status();
             }),
             .help = kHelp,
             .comma_separated = true,
             .type_name = "PAIRS"});
}

std::vector<std::string> APIEnablementOptions::Validate(
    const server::ResourceConfig& defaults) const {
  // Nothing would be served.
  if (runtime_config == server::RuntimeConfig{{"api/all", "false"}}) {
    return {"invalid runtime-config with only api/all=false"};
  }
  const auto versions = server::ParseGroupVersions(runtime_config);
  if (!versions.ok()) return {std::string(versions.status().message())};
  std::set<std::string> unknown;
  for (const runtime::GroupVersion& version : *versions) {
    if (!defaults.KnowsGroup(version.group)) unknown.insert(version.ToString());
  }
  if (unknown.empty()) return {};
  std::string text;
  for (const std::string& each : unknown) text.append(text.empty() ? "" : ",").append(each);
  return {"unknown api groups " + text};
}

Status APIEnablementOptions::ApplyTo(server::Config& config,
                                     server::ResourceConfig defaults) const {
  ASSIGN_OR_RETURN(config.resource_config,
                   server::MergeAPIResourceConfigs(std::move(defaults), runtime_config));
  return {};
}

}  // namespace apiserver::v0::options
