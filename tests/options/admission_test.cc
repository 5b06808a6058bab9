#include "apiserver/options/admission.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/base/file_system.h"
#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;
using Texts = std::vector<std::string>;
using Words = ReadFlags::Words;

class OwnPlugin final : public admission::Plugin {
 public:
  std::string_view name() const override { return "Own"; }
  bool Handles(admission::Operation) const override { return true; }
};

// A program with a plugin of its own, and the options of a command line.
struct AdmittedServer {
  explicit AdmittedServer(const Words& words) {
    CHECK(files
              ->WriteAtomically("/own",
                                "apiVersion: apiserver.config.k8s.io/v1\nkind: "
                                "AdmissionConfiguration\nplugins:\n- name: Own\n  configuration: "
                                "{}\n",
                                0600)
              .ok());
    config.admission = {std::make_shared<OwnPlugin>()};
    AdmissionOptions options;
    ReadFlags flags;
    options.AddFlags(flags);
    CHECK(flags.Read(words).empty());
    auto applied = options.ApplyTo(config, {.files = files.get()});
    status = applied.status();
    if (applied.ok()) made = *std::move(applied);
  }

  Texts Plugins() const {
    Texts names;
    for (const auto& plugin : config.admission) names.emplace_back(plugin->name());
    return names;
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  Admission made;
  server::Config config;
  Status status;
};

}  // namespace

// The order is upstream's RecommendedPluginOrder.
TEST_CASE("options: policies and webhooks are asked before the program's own plugins",
          "[options]") {
  const AdmittedServer server(Words{});
  REQUIRE(server.status.ok());
  CHECK(server.Plugins() == Texts{"MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
                                  "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
                                  "Own"});
  CHECK(server.made.mutating);
  CHECK(server.made.validating);
  CHECK(server.made.mutating_policies);
  CHECK(server.made.validating_policies);
}

TEST_CASE("options: a plugin that is disabled does not run", "[options]") {
  const AdmittedServer server(Words{
      {"--disable-admission-plugins", "Own,MutatingAdmissionWebhook,ValidatingAdmissionPolicy"}});
  REQUIRE(server.status.ok());
  CHECK(server.Plugins() == Texts{"MutatingAdmissionPolicy", "ValidatingAdmissionWebhook"});
  const AdmittedServer both(
      {{"--disable-admission-plugins", "Own"}, {"--enable-admission-plugins", "Own"}});
  CHECK_FALSE(both.status.ok());
  const AdmittedServer unknown(Words{{"--enable-admission-plugins", "Nothing"}});
  CHECK(unknown.status.message() ==
        "enable-admission-plugins plugin \"Nothing\" is unknown; this server has "
        "MutatingAdmissionPolicy, MutatingAdmissionWebhook, ValidatingAdmissionPolicy, "
        "ValidatingAdmissionWebhook, Own");
}

TEST_CASE("options: a configuration for a plugin that takes none is refused", "[options]") {
  const AdmittedServer server(Words{{"--admission-control-config-file", "/own"}});
  CHECK(server.status.reason() == Reason::kInvalid);
  CHECK(server.status.message() == "/own: admission plugin Own takes no configuration; remove it");
  CHECK(AdmittedServer(Words{{"--admission-control-config-file", "/missing"}})
            .status.message()
            .starts_with("--admission-control-config-file: "));
}

TEST_CASE("options: the help names the plugins that there are", "[options]") {
  const auto help = [](const Texts& own) {
    AdmissionOptions options;
    options.own_plugins = own;
    ReadFlags flags;
    options.AddFlags(flags);
    return flags.Spec("--disable-admission-plugins")->help;
  };
  CHECK(help({}) ==
        "Admission plugins not to run, separated by commas; known are MutatingAdmissionPolicy, "
        "MutatingAdmissionWebhook, ValidatingAdmissionPolicy and ValidatingAdmissionWebhook");
  CHECK(help({"Own"}) ==
        "Admission plugins not to run, separated by commas; known are Own, "
        "MutatingAdmissionPolicy, MutatingAdmissionWebhook, ValidatingAdmissionPolicy and "
        "ValidatingAdmissionWebhook");
}

}  // namespace apiserver::inline v0::options
