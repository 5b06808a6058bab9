// The group flowcontrol.apiserver.k8s.io: defaults, validation, and a server that follows it.
#include "apiserver/groups/flowcontrol.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/codec/codec.h"
#include "apiserver/storage/memory/engine.h"
#include "groups/flowcontrol/convert.h"
#include "groups/flowcontrol/validation.h"

namespace apiserver::inline v0::groups::flowcontrol {

namespace {

using namespace std::chrono_literals;

runtime::KindPtr KindOf(std::string_view plural) {
  const std::vector<runtime::KindPtr> kinds = Kinds().value();
  for (const runtime::KindPtr& kind : kinds) {
    if (kind->plural() == plural) return kind;
  }
  return nullptr;
}

// With its defaults.
std::unique_ptr<runtime::Object> Parse(std::string_view plural, const std::string& json) {
  auto decoded =
      codec::DecodeObject(codec::MediaType::kJson, std::make_shared<const std::string>(json),
                          {.kind = KindOf(plural), .version = "v1"});
  INFO(json);
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

std::string SchemaJson(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema",)"
         R"("metadata":{"name":")" +
         name + R"("},"spec":)" + spec + "}";
}

std::string LevelJson(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration",)"
         R"("metadata":{"name":")" +
         name + R"("},"spec":)" + spec + "}";
}

// Each as "field: message", sorted.
std::vector<std::string> Messages(const field::ErrorList& errors) {
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  std::ranges::sort(messages);
  return messages;
}

// Only the beginnings are compared: an "Invalid value" of a whole spec is long.
void CheckErrors(const field::ErrorList& errors, std::vector<std::string> expected) {
  const std::vector<std::string> got = Messages(errors);
  std::ranges::sort(expected);
  CAPTURE(got);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t dots = expected[i].find("...");
    if (dots == std::string::npos) {
      CHECK(got[i] == expected[i]);
      continue;
    }
    CHECK(got[i].starts_with(expected[i].substr(0, dots)));
    CHECK(got[i].ends_with(expected[i].substr(dots + 3)));
  }
}

// A spec with the level system-bar, precedence 50 and one rule.
std::string WithRule(const std::string& rule) {
  return R"({"matchingPrecedence":50,"priorityLevelConfiguration":{"name":"system-bar"},)"
         R"("rules":[{)" +
         rule + "}]}";
}
const std::string kNoxu = R"("subjects":[{"kind":"User","user":{"name":"noxu"}}])";
const std::string kAllPaths = R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}])";
std::string Resources(const std::string& verbs, const std::string& groups,
                      const std::string& resources, const std::string& rest) {
  return R"("resourceRules":[{"verbs":)" + verbs + R"(,"apiGroups":)" + groups +
         R"(,"resources":)" + resources + rest + "}]";
}
const std::string kAny = R"(["*"])";
const std::string kEverywhere = R"(,"namespaces":["*"])";
const std::string kRule = "spec.rules[0]";

struct Case {
  std::string what;
  std::string name;
  std::string spec;
  std::vector<std::string> errors;
};

std::vector<Case> SubjectCases() {
  const std::string subject = kRule + ".subjects[0]";
  const std::string all = "," + Resources(kAny, kAny, kAny, kEverywhere);
  return {
      {"missing both resource and non-resource policy-rule should fail",
       "system-foo",
       WithRule(kNoxu),
       {kRule + ": Required value: at least one of resourceRules and nonResourceRules has to be "
                "non-empty"}},
      {"normal flow-schema w/ * verbs/apiGroups/resources should work",
       "system-foo",
       WithRule(R"("subjects":[{"kind":"Group","group":{"name":"noxu"}}])" + all),
       {}},
      {"malformed Subject union in ServiceAccount case",
       "system-foo",
       WithRule(R"("subjects":[{"kind":"ServiceAccount","user":{"name":"fred"},"group":)"
                R"({"name":"fred"}}],)" +
                kAllPaths),
       {subject + ".serviceAccount: Required value: serviceAccount is required when subject kind "
                  "is 'ServiceAccount'",
        subject + ".user: Forbidden: user is forbidden when subject kind is not 'User'",
        subject + ".group: Forbidden: group is forbidden when subject kind is not 'Group'"}},
      {"Subject union malformed in User case",
       "system-foo",
       WithRule(R"("subjects":[{"kind":"User","group":{"name":"fred"},"serviceAccount":)"
                R"({"namespace":"s","name":"n"}}],)" +
                kAllPaths),
       {subject + ".serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is "
                  "not 'ServiceAccount'",
        subject + ".user: Required value: user is required when subject kind is 'User'",
        subject + ".group: Forbidden: group is forbidden when subject kind is not 'Group'"}},
      {"malformed Subject union in Group case",
       "system-foo",
       WithRule(R"("subjects":[{"kind":"Group","user":{"name":"fred"},"serviceAccount":)"
                R"({"namespace":"s","name":"n"}}],)" +
                kAllPaths),
       {subject + ".serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is "
                  "not 'ServiceAccount'",
        subject + ".user: Forbidden: user is forbidden when subject kind is not 'User'",
        subject + ".group: Required value: group is required when subject kind is 'Group'"}},
      {"invalid subject kind should fail",
       "system-foo",
       WithRule(R"("subjects":[{"kind":"FooKind"}],)" + kAllPaths),
       {subject + ".kind: Unsupported value: \"FooKind\": supported values: \"Group\", "
                  "\"ServiceAccount\", \"User\""}},
      {"flow-schema w/ service-account kind missing namespace should fail",
       "system-foo",
       WithRule(R"("subjects":[{"kind":"ServiceAccount","serviceAccount":{"name":"noxu"}}])" + all),
       {subject + ".serviceAccount.namespace: Required value: must specify namespace for service "
                  "account"}},
      {"flow-schema missing kind should fail",
       "system-foo",
       WithRule(R"("subjects":[{"kind":""}])" + all),
       {subject + ".kind: Unsupported value: \"\": supported values: \"Group\", "
                  "\"ServiceAccount\", \"User\""}}};
}

std::vector<Case> RuleCases() {
  const std::string rule = kRule + ".resourceRules[0]";
  const auto with = [](const std::string& resources) { return WithRule(kNoxu + "," + resources); };
  return {
      {"flow-schema mixes * verbs/apiGroups/resources should fail",
       "system-foo",
       with(Resources(R"(["*","create"])", R"(["*","tak"])", R"(["*","tok"])", kEverywhere)),
       {rule + ".verbs: Invalid value: [\"*\",\"create\"]: if '*' is present, must not specify "
               "other verbs",
        rule + ".apiGroups: Invalid value: [\"*\",\"tak\"]: if '*' is present, must not specify "
               "other api groups",
        rule + ".resources: Invalid value: [\"*\",\"tok\"]: if '*' is present, must not specify "
               "other resources"}},
      {"flow-schema has both resource rules and non-resource rules should work",
       "system-foo",
       with(Resources(kAny, kAny, kAny, kEverywhere) +
            R"(,"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/apis/*"]}])"),
       {}},
      {"flow-schema mixes * non-resource URLs should fail",
       "system-foo",
       with(R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*","tik"]}])"),
       {kRule + ".nonResourceRules[0].nonResourceURLs: Invalid value: [\"*\",\"tik\"]: if '*' is "
                "present, must not specify other non-resource URLs"}},
      {"flow-schema w/ invalid verb should fail",
       "system-foo",
       with(Resources(R"(["feed"])", kAny, kAny, kEverywhere)),
       {rule + ".verbs: Unsupported value: [\"feed\"]: supported values: \"create\", \"delete\", "
               "\"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \"update\", "
               "\"watch\""}},
      {"Omitted ResourceRule.Namespaces should fail",
       "system-foo",
       with(Resources(kAny, kAny, kAny, "")),
       {rule + ".namespaces: Required value: resource rules that are not cluster scoped must "
               "supply at least one namespace"}},
      {"ClusterScope is allowed, with no Namespaces",
       "system-foo",
       with(Resources(kAny, kAny, kAny, R"(,"clusterScope":true)")),
       {}},
      {"ClusterScope is allowed with NamespaceEvery",
       "system-foo",
       with(Resources(kAny, kAny, kAny, R"(,"clusterScope":true,"namespaces":["*"])")),
       {}},
      {"NamespaceEvery may not be combined with particulars",
       "system-foo",
       with(Resources(kAny, kAny, kAny, R"(,"namespaces":["foo","*"])")),
       {rule + ".namespaces: Invalid value: [\"foo\",\"*\"]: if '*' is present, must not specify "
               "other namespaces"}},
      {"ResourceRule.Namespaces must be well formed",
       "system-foo",
       with(Resources(kAny, kAny, kAny, R"(,"namespaces":["-foo"])")),
       {rule + ".namespaces[0]: Invalid value: \"-foo\": each member of this list must be '*' or "
               "a DNS-1123 label; a lowercase RFC 1123 label must consist of..."}}};
}

std::vector<Case> SchemaCases() {
  const std::string everyone =
      R"("subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},)"
      R"({"kind":"Group","group":{"name":"system:authenticated"}}],)";
  const std::string masters = R"("subjects":[{"kind":"Group","group":{"name":"system:masters"}}],)";
  const std::string resources =
      Resources(kAny, kAny, kAny, R"(,"clusterScope":true,"namespaces":["*"])") + ",";
  const std::string root = R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/"]}])";
  const auto spec = [](const std::string& precedence, const std::string& level,
                       const std::string& rule, const std::string& method = "") {
    return R"({"matchingPrecedence":)" + precedence + R"(,"priorityLevelConfiguration":{"name":")" +
           level + "\"}" + method + R"(,"rules":[{)" + rule + "}]}";
  };
  const std::string by_user = R"(,"distinguisherMethod":{"type":"ByUser"})";
  return {
      {"exempt flow-schema should work",
       "exempt",
       spec("1", "exempt", masters + resources + kAllPaths),
       {}},
      {"bad exempt flow-schema should fail",
       "exempt",
       spec("1", "exempt", masters + resources + root),
       {"spec: Invalid value: ...: spec of 'exempt' must equal the fixed value"}},
      {"bad catch-all flow-schema should fail",
       "catch-all",
       spec("10000", "catch-all", everyone + resources + root, by_user),
       {"spec: Invalid value: ...: spec of 'catch-all' must equal the fixed value"}},
      {"catch-all flow-schema should work",
       "catch-all",
       spec("10000", "catch-all", everyone + resources + kAllPaths, by_user),
       {}},
      {"non-exempt flow-schema with matchingPrecedence==1 should fail",
       "fred",
       spec("1", "exempt", R"("subjects":[{"kind":"Group","group":{"name":"gorp"}}],)" + kAllPaths),
       {"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have "
        "matchingPrecedence 1"}},
      {"flow-schema w/ invalid priority level configuration name should fail",
       "system-foo",
       spec("50", "system+++$$", kNoxu + "," + kAllPaths),
       {"spec.priorityLevelConfiguration.name: Invalid value: \"system+++$$\": a lowercase RFC "
        "1123 subdomain must consist of..."}},
      {"MatchingPrecedence must not be greater than 10000",
       "system-foo",
       spec("10001", "system-bar", kNoxu + "," + kAllPaths),
       {"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"}}};
}

std::string Limited(const std::string& response, const std::string& shares = "100") {
  return R"({"type":"Limited","limited":{"nominalConcurrencyShares":)" + shares +
         R"(,"limitResponse":)" + response + "}}";
}
std::string Queued(const std::string& queues, const std::string& hand) {
  return Limited(R"({"type":"Queue","queuing":{"queues":)" + queues + R"(,"handSize":)" + hand +
                 R"(,"queueLengthLimit":100}})");
}

std::vector<Case> QueuingCases() {
  const std::string queuing = "spec.limited.limitResponse.queuing";
  return {
      {"max-in-flight should work", "max-in-flight", Limited(R"({"type":"Reject"})", "42"), {}},
      {"forbid queuing details when not queuing",
       "system-foo",
       Limited(R"({"type":"Reject","queuing":{"queues":512,"handSize":4,"queueLengthLimit":100}})"),
       {queuing + ": Forbidden: must be nil if limited.limitResponse.type is not Limited"}},
      {"broken queuing level should fail",
       "system-foo",
       Limited(R"({"type":"Queue"})"),
       {queuing + ": Required value: must not be empty if limited.limitResponse.type is Limited"}},
      {"normal customized priority level should work", "system-foo", Queued("512", "4"), {}},
      {"customized priority level w/ overflowing handSize/queues should fail 1",
       "system-foo",
       Queued("512", "8"),
       {queuing + ".handSize: Invalid value: 8: required entropy bits of deckSize 512 and "
                  "handSize 8 should not be greater than 60"}},
      {"customized priority level w/ overflowing handSize/queues should fail 2",
       "system-foo",
       Queued("128", "10"),
       {queuing + ".handSize: Invalid value: 10: required entropy bits of deckSize 128 and "
                  "handSize 10 should not be greater than 60"}},
      {"customized priority level w/ overflowing handSize/queues should fail 3",
       "system-foo",
       Queued("2147483647", "3"),
       {queuing + ".handSize: Invalid value: 3: required entropy bits of deckSize 2147483647 and "
                  "handSize 3 should not be greater than 60",
        queuing + ".queues: Invalid value: 2147483647: must not be greater than 10000000"}},
      {"customized priority level w/ handSize=2 and queues=10^7 should work",
       "system-foo",
       Queued("10000000", "2"),
       {}},
      {"customized priority level w/ handSize greater than queues should fail",
       "system-foo",
       Queued("7", "8"),
       {queuing + ".handSize: Invalid value: 8: should not be greater than queues (7)"}}};
}

std::vector<Case> LevelCases() {
  const std::string reject = Limited(R"({"type":"Reject"})", "42");
  const std::string type =
      "spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if `name` is 'exempt'";
  const std::string fixed =
      "spec: Invalid value: ...: spec of 'exempt' except the 'spec.exempt' "
      "field must equal the fixed value";
  const auto exempt = [](const std::string& shares, const std::string& lendable) {
    return R"({"type":"Exempt","exempt":{"nominalConcurrencyShares":)" + shares +
           R"(,"lendablePercent":)" + lendable + "}}";
  };
  const std::string both = R"(,"exempt":{},"limited":{"nominalConcurrencyShares":42,)"
                           R"("limitResponse":{"type":"Reject"}}})";
  return {
      {"exempt should work", "exempt", exempt("0", "0"), {}},
      {"wrong exempt spec should fail", "exempt", reject, {type, fixed}},
      {"exempt priority level should have appropriate values for Exempt field",
       "exempt",
       exempt("-1", "101"),
       {"spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
        "spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"}},
      {"exempt priority level should have appropriate values for Exempt field",
       "exempt",
       exempt("-1", "-1"),
       {"spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
        "spec.exempt.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive"}},
      {"admins are not allowed to repurpose the 'exempt' pl to a limited type",
       "exempt",
       R"({"type":"Limited")" + both,
       {type, fixed, "spec.exempt: Forbidden: must be nil if the type is Limited"}},
      {"admins are not allowed to change any field of the 'exempt' pl except 'Exempt'",
       "exempt",
       R"({"type":"Exempt")" + both,
       {fixed, "spec.limited: Forbidden: must be nil if the type is not Limited"}},
      {"admins are allowed to change the Exempt field of the 'exempt' pl",
       "exempt",
       exempt("10", "10"),
       {}},
      {"limited must not set exempt priority level configuration for borrowing",
       "broken-limited",
       R"({"type":"Limited","exempt":{}})",
       {"spec.exempt: Forbidden: must be nil if the type is Limited",
        "spec.limited: Required value: must not be empty when type is Limited"}},
      {"limited requires more details",
       "broken-limited",
       R"({"type":"Limited"})",
       {"spec.limited: Required value: must not be empty when type is Limited"}},
      {"wrong backstop spec should fail",
       "catch-all",
       reject,
       {"spec: Invalid value: ...: spec of 'catch-all' must equal the fixed value"}},
      {"backstop should work", "catch-all", Limited(R"({"type":"Reject"})", "5"), {}}};
}

}  // namespace

// validation_test.go: TestFlowSchemaValidation.
TEST_CASE("groups: flow schemas are validated as Kubernetes does", "[groups]") {
  for (const auto& cases : {SubjectCases(), RuleCases(), SchemaCases()}) {
    for (const Case& each : cases) {
      CAPTURE(each.what);
      const auto schema = Parse("flowschemas", SchemaJson(each.name, each.spec));
      CheckErrors(ValidateFlowSchema(*schema), each.errors);
    }
  }
}

// TestPriorityLevelConfigurationValidation, but for the annotation of versions before v1.
TEST_CASE("groups: priority levels are validated as Kubernetes does", "[groups]") {
  for (const auto& cases : {QueuingCases(), LevelCases()}) {
    for (const Case& each : cases) {
      CAPTURE(each.what);
      const auto level = Parse("prioritylevelconfigurations", LevelJson(each.name, each.spec));
      CheckErrors(ValidatePriorityLevel(*level), each.errors);
    }
  }
}

// TestValidateFlowSchemaStatus, TestValidatePriorityLevelConfigurationStatus.
TEST_CASE("groups: conditions of flow control have different types", "[groups]") {
  const std::string spec = WithRule(kNoxu + "," + kAllPaths) + R"(,"status":{"conditions":)";
  const auto errors = [&spec](const std::string& conditions) {
    return ValidateStatus(*Parse("flowschemas", SchemaJson("x", spec + conditions + "}")));
  };
  CheckErrors(errors("[]"), {});
  CheckErrors(errors(R"([{"type":"1"},{"type":"1"}])"),
              {"status.conditions[1].type: Duplicate value: \"1\""});
  CheckErrors(errors(R"([{"type":""}])"),
              {"status.conditions[0].type: Required value: must not be empty"});
}

// pkg/apis/flowcontrol/v1/defaults_test.go.
TEST_CASE("groups: what a level does not say is filled in", "[groups]") {
  const auto level =
      Parse("prioritylevelconfigurations",
            LevelJson("x", R"({"type":"Limited","limited":{"limitResponse":{"type":"Queue",)"
                           R"("queuing":{"queues":0}}}})"));
  const auto plain = LevelOf(*level);
  CHECK(plain.nominal_concurrency_shares == 30);
  CHECK(plain.lendable_percent == 0);
  CHECK_FALSE(plain.borrowing_limit_percent.has_value());
  CHECK(plain.queuing == config::QueuingConfiguration{64, 8, 50});
  const auto jail =
      Parse("prioritylevelconfigurations", LevelJson("x", Limited(R"({"type":"Reject"})", "0")));
  CHECK(LevelOf(*jail).nominal_concurrency_shares == 0);
  const auto schema =
      Parse("flowschemas", SchemaJson("x", R"({"priorityLevelConfiguration":{"name":"y"}})"));
  CHECK(SchemaOf(*schema).matching_precedence == 1000);
}

TEST_CASE("groups: the built-in configuration survives being objects", "[groups]") {
  const config::Configuration built_in = config::BuiltInConfiguration();
  for (const auto& level : built_in.priority_levels) CHECK(LevelOf(*ObjectOf(level)) == level);
  for (const auto& schema : built_in.flow_schemas) CHECK(SchemaOf(*ObjectOf(schema)) == schema);
}

namespace {

// A server with the group, in process.
struct Served {
  Served() {
    server::Config config;
    config.authenticator = std::make_shared<Nobody>();
    server = std::move(*std::move(config).Complete()).New().value();
    const Status installed =
        Install(*server, {.storage = {.engine = engine.get(), .executor = &server->pool()}});
    INFO(installed.ToString());
    REQUIRE(installed.ok());
    REQUIRE(server->PrepareRun().ok());
    const Status started = server->Start();
    INFO(started.ToString());
    REQUIRE(started.ok());
    connection = server->LoopbackConnection();
  }
  ~Served() {
    connection = nullptr;
    server->Stop();
  }

  class Nobody final : public auth::Authenticator {
   public:
    Result<std::optional<auth::AuthenticateResponse>> Authenticate(
        const Context&, const http::Request&) const override {
      return std::nullopt;
    }
  };

  http::ClientResponse Call(std::string method, const std::string& path, std::string body = "",
                            http::Headers headers = {}) {
    if (!body.empty() && !headers.Has("Content-Type")) {
      headers.Set("Content-Type", "application/json");
    }
    return connection
        ->Call(Context::Background(), {.method = std::move(method),
                                       .target = "/apis/flowcontrol.apiserver.k8s.io/v1/" + path,
                                       .headers = std::move(headers),
                                       .body = std::move(body)})
        .value();
  }
  // Whether it answers `wanted` within seconds.
  bool Says(const std::string& path, const std::string& wanted) {
    const auto deadline = RealClock().Now() + 60s;
    while (RealClock().Now() < deadline) {
      if (Call("GET", path).body.find(wanted) != std::string::npos) return true;
      Notification never;
      (void)never.WaitFor(5ms);
    }
    return false;
  }
  bool HasLevel(const std::string& name, bool wanted) {
    const auto deadline = RealClock().Now() + 60s;
    while (RealClock().Now() < deadline) {
      const auto levels = server->flow_control()->PriorityLevels();
      const bool there = std::ranges::find(levels, name) != levels.end();
      if (there == wanted) return true;
      Notification never;
      (void)never.WaitFor(5ms);
    }
    return false;
  }

  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<server::GenericAPIServer> server;
  std::unique_ptr<http::Connection> connection;
};

}  // namespace

TEST_CASE("groups: a server begins with the built-in flow control objects", "[groups]") {
  Served served;
  const auto table = served.Call("GET", "flowschemas", "",
                                 {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  CHECK(table.code == 200);
  CHECK(table.body.find(R"("cells":["exempt","exempt","1","\u003cnone\u003e",)") !=
        std::string::npos);
  CHECK(table.body.find(R"("cells":["service-accounts","workload-low","9000","ByUser",)") !=
        std::string::npos);
  const auto levels = served.Call("GET", "prioritylevelconfigurations", "",
                                  {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  CHECK(levels.body.find(R"("cells":["leader-election","Limited","10","16","4","50",)") !=
        std::string::npos);
  CHECK(levels.body.find(R"("cells":["exempt","Exempt","\u003cnone\u003e",)") != std::string::npos);
  CHECK(
      served.Says("flowschemas/global-default",
                  R"("reason":"Found","message":"This FlowSchema references the )"
                  R"(PriorityLevelConfiguration object named \"global-default\" and it exists")"));
  // Of the server that asks, too.
  auto answer = served.Call("GET", "flowschemas/exempt");
  const auto uid = [&answer] { return answer.headers.Get("X-Kubernetes-PF-FlowSchema-UID"); };
  // It knows its own objects a moment after they are there.
  const auto deadline = RealClock().Now() + 60s;
  while (uid().empty() && RealClock().Now() < deadline) {
    answer = served.Call("GET", "flowschemas/exempt");
  }
  CHECK(uid().size() == 36);
  CHECK(answer.body.find(std::string(uid())) != std::string::npos);
}

TEST_CASE("groups: flow control follows its objects", "[groups]") {
  Served served;
  CHECK(served
            .Call("POST", "flowschemas",
                  SchemaJson("mine", R"({"priorityLevelConfiguration":{"name":"my-level"}})"))
            .code == 201);
  CHECK(served.Says("flowschemas/mine", R"("type":"Dangling","status":"True")"));
  CHECK(served.Says("flowschemas/mine", "but there is no such object"));
  CHECK(served.Call("POST", "prioritylevelconfigurations", LevelJson("my-level", Queued("16", "4")))
            .code == 201);
  CHECK(served.HasLevel("my-level", true));
  CHECK(served.Says("flowschemas/mine", R"("type":"Dangling","status":"False")"));
  CHECK(served.Call("DELETE", "prioritylevelconfigurations/my-level").code == 200);
  CHECK(served.HasLevel("my-level", false));
  CHECK(served.Says("flowschemas/mine", R"("type":"Dangling","status":"True")"));
  // What is mandatory stays in force even if it is deleted.
  CHECK(served.Call("DELETE", "prioritylevelconfigurations/catch-all").code == 200);
  CHECK(served.HasLevel("catch-all", true));
  const auto refused = served.Call("PUT", "flowschemas/exempt",
                                   SchemaJson("exempt", WithRule(kNoxu + "," + kAllPaths)));
  CHECK(refused.code == 422);
  CHECK(refused.body.find("spec of 'exempt' must equal the fixed value") != std::string::npos);
}

}  // namespace apiserver::inline v0::groups::flowcontrol
