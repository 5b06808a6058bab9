#include "apiserver/options/recommended.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "apiserver/authn/bearer_token.h"
#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;
using Texts = std::vector<std::string>;

// All groups after a command line.
struct AllGroups {
  explicit AllGroups(const ReadFlags::Words& words) {
    options.AddFlags(flags);
    CHECK(flags.Read(words).empty());
  }

  ReadFlags flags;
  RecommendedOptions options;
};

}  // namespace

TEST_CASE("options: no two groups have a flag of the same name", "[options]") {
  const AllGroups all(ReadFlags::Words{});
  Texts names = all.flags.Names();
  CHECK(names.size() == 103);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(name.starts_with("--"));
  }
}

TEST_CASE("options: every flag stands in a section of kube-apiserver's help", "[options]") {
  AllGroups all(ReadFlags::Words{});
  for (const std::string& name : all.flags.Names()) {
    CAPTURE(name);
    CHECK_FALSE(all.flags.SectionOf(name).empty());
  }
  CHECK(all.flags.SectionOf("--standalone") == "Generic");
  CHECK(all.flags.SectionOf("--feature-gates") == "Generic");
  CHECK(all.flags.SectionOf("--etcd-servers") == "Etcd");
  CHECK(all.flags.SectionOf("--secure-port") == "Secure serving");
  CHECK(all.flags.SectionOf("--audit-log-path") == "Auditing");
  CHECK(all.flags.SectionOf("--profiling") == "Features");
  CHECK(all.flags.SectionOf("--client-ca-file") == "Authentication");
  CHECK(all.flags.SectionOf("--token-auth-file") == "Authentication");
  CHECK(all.flags.SectionOf("--authorization-mode") == "Authorization");
  CHECK(all.flags.SectionOf("--enable-admission-plugins") == "Admission");
  CHECK(all.flags.SectionOf("--tracing-config-file") == "Traces");
}

TEST_CASE("options: the defaults of all groups fit each other, standalone and in a cluster",
          "[options]") {
  const AllGroups standalone(ReadFlags::Words{});
  CHECK(standalone.options.Validate().empty());
  AllGroups cluster(ReadFlags::Words{{"--standalone", "false"}});
  CHECK_FALSE(cluster.options.standalone);
  CHECK(cluster.options.Validate().empty());
}

TEST_CASE("options: a host may refuse plug-ins in all files that flags name", "[options]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files
              ->WriteAtomically("/k",
                                "current-context: c\n"
                                "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                                "clusters: [{name: k, cluster: {server: 'https://a'}}]\n"
                                "users: [{name: u, user: {exec: {command: x, apiVersion: "
                                "client.authentication.k8s.io/v1, interactiveMode: Never}}}]\n",
                                0600)
              .ok());
  REQUIRE(files
              ->WriteAtomically(
                  "/authorization",
                  "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
                  "authorizers: [{type: Webhook, name: x, webhook: {timeout: 3s, "
                  "subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, "
                  "failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: "
                  "/k}}}]\n",
                  0600)
              .ok());
  REQUIRE(files
              ->WriteAtomically("/policy",
                                "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
                                "rules: [{level: Metadata}]\n",
                                0600)
              .ok());
  const Environment refusing{
      .standalone = false, .exec_plug_ins = client::ExecPlugIns::kRefused, .files = files.get()};
  const auto why = [](const auto& applied) {
    if constexpr (std::is_same_v<decltype(applied), const Status&>) {
      return std::string(applied.message());
    } else {
      return std::string(applied.status().message());
    }
  };
  const std::string refused = "kubeconfig: exec: credential plug-ins are not allowed here";
  server::Config config;
  AdmissionOptions admission;
  const auto options = [](const char* flag, const char* value) {
    return AllGroups({{"--standalone", "false"}, {flag, value}}).options;
  };
  CHECK(
      why(options("--authentication-kubeconfig", "/k").authentication.ApplyTo(config, refusing)) ==
      "--authentication-kubeconfig: /k: " + refused);
  CHECK(why(options("--authorization-kubeconfig", "/k").authorization.ApplyTo(config, refusing)) ==
        "--authorization-kubeconfig: /k: " + refused);
  CHECK(why(options("--authorization-config", "/authorization")
                .authorization.ApplyTo(config, refusing))
            .ends_with("/k: " + refused));
  CoreApiOptions core_api;
  core_api.wanted = true;
  core_api.kubeconfig_file = "/k";
  CHECK(why(core_api.ApplyTo(admission, refusing)) == "--kubeconfig: /k: " + refused);
  // The files of auditing are given on their own.
  RecommendedOptions auditing = options("--audit-webhook-config-file", "/k");
  auditing.audit.values.files = files.get();
  auditing.audit.values.policy_file = "/policy";
  Recommended made;
  CHECK(why(auditing.ApplyTo(config, refusing, made)) ==
        "--audit-webhook-config-file: /k: " + refused);
}

TEST_CASE("options: what is wrong with several groups is said of all", "[options]") {
  const AllGroups wrong({{"--standalone", "false"},
                         {"--etcd-prefix", "x"},
                         {"--audit-log-path", "/log"},
                         {"--requestheader-allowed-names", "proxy"},
                         {"--external-hostname", "api"},
                         {"--authorization-mode", "RBAC"},
                         {"--request-timeout", "0"},
                         {"--max-requests-inflight", "0"},
                         {"--max-mutating-requests-inflight", "0"}});
  const Texts problems = wrong.options.Validate();
  REQUIRE(problems.size() == 7);
  const Texts flags = {"--etcd-prefix ",
                       "--audit-log-path ",
                       "--requestheader-allowed-names ",
                       "--external-hostname ",
                       "--authorization-mode ",
                       "--request-timeout ",
                       "--max-requests-inflight=0 "};
  for (std::size_t i = 0; i < flags.size(); ++i) CHECK(problems[i].starts_with(flags[i]));
}

TEST_CASE("options: all groups are applied to one configuration", "[options]") {
  AllGroups all({{"--http2-max-streams-per-connection", "7"},
                 {"--api-audiences", "here"},
                 {"--authorization-always-allow-paths", "/metrics"},
                 {"--disable-admission-plugins", "MutatingAdmissionWebhook"},
                 {"--goaway-chance", "0.01"},
                 {"--profiling", "false"}});
  Recommended made;
  server::Config config;
  config.serving.emplace();
  config.authenticator =
      authn::NewBearerToken(authn::NewStaticTokens({{"admin", {.name = "admin"}}}));
  // The options' word counts, not the environment's.
  REQUIRE(all.options.ApplyTo(config, {.standalone = false}, made).ok());
  CHECK(config.serving->streams_max == 7);
  CHECK(config.api_audiences == Texts{"here"});
  CHECK(config.authenticator == made.authentication.authenticator);
  CHECK(config.authorizer == made.authorization.authorizer);
  CHECK(made.authorization.rbac);
  CHECK_FALSE(made.delegation);
  REQUIRE(config.admission.size() == 3);
  CHECK(config.admission[2]->name() == "ValidatingAdmissionWebhook");
  CHECK(config.goaway_chance == 0.01);
  CHECK_FALSE(config.enable_profiling);
}

TEST_CASE("options: the first group that cannot be applied says why", "[options]") {
  AllGroups all({{"--standalone", "false"},
                 {"--authentication-skip-lookup", "true"},
                 {"--authorization-config", "/does/not/exist"}});
  Recommended made;
  server::Config config;
  const Status applied = all.options.ApplyTo(config, {}, made);
  REQUIRE_FALSE(applied.ok());
  CHECK(applied.message().starts_with("--authorization-config: "));
}

}  // namespace apiserver::inline v0::options
