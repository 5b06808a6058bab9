#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apiserver/admission/configuration.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/admission/policy.h"
#include "apiserver/admission/webhook.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/admission.go.
namespace apiserver::inline v0::options {

// The objects that ApplyTo makes. They must outlive the configuration and the server.
struct Admission {
  // First, so that it goes last: webhooks' credentials are read there.
  std::unique_ptr<ThreadPool> executor = nullptr;
  // The sources of webhooks, which the installer of their group fills:
  // groups::admissionregistration::Install.
  std::shared_ptr<admission::InformedWebhooks> mutating = nullptr;
  std::shared_ptr<admission::InformedWebhooks> validating = nullptr;
  // The sources of policies, which the same installer fills.
  std::shared_ptr<admission::Policies> mutating_policies = nullptr;
  std::shared_ptr<admission::Policies> validating_policies = nullptr;
};

// The choice of admission plugins, and the file of their configurations.
struct AdmissionOptions {
  // --enable-admission-plugins, --disable-admission-plugins.
  admission::PluginSelection selection = {};
  // --admission-control-config-file: an AdmissionConfiguration; empty: plugins are told nothing.
  std::string config_file = {};
  // The names of the program's own plugins, for the help. Set them before AddFlags.
  std::vector<std::string> own_plugins = {};
  // The namespaces for the namespaceSelector of webhooks and policies and for the `namespaceObject`
  // of policies. Null: a namespace has its name and the label kubernetes.io/metadata.name.
  std::shared_ptr<const admission::Namespaces> namespaces = nullptr;
  // Plugins that run before those of policies and webhooks, and are chosen by the flags, too.
  std::vector<std::shared_ptr<const admission::Plugin>> first = {};
  // The names of plugins of policies and webhooks that this server does not have, as nothing tells
  // it their objects. Their sources are null.
  std::set<std::string, std::less<>> unavailable = {};

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Puts the plugins of policies and webhooks, in Kubernetes' order, before those that `config`
  // has, which are the program's own, and leaves the chosen ones. `config` must have its
  // authorizer, which policies ask. A program that does not serve the group
  // admissionregistration.k8s.io leaves these four plugins out: they refuse requests until they
  // know its objects. kInvalid: a name is unknown or chosen twice, or a file cannot be used; the
  // message names flag or file and remedy.
  Result<Admission> ApplyTo(server::Config& config, const Environment& environment) const;
};

}  // namespace apiserver::inline v0::options
