// Threads write while policies, bindings and parameters are created, changed and deleted. Every
// answer must be one that some set of policies gives which was there meanwhile: a policy is seen
// whole, with one of its parameters' versions.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/admission/policy.h"
#include "apiserver/base/clock.h"
#include "apiserver/groups/admissionregistration.h"
#include "apiserver/storage/memory/engine.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::Widget;

namespace {

constexpr char kSwappedApi[] = "/apis/admissionregistration.k8s.io/v1/";
constexpr int kWriters = 4;
constexpr int kWritesOfEach = 120;
constexpr int kRounds = 60;  // At least; the policies change until the last write is answered.

// The largest size that version `k` of the policy allows with version `v` of its parameter. Between
// 3 and 7.
int SteadyMax(int k, int v) { return 3 + k % 3 + v % 3; }

// A server whose policies change in rounds. Version k of everything carries the number k.
class SwappedServer {
 public:
  SwappedServer() {
    const auto validating = admission::NewPolicies({.type = admission::PolicyType::kValidating,
                                                    .refresh = std::chrono::milliseconds(2),
                                                    .retry = std::chrono::milliseconds(20)});
    const auto mutating = admission::NewPolicies(
        {.type = admission::PolicyType::kMutating, .refresh = std::chrono::milliseconds(2)});
    testing::TestServerOptions options;
    options.engine = engine_.get();
    options.admission = {admission::NewMutatingPolicyAdmission({.policies = mutating}),
                         admission::NewValidatingPolicyAdmission({.policies = validating})};
    options.install = [=, this](server::GenericAPIServer& api) {
      return groups::admissionregistration::Install(
          api, {.storage = {.engine = engine_.get(), .executor = &api.pool()},
                .mutating_policies = mutating,
                .validating_policies = validating});
    };
    server_ = testing::StartWidgetServer(std::move(options));
    Begin();
  }

  http::ClientResponse Call(const std::string& method, const std::string& target,
                            const std::string& body = "", http::Headers headers = {}) const {
    return server_->Call(method, target, body, std::move(headers));
  }

  // Changes one thing after the other. The numbers are known before the change is written.
  void Swap(int round) {
    const std::string number = std::to_string(round);
    switch (round % 5) {
      case 0:
        policy_version_ = round;
        Put("ValidatingAdmissionPolicy", "validatingadmissionpolicies", "steady", Steady(round));
        break;
      case 1:
        parameter_version_ = round;
        Patch(std::string(kWidgets) + "/limit", R"({"spec":{"color":")" + number + R"(","size":)" +
                                                    std::to_string(1 + round % 3) + "}}");
        break;
      case 2:
        painter_version_ = round;
        Put("MutatingAdmissionPolicy", "mutatingadmissionpolicies", "painter", Painter(round));
        break;
      case 3:
        Replace("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "fleeting",
                "  policyName: fleeting\n  validationActions: [Deny]\n  paramRef: {name: fleeting, "
                "parameterNotFoundAction: Deny}\n");
        break;
      default:
        Delete(std::string(kWidgets) + "/fleeting");
        Create(kWidgets, kFleeting, {});
    }
  }

  int policy_version() const { return policy_version_; }
  int parameter_version() const { return parameter_version_; }
  int painter_version() const { return painter_version_; }

 private:
  static constexpr char kNewWidgets[] =
      "  matchConstraints:\n    resourceRules:\n    - operations: [CREATE]\n"
      "      apiGroups: [example.com]\n      apiVersions: [v1]\n      resources: [widgets]\n"
      "    objectSelector: {matchExpressions: [{key: parameter, operator: DoesNotExist}]}\n"
      "  matchConditions:\n  - {name: written, expression: "
      "\"object.metadata.name.startsWith('w')\"}"
      "\n";

  // The label keeps the policies away: they would want the parameter to create the parameter.
  static constexpr char kFleeting[] =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"fleeting",)"
      R"("labels":{"parameter":"yes"}},"spec":{"size":1}})";

  // Expression and message both carry the version, and read the parameter for themselves.
  static std::string Steady(int k) {
    const std::string number = std::to_string(k);
    const std::string most = "2 + " + std::to_string(k % 3) + " + params.spec.size";
    return std::string(kNewWidgets) +
           "  paramKind: {apiVersion: example.com/v1, kind: Widget}\n"
           "  variables:\n  - {name: most, expression: \"" +
           most +
           "\"}\n"
           "  validations:\n  - expression: object.spec.size <= variables.most\n"
           "    messageExpression: \"'steady k=" +
           number +
           " v=' + params.spec.color + ' most=' + string(variables.most) + ' size=' + "
           "string(object.spec.size)\"\n";
  }
  // Sets two fields by two mutations.
  static std::string Painter(int k) {
    const std::string number = std::to_string(k);
    return std::string(kNewWidgets) +
           "  reinvocationPolicy: Never\n  mutations:\n  - patchType: ApplyConfiguration\n"
           "    applyConfiguration: {expression: \"Object{spec: Object.spec{color: '" +
           number +
           "'}}\"}\n  - patchType: JSONPatch\n    jsonPatch: {expression: \"[JSONPatch{op: 'add', "
           "path: '/metadata/labels', value: {'painted': '" +
           number + "'}}]\"}\n";
  }

  void Begin() {
    Create(kWidgets,
           R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"limit"},)"
           R"("spec":{"size":1,"color":"0"}})",
           {});
    Create(kWidgets, kFleeting, {});
    Make("MutatingAdmissionPolicy", "mutatingadmissionpolicies", "painter", Painter(0));
    Make("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "painter",
         "  policyName: painter\n");
    Make("ValidatingAdmissionPolicy", "validatingadmissionpolicies", "steady", Steady(0));
    Make("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "steady",
         "  policyName: steady\n  validationActions: [Deny]\n"
         "  paramRef: {name: limit, parameterNotFoundAction: Deny}\n");
    Make("ValidatingAdmissionPolicy", "validatingadmissionpolicies", "fleeting",
         std::string(kNewWidgets) +
             "  paramKind: {apiVersion: example.com/v1, kind: Widget}\n"
             "  validations:\n  - {expression: object.spec.size != params.spec.size, message: as "
             "the parameter}\n");
    Make("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "fleeting",
         "  policyName: fleeting\n  validationActions: [Deny]\n"
         "  paramRef: {name: fleeting, parameterNotFoundAction: Deny}\n");
    Until("steady k=0 v=0 most=3 size=9", 9);
    Until(R"("color":"0")", 2);
    Until("as the parameter", 1);
  }
  void Until(const std::string& words, int size) const {
    const auto deadline = RealClock().Now() + std::chrono::seconds(60);
    std::string body;
    do {
      body = Call("POST", std::string(kWidgets) + "?dryRun=All", Widget("w", size)).body;
    } while (!Contains(body, words) && RealClock().Now() < deadline);
    INFO(body);
    REQUIRE(Contains(body, words));
  }

  static std::string Yaml(const std::string& kind, const std::string& name,
                          const std::string& spec) {
    return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind +
           "\nmetadata: {name: " + name + "}\nspec:\n" + spec;
  }
  void Create(const std::string& target, const std::string& body, http::Headers headers) const {
    const auto answer = Call("POST", target, body, std::move(headers));
    INFO(answer.body);
    REQUIRE(answer.code == 201);
  }
  void Make(const std::string& kind, const std::string& plural, const std::string& name,
            const std::string& spec) const {
    Create(kSwappedApi + plural, Yaml(kind, name, spec), {{"Content-Type", "application/yaml"}});
  }
  // Applies, as an update would need the resource version, which the status' writer changes, too.
  void Put(const std::string& kind, const std::string& plural, const std::string& name,
           const std::string& spec) const {
    const auto answer =
        Call("PATCH", kSwappedApi + plural + "/" + name + "?fieldManager=swap&force=true",
             Yaml(kind, name, spec), {{"Content-Type", "application/apply-patch+yaml"}});
    INFO(answer.body);
    REQUIRE(answer.code == 200);
  }
  void Patch(const std::string& target, const std::string& body) const {
    const auto answer =
        Call("PATCH", target, body, {{"Content-Type", "application/merge-patch+json"}});
    INFO(answer.body);
    REQUIRE(answer.code == 200);
  }
  void Delete(const std::string& target) const { REQUIRE(Call("DELETE", target).code == 200); }
  void Replace(const std::string& kind, const std::string& plural, const std::string& name,
               const std::string& spec) const {
    Delete(kSwappedApi + plural + "/" + name);
    Make(kind, plural, name, spec);
  }

  std::unique_ptr<storage::kv::Engine> engine_ = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> server_;
  std::atomic<int> policy_version_ = 0;
  std::atomic<int> parameter_version_ = 0;
  std::atomic<int> painter_version_ = 0;
};

// The number behind `key` in a text. nullopt: there is none.
std::optional<int> NumberAfter(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::atoi(text.c_str() + at + key.size());
}

// Writes widgets, and judges the answers.
class SwappedWriter {
 public:
  SwappedWriter(const SwappedServer& served, int number) : served_(served), number_(number) {}

  void Run() {
    for (int i = 0; i < kWritesOfEach; ++i) {
      const int size = 1 + (i + number_) % 10;
      const std::string name = "w" + std::to_string(number_) + "-" + std::to_string(i);
      const auto answer = served_.Call("POST", kWidgets, Widget(name, size));
      std::string fault = answer.code == 201   ? FaultOfCreated(answer.body, size)
                          : answer.code == 422 ? FaultOfDenied(answer.body, size)
                                               : "unknown code";
      if (!fault.empty()) {
        faults_.push_back(fault + ": " + std::to_string(answer.code) + " " + answer.body);
      }
    }
  }

  const std::vector<std::string>& faults() const { return faults_; }
  int created() const { return created_; }
  int denied() const { return denied_; }
  int versions_seen() const { return versions_seen_; }

 private:
  // A created widget is painted by one version of the painter, and not too large for all versions
  // of the steady policy.
  std::string FaultOfCreated(const std::string& body, int size) {
    ++created_;
    const std::optional<int> color = NumberAfter(body, R"("color":")");
    const std::optional<int> label = NumberAfter(body, R"("painted":")");
    if (!color || !label) return "not painted";
    if (*color != *label) return "painted by two versions";
    if (*color > served_.painter_version() || *color < color_) return "painted out of order";
    color_ = *color;
    return size <= 7 ? "" : "too large for every version";
  }

  std::string FaultOfDenied(const std::string& body, int size) {
    if (Contains(body, "ValidatingAdmissionPolicy 'fleeting' with binding 'fleeting' denied ")) {
      if (Contains(body, "denied request: as the parameter")) {
        ++denied_;
        return size == 1 ? "" : "the parameter has another size";
      }
      return Contains(body,
                      "failed to configure binding: no params found for policy binding with "
                      "`Deny` parameterNotFoundAction")
                 ? ""
                 : "unknown words";
    }
    ++denied_;
    const std::optional<int> k = NumberAfter(body, "steady k=");
    const std::optional<int> v = NumberAfter(body, " v=");
    const std::optional<int> most = NumberAfter(body, " most=");
    if (!k || !v || NumberAfter(body, " size=") != size) return "unknown words";
    if (most != SteadyMax(*k, *v)) return "a policy and a parameter in parts";
    if (size <= *most) return "denied what is allowed";
    if (*k > served_.policy_version() || *k < k_) return "a policy out of order";
    if (*v > served_.parameter_version() || *v < v_) return "a parameter out of order";
    versions_seen_ += *k != k_ || *v != v_ ? 1 : 0;
    k_ = *k;
    v_ = *v;
    return "";
  }

  const SwappedServer& served_;
  const int number_;
  std::vector<std::string> faults_;
  // The newest versions that this thread has seen: its next request may not see older ones.
  int k_ = 0;
  int v_ = 0;
  int color_ = 0;
  int created_ = 0;
  int denied_ = 0;
  int versions_seen_ = 0;
};

}  // namespace

TEST_CASE("policies: writes while policies are swapped are explained by one set of them",
          "[groups]") {
  SwappedServer served;
  std::vector<SwappedWriter> writers;
  for (int i = 0; i < kWriters; ++i) writers.emplace_back(served, i);
  std::atomic<int> running = kWriters;
  std::vector<std::jthread> threads;
  for (SwappedWriter& writer : writers) {
    threads.emplace_back([&writer, &running] {
      writer.Run();
      --running;
    });
  }
  for (int round = 1; round <= kRounds || running > 0; ++round) served.Swap(round);
  threads.clear();

  int created = 0;
  int denied = 0;
  int versions = 0;
  for (const SwappedWriter& writer : writers) {
    for (const std::string& fault : writer.faults()) FAIL_CHECK(fault);
    created += writer.created();
    denied += writer.denied();
    versions += writer.versions_seen();
  }
  // The changes were seen, and each kind of answer.
  CHECK(created > kWriters);
  CHECK(denied > kWriters);
  CHECK(versions >= kWriters);
}
