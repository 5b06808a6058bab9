#include "bench/cel_policies.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "admission/policy/cel_policies.h"
#include "admission/policy/source.h"
#include "apiserver/admission/policy.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/apps.h"
#include "client/answer.h"

namespace bench {

namespace {

namespace admission = apiserver::admission;
namespace codec = apiserver::codec;
namespace policy = apiserver::admission::policy;
namespace runtime = apiserver::runtime;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

constexpr char kNamespace[] = "default";

// The created object: a Deployment as people write them.
constexpr char kDeployment[] =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default",)"
    R"("labels":{"app":"web","tier":"front","team":"shop"},"annotations":{"owner":"shop@example.)"
    R"(com","deployment.kubernetes.io/revision":"3"}},"spec":{"replicas":3,"selector":)"
    R"({"matchLabels":{"app":"web"}},"strategy":{"type":"RollingUpdate","rollingUpdate":)"
    R"({"maxSurge":"25%","maxUnavailable":0}},"template":{"metadata":{"labels":{"app":"web",)"
    R"("tier":"front"}},"spec":{"serviceAccountName":"web","containers":[{"name":"a","image":)"
    R"("registry.local/a:1","ports":[{"containerPort":8080,"name":"http"}],"resources":{"limits":)"
    R"({"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},)"
    R"("readinessProbe":{"httpGet":{"path":"/ready","port":"http"},"periodSeconds":10},"env":)"
    R"([{"name":"MODE","value":"production"},{"name":"LEVEL","value":"info"}]},{"name":"b",)"
    R"("image":"registry.local/b:1","resources":{"limits":{"memory":"64Mi"}}},{"name":"c",)"
    R"("image":"registry.local/c:1","args":["--verbose","--port=9090"]}],"volumes":[{"name":)"
    R"("data","emptyDir":{}},{"name":"config","configMap":{"name":"web"}}]}}}})";

constexpr char kParams[] =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"limits","namespace":"default"},)"
    R"("data":{"maxReplicas":"5","registry":"registry.local/"}})";

// Policies that are alike. In the texts $P stands for the number of the policy in its row, and $B
// for that of the binding in its policy.
struct PolicySet {
  std::string policy;
  std::string binding;
  int count = 1;
  int bindings = 1;  // Of each policy.
};
struct PolicyRow {
  const char* name;
  std::vector<PolicySet> sets;
  bool denied = false;
  bool has_params = false;  // The policies take kParams as parameters.
};

// The parts of a policy of a row.
struct PolicyText {
  std::string resource = "deployments";
  std::string group = "apps";
  std::string object_selector = "{}";
  bool has_params = false;
  std::vector<std::string> expressions = {};
};

std::string PolicyJson(const PolicyText& text) {
  std::string json =
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy",)"
      R"("metadata":{"name":"policy-$P","uid":"11111111-2222-3333-4444-$P","generation":1,)"
      R"("resourceVersion":"1$P"},"spec":{"failurePolicy":"Fail",)" +
      std::string(text.has_params ? R"("paramKind":{"apiVersion":"v1","kind":"ConfigMap"},)" : "") +
      R"("matchConstraints":)"
      R"({"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":)" +
      text.object_selector + R"(,"resourceRules":[{"apiGroups":[")" + text.group +
      R"("],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":[")" + text.resource +
      R"("],"scope":"*"}]},"validations":[)";
  for (const std::string& expression : text.expressions) {
    if (json.back() != '[') json += ',';
    json += R"({"expression":)";
    codec::AppendJsonString(expression, json);
    json += R"(,"message":"the policy wants it so"})";
  }
  return json + "]}}";
}

// `more`: further members of the spec, each with a comma.
std::string BindingJson(const std::string& more) {
  return R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":)"
         R"("ValidatingAdmissionPolicyBinding","metadata":{"name":"policy-$P-binding-$B","uid":)"
         R"("55555555-6666-$P-$B","generation":1,"resourceVersion":"2$P$B"},"spec":{"policyName":)"
         R"("policy-$P",)" +
         more + R"("validationActions":["Deny"]}})";
}

std::vector<PolicyRow> PolicyRows() {
  const std::string scalar = "object.spec.replicas <= 5";
  const std::string all =
      "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.local/'))";
  const std::string labels = "has(object.metadata.labels) && 'app' in object.metadata.labels";
  const PolicyText one{.expressions = {scalar}};
  const PolicyText three{.expressions = {scalar, all, labels}};
  PolicyText denies = three;
  denies.expressions[0] = "object.spec.replicas <= 2";
  PolicyText params{.has_params = true};
  params.expressions = {
      "object.spec.replicas <= int(params.data.maxReplicas)",
      "object.spec.template.spec.containers.all(c, c.image.startsWith(params.data.registry))",
      labels};
  const std::string ref =
      R"("paramRef":{"name":"limits","namespace":"default","parameterNotFoundAction":"Deny"},)";
  PolicyText other_resource = three;
  other_resource.group = "group-$P.example.com";
  PolicyText other_label = three;
  other_label.object_selector = R"({"matchLabels":{"team":"team-$P"}})";
  const auto set = [](const PolicyText& text, int count) {
    return PolicySet{.policy = PolicyJson(text), .binding = BindingJson(""), .count = count};
  };
  return {{"policy, 1 expression", {set(one, 1)}},
          {"policy, 3 expressions", {set(three, 1)}},
          {"policy, 3 expressions, denied", {set(denies, 1)}, true},
          {"policy, 3 expressions, parameters",
           {{.policy = PolicyJson(params), .binding = BindingJson(ref)}},
           false,
           true},
          {"10 policies", {set(three, 10)}},
          {"10 of 1,000 by resource", {set(three, 10), set(other_resource, 990)}},
          {"10 of 1,000 by selector", {set(three, 10), set(other_label, 990)}}};
}

// The policies differ in their texts, so that nothing is shared for being alike.
PolicyRow MemoryRow(const CelMemorySize& size) {
  PolicyText text{.group = "group-$P.example.com"};
  for (int i = 0; i < size.validations; ++i) {
    const std::string number = std::to_string(i);
    text.expressions.push_back("object.spec.replicas <= $P" + number +
                               " || object.metadata.labels['tier-$P-" + number + "'] == 'front'");
  }
  PolicySet set{.policy = PolicyJson(text),
                .binding = BindingJson(R"("matchResources":{"matchPolicy":"Equivalent",)"
                                       R"("namespaceSelector":{"matchLabels":{"team":"team-$B"}},)"
                                       R"("objectSelector":{}},)"),
                .count = size.policies,
                .bindings = size.bindings};
  return {kCelMemory, {std::move(set)}};
}

std::string Replaced(std::string text, std::string_view what, int number) {
  const std::string with = std::to_string(number);
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// The parameters of a row, in memory.
class OneParam final : public policy::ParamSource {
 public:
  explicit OneParam(runtime::ObjectPtr object) : object_(std::move(object)) {}
  bool namespaced() const override { return true; }
  bool WaitForSync(std::chrono::milliseconds /*timeout*/) const override { return true; }
  runtime::ObjectPtr Get(std::string_view ns, std::string_view name) const override {
    return object_->namespace_() == ns && object_->name() == name ? object_ : nullptr;
  }
  std::vector<runtime::ObjectPtr> List(
      std::string_view /*ns*/, const apiserver::meta::LabelSelector& /*selector*/) const override {
    return {object_};
  }

 private:
  const runtime::ObjectPtr object_;
};

// Returns the objects of a list as an informer holds them.
Result<std::vector<runtime::ObjectPtr>> ObjectsOf(const std::vector<std::string>& items,
                                                  const std::string& kind) {
  std::string json = R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")" + kind +
                     R"(List","metadata":{"resourceVersion":"1"},"items":[)";
  for (const std::string& item : items) {
    if (json.back() != '[') json += ',';
    json += item;
  }
  APISERVER_ASSIGN_OR_RETURN(runtime::List list, apiserver::client::ListOf(json + "]}"));
  return std::vector<runtime::ObjectPtr>(std::make_move_iterator(list.items.begin()),
                                         std::make_move_iterator(list.items.end()));
}

// The policies of a row: objects, and what the plugin makes of them.
struct Configured {
  std::vector<runtime::ObjectPtr> objects;
  std::shared_ptr<admission::Policies> policies;
};

Result<Configured> Configure(const PolicyRow& row) {
  const policy::PolicyCompiler compiler =
      policy::NewPolicyCompiler(admission::PolicyType::kValidating);
  Configured made;
  std::shared_ptr<OneParam> params;
  if (row.has_params) {
    APISERVER_ASSIGN_OR_RETURN(auto object, apiserver::client::ObjectOf(std::string(kParams)));
    params = std::make_shared<OneParam>(std::move(object));
  }
  std::vector<policy::Hook> hooks;
  int number = 0;
  for (const PolicySet& set : row.sets) {
    for (int p = 0; p < set.count; ++p, ++number) {
      APISERVER_ASSIGN_OR_RETURN(
          const auto policies,
          ObjectsOf({Replaced(set.policy, "$P", number)}, "ValidatingAdmissionPolicy"));
      policy::Hook hook{.policy = policy::PolicyOf(*policies.front(), compiler), .params = params};
      std::vector<std::string> texts;
      for (int b = 0; b < set.bindings; ++b) {
        texts.push_back(Replaced(Replaced(set.binding, "$P", number), "$B", b));
      }
      APISERVER_ASSIGN_OR_RETURN(const auto bindings,
                                 ObjectsOf(texts, "ValidatingAdmissionPolicyBinding"));
      for (const runtime::ObjectPtr& binding : bindings) {
        hook.bindings.push_back(policy::BindingOf(*binding));
      }
      made.objects.push_back(policies.front());
      made.objects.insert(made.objects.end(), bindings.begin(), bindings.end());
      hooks.push_back(std::move(hook));
    }
  }
  made.policies = policy::NewStaticPolicies(std::move(hooks));
  return made;
}

// The namespace of the request, in memory.
class OneNamespace final : public admission::Namespaces {
 public:
  OneNamespace() {
    auto made =
        std::make_unique<runtime::Object>(runtime::Kind::Untyped({"", "v1", "Namespace"}), "v1");
    made->Edit("metadata", "name") = kNamespace;
    made->Edit("metadata", "labels", "kubernetes.io/metadata.name") = kNamespace;
    namespace_ = std::move(made);
  }
  bool WaitForSync(std::chrono::milliseconds /*timeout*/) const override { return true; }
  runtime::ObjectPtr Get(std::string_view name) const override {
    return name == kNamespace ? namespace_ : nullptr;
  }
  Result<runtime::ObjectPtr> GetLive(const Context& /*ctx*/,
                                     std::string_view /*name*/) const override {
    return Status(Reason::kNotFound, "there is no such namespace");
  }

 private:
  runtime::ObjectPtr namespace_;
};

// The create of the Deployment, as the server's handler describes it.
class Request {
 public:
  static Result<std::unique_ptr<Request>> New() {
    APISERVER_ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds,
                               apiserver::groups::apps::Kinds());
    auto made = std::make_unique<Request>();
    for (const runtime::KindPtr& kind : kinds) {
      if (kind->kind() != "Deployment") continue;
      APISERVER_ASSIGN_OR_RETURN(
          auto decoded, codec::DecodeObject(codec::MediaType::kJson,
                                            std::make_shared<const std::string>(kDeployment),
                                            {.kind = kind, .version = "v1"}));
      made->object_ = std::move(decoded.object);
    }
    return made;
  }
  admission::Attributes Attributes() const {
    return {.operation = admission::Operation::kCreate,
            .kind = {"apps", "v1", "Deployment"},
            .resource = {"apps", "v1", "deployments"},
            .namespace_ = kNamespace,
            .name = "web",
            .object = object_.get(),
            .options = apiserver::meta::CreateOptions{},
            .user = &user_,
            .annotations = annotations_};
  }

 private:
  std::unique_ptr<runtime::Object> object_;
  const apiserver::auth::UserInfo user_{.name = "alice", .groups = {"system:authenticated"}};
  const std::shared_ptr<admission::Annotations> annotations_ =
      std::make_shared<admission::Annotations>();
};

// Times a request through a chain of the plugin alone, with metrics as in a server.
Status TimeRow(const PolicyRow& row, const Request& request, std::chrono::nanoseconds wanted,
               CelTimings& timings) {
  APISERVER_ASSIGN_OR_RETURN(const Configured configured, Configure(row));
  const auto registry = apiserver::metrics::NewRegistry();
  const admission::Chain chain(
      {admission::NewValidatingPolicyAdmission(
          {.policies = configured.policies, .namespaces = std::make_shared<OneNamespace>()})},
      *registry, apiserver::RealClock());
  const admission::Attributes attributes = request.Attributes();
  const auto expected = [&] {
    return chain.Validate(Context::Background(), attributes).ok() != row.denied;
  };
  if (!expected()) {
    return {Reason::kInternalError,
            std::string(row.name) + ": unexpected answer: " +
                chain.Validate(Context::Background(), attributes).ToString()};
  }
  bool all_expected = true;
  const auto [ns, allocations] =
      TimeCpu(wanted, [&] { all_expected = expected() && all_expected; });
  if (!all_expected) return {Reason::kInternalError, std::string(row.name) + ": answers differ"};
  timings.evaluate_ns.push_back(ns);
  timings.evaluate_allocations = allocations;
  return {};
}

std::string LineOf(const PolicyRow& row) {
  std::string line = R"({"id":)";
  codec::AppendJsonString(row.name, line);
  line += R"(,"policies":{"resource":"deployments","namespace":")" + std::string(kNamespace) +
          R"(","denied":)" + (row.denied ? "true" : "false") + R"(,"object":)" + kDeployment +
          (row.has_params ? R"(,"params":)" + std::string(kParams) : "") + R"(,"sets":[)";
  for (const PolicySet& set : row.sets) {
    if (line.back() != '[') line += ',';
    line += R"({"policy":)";
    codec::AppendJsonString(set.policy, line);
    line += R"(,"binding":)";
    codec::AppendJsonString(set.binding, line);
    line += R"(,"count":)" + std::to_string(set.count) + R"(,"bindings":)" +
            std::to_string(set.bindings) + "}";
  }
  return line + "]}}\n";
}

// Returns the memory of the process that is in use by the allocator or otherwise resident.
std::size_t ResidentBytes() {
  malloc_trim(0);
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long all = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &all, &resident);
  (void)std::fclose(file);
  return read == 2 ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

std::vector<std::string> CelPolicyNames(const std::string& wanted) {
  std::vector<std::string> names;
  for (const PolicyRow& row : PolicyRows()) {
    if (std::string_view(row.name).find(wanted) != std::string_view::npos) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

Status TimeCelPolicies(const std::vector<std::string>& rows, std::chrono::nanoseconds time,
                       CelTimingsByRow& timings) {
  APISERVER_ASSIGN_OR_RETURN(const auto request, Request::New());
  for (const PolicyRow& row : PolicyRows()) {
    if (std::ranges::find(rows, row.name) == rows.end()) continue;
    APISERVER_RETURN_IF_ERROR(TimeRow(row, *request, time, timings[row.name]));
  }
  return {};
}

std::string CelPolicyLines(const std::vector<std::string>& rows) {
  std::string lines;
  for (const PolicyRow& row : PolicyRows()) {
    if (std::ranges::find(rows, row.name) != rows.end()) lines += LineOf(row);
  }
  return lines;
}

Status MeasureCelMemory(const CelMemorySize& size, CelTimings& timings) {
  // The figure includes what is made once for all policies.
  const std::size_t before = ResidentBytes();
  const std::chrono::nanoseconds start = ProcessCpuTime();
  APISERVER_ASSIGN_OR_RETURN(Configured configured, Configure(MemoryRow(size)));
  timings.compile_ns.push_back(static_cast<double>((ProcessCpuTime() - start).count()));
  const std::size_t all = ResidentBytes() - before;
  timings.memory_bytes = static_cast<double>(all);
  configured.objects.clear();
  const std::size_t compiled = ResidentBytes() - before;
  std::fprintf(stderr, "memory: %.0f MB, of which %.0f MB without the objects\n",
               static_cast<double>(all) / 1e6, static_cast<double>(compiled) / 1e6);
  return {};
}

std::string CelMemoryLine(const CelMemorySize& size) { return LineOf(MemoryRow(size)); }

}  // namespace bench
