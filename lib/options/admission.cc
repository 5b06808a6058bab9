#include "apiserver/options/admission.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "apiserver/authz/builtin.h"
#include "apiserver/client/tracing.h"
#include "apiserver/client/webhook_users.h"
#include "base/status_macros.h"
#include "options/calls_out.h"

namespace apiserver::v0::options {

namespace {

constexpr char kMutating[] = "MutatingAdmissionWebhook";
constexpr char kValidating[] = "ValidatingAdmissionWebhook";
// The plugins of Kubernetes in the order in which they run: RecommendedPluginOrder.
constexpr const char* kPlugins[] = {"MutatingAdmissionPolicy", kMutating,
                                    "ValidatingAdmissionPolicy", kValidating};

// "A, B and C".
std::string Listed(std::vector<std::string> names) {
  names.insert(names.end(), std::begin(kPlugins), std::end(kPlugins));
  std::string list = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    list += (i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return list;
}

// Returns the users under which a plugin calls webhooks. `told`: its part of the file. Null: it has
// none.
Result<client::WebhookUsers> UsersOf(const admission::PluginConfiguration* told,
                                     const Environment& environment) {
  client::WebhookUsers users;
  if (told != nullptr) {
    ASSIGN_OR_RETURN(const auto read, admission::ReadWebhookAdmissionConfiguration(*told));
    if (!read.kube_config_file.empty()) {
      auto found = client::WebhookUsers::ReadFile(*environment.files, read.kube_config_file);
      if (!found.ok()) {
        return found.status().WithMessage(
            told->where + ": kubeConfigFile: " + std::string(found.status().message()));
      }
      users = *std::move(found);
    }
  }
  if (environment.in_cluster) users.SetCluster(*environment.in_cluster);
  return users;
}

// Returns what expressions ask. A server without an authorizer allows everything, which they see.
std::shared_ptr<const auth::Authorizer> AuthorizerOf(const server::Config& config) {
  if (config.authorizer) return config.authorizer;
  return authz::NewAlwaysAllow();
}

// Returns what both webhook plugins share: all but their webhooks and users.
admission::WebhookAdmissionOptions WebhookOptions(server::Config& config, Executor& executor,
                                                  const Environment& environment) {
  return {.new_client = client::WithTracing(CallsOut(config)),
          .executor = &executor,
          .files = environment.files,
          .authorizer = AuthorizerOf(config),
          .log = environment.log};
}

// Returns what both policy plugins share: all but their policies.
admission::PolicyAdmissionOptions PolicyOptions(
    const server::Config& config, std::shared_ptr<const admission::Namespaces> namespaces,
    const Environment& environment) {
  return {.authorizer = AuthorizerOf(config),
          .namespaces = std::move(namespaces),
          .log = environment.log};
}

// The file, in which only the webhook plugins can be told something.
Result<admission::AdmissionConfiguration> ReadFile(const std::string& path,
                                                   const server::Config& config,
                                                   const Environment& environment) {
  std::vector<std::string> known(std::begin(kPlugins), std::end(kPlugins));
  for (const auto& plugin : config.admission) known.emplace_back(plugin->name());
  auto configuration = admission::ReadAdmissionConfiguration(*environment.files, path, known);
  if (!configuration.ok()) {
    return configuration.status().WithMessage("--admission-control-config-file: " +
                                              std::string(configuration.status().message()));
  }
  for (const auto& [name, told] : configuration->plugins) {
    if (name == kMutating || name == kValidating) continue;
    return Status(Reason::kInvalid,
                  told.where + ": admission plugin " + name + " takes no configuration; remove it");
  }
  return configuration;
}

}  // namespace

void AdmissionOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Admission");
  flags.Add({.name = "--enable-admission-plugins",
             .value = &selection.enable,
             .help = "Admission plugins to run besides those that run anyway, separated by commas",
             .comma_separated = true});
  flags.Add({.name = "--disable-admission-plugins",
             .value = &selection.disable,
             .help = "Admission plugins not to run, separated by commas; known are " +
                     Listed(own_plugins),
             .comma_separated = true});
  flags.Add({.name = "--admission-control-config-file",
             .value = &config_file,
             .help = "File with an AdmissionConfiguration"});
}

Result<Admission> AdmissionOptions::ApplyTo(server::Config& config,
                                            const Environment& environment) const {
  std::vector<admission::PluginChoice> choices;
  for (const auto& plugin : first) choices.push_back({plugin});
  ASSIGN_OR_RETURN(const auto told, ReadFile(config_file, config, environment));
  Admission made = {.executor = NewThreadPool({.name = "admission", .threads = 1}),
                    .mutating = std::make_shared<admission::InformedWebhooks>(
                        admission::WebhookType::kMutating, *environment.log),
                    .validating = std::make_shared<admission::InformedWebhooks>(
                        admission::WebhookType::kValidating, *environment.log),
                    .mutating_policies = admission::NewPolicies(
                        {.type = admission::PolicyType::kMutating, .log = environment.log}),
                    .validating_policies = admission::NewPolicies(
                        {.type = admission::PolicyType::kValidating, .log = environment.log})};
  auto options = WebhookOptions(config, *made.executor, environment);
  options.namespaces = namespaces;
  auto policies = PolicyOptions(config, namespaces, environment);
  policies.policies = made.mutating_policies;
  choices.push_back({admission::NewMutatingPolicyAdmission(policies)});
  ASSIGN_OR_RETURN(auto users, UsersOf(told.For(kMutating), environment));
  options.webhooks = made.mutating;
  options.users = std::make_shared<const client::WebhookUsers>(std::move(users));
  choices.push_back({admission::NewMutatingWebhookAdmission(options)});
  policies.policies = made.validating_policies;
  choices.push_back({admission::NewValidatingPolicyAdmission(policies)});
  ASSIGN_OR_RETURN(users, UsersOf(told.For(kValidating), environment));
  options.webhooks = made.validating;
  options.users = std::make_shared<const client::WebhookUsers>(std::move(users));
  choices.push_back({admission::NewValidatingWebhookAdmission(options)});
  std::erase_if(choices, [this](const admission::PluginChoice& choice) {
    return unavailable.contains(choice.plugin->name());
  });
  if (unavailable.contains(kMutating)) made.mutating = nullptr;
  if (unavailable.contains(kValidating)) made.validating = nullptr;
  if (unavailable.contains(kPlugins[0])) made.mutating_policies = nullptr;
  if (unavailable.contains(kPlugins[2])) made.validating_policies = nullptr;
  // The program's own judge what webhooks have changed.
  for (const auto& plugin : config.admission) choices.push_back({plugin});
  ASSIGN_OR_RETURN(config.admission, admission::SelectPlugins(choices, selection));
  return made;
}

}  // namespace apiserver::v0::options
