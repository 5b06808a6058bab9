// A server behind an aggregator whose admission obeys a cluster, which is a server in process.
#include "apiserver/options/core_api.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "apiserver/base/file_system.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"
#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;

constexpr char kPath[] = "/cluster.kubeconfig";
constexpr char kPets[] = "/apis/zoo.example.com/v1/namespaces/den/pets";
constexpr char kTom[] =
    R"({"apiVersion":"zoo.example.com/v1","kind":"Pet","metadata":{"name":"tom"}})";

runtime::KindPtr KindOf(std::string group, std::string kind, std::string plural) {
  runtime::KindOptions options{
      .group = std::move(group), .kind = std::move(kind), .plural = std::move(plural)};
  const auto schema =
      runtime::StructBuilder("").Field("metadata", runtime::ObjectMetaSchema()).Build();
  options.versions = {{.version = "v1", .schema = schema}};
  return runtime::Kind::New(std::move(options)).value();
}

class OfCluster final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

// A cluster that has namespaces and validating webhooks, and no other objects of admission.
std::unique_ptr<testing::TestServer> StartCluster() {
  const auto strategy = std::make_shared<OfCluster>();
  return testing::StartTestServer(
             {.resources = {{.kind = KindOf("", "Namespace", "namespaces"), .strategy = strategy},
                            {.kind = KindOf("admissionregistration.k8s.io",
                                            "ValidatingWebhookConfiguration",
                                            "validatingwebhookconfigurations"),
                             .strategy = strategy}},
              .listen = true})
      .value();
}

CoreApiOptions Wanted(std::string kubeconfig = kPath) {
  return {.wanted = true, .kubeconfig_file = std::move(kubeconfig)};
}

// A server whose options are applied in a file system that has the cluster's kubeconfig.
struct Obeying {
  explicit Obeying(const client::Kubeconfig& cluster, const CoreApiOptions& options = Wanted(),
                   bool standalone = false) {
    CHECK(files->WriteAtomically(kPath, client::WriteKubeconfig(cluster), 0600).ok());
    const Environment environment{.standalone = standalone, .files = files.get()};
    auto applied = options.ApplyTo(admission, environment);
    status = applied.status();
    if (!applied.ok()) return;
    core = *std::move(applied);
    made = admission.ApplyTo(config, environment).value();
  }

  std::set<std::string> Plugins() const {
    std::set<std::string> names;
    for (const auto& plugin : config.admission) names.emplace(plugin->name());
    return names;
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  AdmissionOptions admission;
  CoreApi core;
  Admission made;
  server::Config config;
  Status status;
};

}  // namespace

TEST_CASE("options: admission behind an aggregator obeys the cluster's namespaces", "[options]") {
  const auto cluster = StartCluster();
  const Obeying obeying(cluster->kubeconfig());
  REQUIRE(obeying.status.ok());
  CHECK(obeying.Plugins() ==
        std::set<std::string>{"NamespaceLifecycle", "ValidatingAdmissionWebhook"});
  CHECK(obeying.made.mutating == nullptr);
  CHECK(obeying.made.mutating_policies == nullptr);
  CHECK(obeying.made.validating_policies == nullptr);

  const auto server =
      testing::StartTestServer({.kinds = {{.kind = KindOf("zoo.example.com", "Pet", "pets")}},
                                .admission = obeying.config.admission,
                                .install =
                                    [&](server::GenericAPIServer& made) {
                                      return FollowCluster(made, obeying.core, obeying.made);
                                    }})
          .value();
  const auto refused = server->Call("POST", kPets, kTom);
  CHECK(refused.code == 404);
  INFO(refused.body);
  CHECK(refused.body.find(R"(namespaces \"den\" not found)") != std::string::npos);
  CHECK(cluster
            ->Call("POST", "/api/v1/namespaces",
                   R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"den"}})")
            .code == 201);
  CHECK(server->Call("POST", kPets, kTom).code == 201);
  CHECK(testing::Eventually([&] { return server->Call("GET", "/readyz").code == 200; }));
}

TEST_CASE("options: without a cluster admission obeys the server's own objects", "[options]") {
  const auto cluster = StartCluster();
  const std::set<std::string> all = {"MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
                                     "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"};
  const Obeying outside(cluster->kubeconfig(), Wanted(""));
  CHECK(outside.Plugins() == all);
  CHECK(outside.core.client == nullptr);
  const Obeying standalone(cluster->kubeconfig(), Wanted(), true);
  CHECK(standalone.Plugins() == all);
  const Obeying unwanted(cluster->kubeconfig(), {.kubeconfig_file = kPath});
  CHECK(unwanted.Plugins() == all);
}

TEST_CASE("options: a cluster that cannot be asked ends the start with the flag's name",
          "[options]") {
  client::Kubeconfig down = StartCluster()->kubeconfig();
  down.server = "https://127.0.0.1:1";
  const Obeying obeying(down);
  CHECK(obeying.status.reason() == Reason::kServiceUnavailable);
  CHECK(obeying.status.message().starts_with("--kubeconfig: "));
  const Obeying missing(down, Wanted("/none"));
  INFO(missing.status.message());
  CHECK(missing.status.message().starts_with("--kubeconfig: "));
}

TEST_CASE("options: the cluster's flag is one of servers behind an aggregator", "[options]") {
  CoreApiOptions options{.wanted = true};
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Read({{"--kubeconfig", "/x"}}).empty());
  CHECK(options.kubeconfig_file == "/x");
  CHECK(options.Validate(false).empty());
  REQUIRE(options.Validate(true).size() == 1);
  CHECK(options.Validate(true)[0].starts_with("--kubeconfig names the cluster of a server behind"));

  CoreApiOptions unwanted;
  ReadFlags none;
  unwanted.AddFlags(none);
  CHECK(none.Names().empty());
}

}  // namespace apiserver::inline v0::options
