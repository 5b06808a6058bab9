// pkg/admission/config_test.go, pkg/server/options/admission_test.go
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/configuration.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

struct Named final : admission::Plugin {
  explicit Named(std::string n) : plugin(std::move(n)) {}
  std::string_view name() const override { return plugin; }
  bool Handles(admission::Operation) const override { return true; }
  std::string plugin;
};

std::string Selected(const admission::PluginSelection& selection) {
  const std::vector<admission::PluginChoice> choices = {
      {std::make_shared<Named>("plugin1")},
      {std::make_shared<Named>("plugin2"), /*on_by_default=*/false},
      {std::make_shared<Named>("plugin3")}};
  const auto selected = admission::SelectPlugins(choices, selection);
  if (!selected.ok()) return std::string(selected.status().message());
  std::string names;
  for (const auto& plugin : *selected) {
    if (!names.empty()) names += ",";
    names += plugin->name();
  }
  return names;
}

const std::string kHead = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";

std::string Read(const std::string& text, admission::AdmissionConfiguration* out = nullptr) {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->MakeDirectories("/etc", 0700).ok());
  REQUIRE(files->WriteAtomically("/etc/admission.yaml", text, 0600).ok());
  REQUIRE(files->WriteAtomically("/etc/webhook.yaml", "kind: X\n", 0600).ok());
  auto read = admission::ReadAdmissionConfiguration(*files, "/etc/admission.yaml",
                                                    {"MutatingAdmissionWebhook", "BanFlunder"});
  if (!read.ok()) return std::string(read.status().message());
  if (out) *out = *std::move(read);
  return "";
}

}  // namespace

// options/admission_test.go TestEnabledPluginNames
TEST_CASE("admission: plugins are switched on and off by name", "[admission]") {
  CHECK(Selected({}) == "plugin1,plugin3");
  CHECK(Selected({.enable = {"plugin2"}}) == "plugin1,plugin2,plugin3");
  CHECK(Selected({.enable = {"plugin2", "plugin1"}, .disable = {"plugin3"}}) == "plugin1,plugin2");
  CHECK(Selected({.disable = {"plugin1", "plugin3"}}).empty());
}

// options/admission.go Validate
TEST_CASE("admission: names of plugins that are unknown or contradict are refused", "[admission]") {
  CHECK(Selected({.enable = {"pluginA"}}) ==
        "enable-admission-plugins plugin \"pluginA\" is unknown; this server has plugin1, plugin2, "
        "plugin3");
  CHECK(Selected({.disable = {"pluginB"}}) ==
        "disable-admission-plugins plugin \"pluginB\" is unknown; this server has plugin1, "
        "plugin2, plugin3");
  CHECK(Selected({.enable = {"plugin1"}, .disable = {"plugin1"}}) ==
        "plugin1 in enable-admission-plugins and disable-admission-plugins overlapped");
}

// config_test.go TestReadAdmissionConfiguration
TEST_CASE("admission: a configuration stands in the file or in one beside it", "[admission]") {
  admission::AdmissionConfiguration read;
  CHECK(Read(kHead + "plugins:\n- name: MutatingAdmissionWebhook\n  path: webhook.yaml\n"
                     "- name: BanFlunder\n  configuration: {a: 1}\n",
             &read)
            .empty());
  REQUIRE(read.For("MutatingAdmissionWebhook"));
  CHECK(read.For("MutatingAdmissionWebhook")->text == "kind: X\n");
  CHECK(read.For("MutatingAdmissionWebhook")->where == "/etc/webhook.yaml");
  REQUIRE(read.For("BanFlunder"));
  CHECK(read.For("BanFlunder")->text == R"({"a":1})");
  CHECK(read.For("BanFlunder")->where == "/etc/admission.yaml");
  CHECK(read.For("other") == nullptr);
  CHECK(Read(kHead).empty());
}

TEST_CASE("admission: a wrong configuration is told by file and line", "[admission]") {
  CHECK(Read(kHead + "plugins:\n- name: Nobody\n").starts_with("/etc/admission.yaml: "));
  CHECK(Read(kHead + "plugins:\n- name: Nobody\n")
            .find("unknown admission plugin \"Nobody\"; this server has MutatingAdmissionWebhook, "
                  "BanFlunder") != std::string::npos);
  CHECK(Read(kHead + "plugins:\n- name: Nobody\n").find("line 4") != std::string::npos);
  CHECK(Read(kHead + "plugin: []\n").find("line 3") != std::string::npos);
  CHECK(Read("kind: Nothing\n").starts_with("/etc/admission.yaml: "));
  CHECK(Read(kHead + "plugins:\n- name: BanFlunder\n  path: gone.yaml\n")
            .find("unable to read the configuration of admission plugin \"BanFlunder\"") !=
        std::string::npos);
  const auto files = NewMemoryFileSystem();
  CHECK(admission::ReadAdmissionConfiguration(*files, "/no/such", {})
            .status()
            .message()
            .starts_with("unable to read admission control configuration from \"/no/such\": "));
  CHECK(admission::ReadAdmissionConfiguration(*files, "", {}).ok());
}

// plugin/webhook/config/kubeconfig_test.go TestLoadConfig; one version is served.
TEST_CASE("admission: what the file says to webhooks is read, or refused by name", "[admission]") {
  const auto read = [](const std::string& more) {
    return admission::ReadWebhookAdmissionConfiguration(
        {"apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\n" + more,
         "/etc/webhook.yaml"});
  };
  const auto why = [&](const std::string& more) {
    return std::string(read(more).status().message());
  };
  CHECK(read("")->kube_config_file.empty());
  CHECK(read("kubeConfigFile: /foo\n")->kube_config_file == "/foo");
  CHECK(why("kubeConfigFile: bar\n") ==
        R"(/etc/webhook.yaml: line 3: kubeConfigFile: Invalid value: "bar": must be an absolute )"
        "file path");
  CHECK(why("staticManifestsDir: /etc/hooks\n") ==
        "/etc/webhook.yaml: line 3: staticManifestsDir this server is told of webhooks by its API "
        "alone; leave it out");
  CHECK(why("other: 1\n").find("line 3") != std::string::npos);
}
