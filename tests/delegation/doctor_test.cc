#include "apiserver/delegation/doctor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/http/tls.h"
#include "apiserver/testing/server/fake_clock.h"
#include "http/date.h"
#include "text/base64.h"

namespace apiserver::inline v0::delegation {
namespace {

using Level = Finding::Level;

// A cluster that answers as it is told: by method and path, and by what a review asks for.
class FakeCluster final : public client::Client {
 public:
  ObjectResult Get(const Context&, const client::Target&, const meta::GetOptions&) override {
    return Unused();
  }
  Result<runtime::List> List(const Context&, const client::Target&,
                             const meta::ListOptions&) override {
    return Status(Reason::kInternalError, "unused");
  }
  ObjectResult Create(const Context&, const client::Target&, const runtime::Object&,
                      const meta::CreateOptions&) override {
    return Unused();
  }
  ObjectResult Update(const Context&, const client::Target&, const runtime::Object&,
                      const meta::UpdateOptions&) override {
    return Unused();
  }
  ObjectResult Patch(const Context&, const client::Target&, const PatchBody&,
                     const meta::PatchOptions&) override {
    return Unused();
  }
  ObjectResult Delete(const Context&, const client::Target&, const meta::DeleteOptions&,
                      const meta::ListOptions&) override {
    return Unused();
  }
  Result<std::unique_ptr<client::WatchStream>> Watch(const Context&, const client::Target&,
                                                     const meta::ListOptions&) override {
    return Status(Reason::kInternalError, "unused");
  }
  Result<http::ClientResponse> Call(const Context&, http::ClientRequest request) override {
    if (down) return Status(Reason::kServiceUnavailable, "connection refused");
    if (before_answer) before_answer();
    if (request.target.find("selfsubjectaccessreviews") != std::string::npos) {
      const bool denied = std::any_of(forbidden.begin(), forbidden.end(), [&](const auto& what) {
        return request.body.find(what) != std::string::npos;
      });
      const std::string allowed = denied ? "false" : "true";
      return http::ClientResponse{.code = 201, .body = R"({"status":{"allowed":)" + allowed + "}}"};
    }
    const auto found = answers.find(request.method + " " + request.target);
    if (found != answers.end()) return found->second;
    return http::ClientResponse{.code = 404,
                                .body = R"({"kind":"Status","message":"not found","code":404})"};
  }

  bool down = false;
  std::function<void()> before_answer;
  std::vector<std::string> forbidden;
  std::map<std::string, http::ClientResponse> answers;

 private:
  static ObjectResult Unused() { return Status(Reason::kInternalError, "unused"); }
};

std::string Json(const std::string& text) {
  std::string out;
  codec::AppendJsonString(text, out);
  return out;
}

constexpr char kMapPath[] =
    "GET /api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
constexpr char kServicePath[] = "GET /apis/apiregistration.k8s.io/v1/apiservices/v1.example.com";

struct Patient {
  Patient() {
    cluster.answers["GET /version"] = {.code = 200, .body = R"({"gitVersion":"v1.35.0"})"};
    cluster.answers["POST /apis/authentication.k8s.io/v1/selfsubjectreviews"] = {
        .code = 201,
        .body = R"({"status":{"userInfo":{"username":"system:serviceaccount:shop:apiserver"}}})"};
    SetMap(Map());
    SetService(CaBundle(ca.certificate_pem), "True");
  }

  static http::KeyPair Authority(const Clock& clock, const std::string& name) {
    return http::NewCertificateAuthority(name, clock).value();
  }
  std::map<std::string, std::string> Map() const {
    return {{"client-ca-file", client_ca.certificate_pem},
            {"requestheader-client-ca-file", proxy_ca.certificate_pem},
            {"requestheader-allowed-names", R"(["front-proxy-client"])"},
            {"requestheader-username-headers", R"(["X-Remote-User"])"},
            {"requestheader-group-headers", R"(["X-Remote-Group"])"},
            {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}};
  }
  void SetMap(const std::map<std::string, std::string>& map) {
    std::string data;
    for (const auto& [key, value] : map) {
      data += (data.empty() ? "" : ",") + Json(key) + ":" + Json(value);
    }
    cluster.answers[kMapPath] = {.code = 200, .body = R"({"data":{)" + data + "}}"};
  }
  static std::string CaBundle(const std::string& pem) {
    std::string base64;
    text::AppendBase64(pem, base64);
    return R"(,"caBundle":")" + base64 + "\"";
  }
  void SetService(const std::string& trust, const std::string& available) {
    cluster.answers[kServicePath] = {
        .code = 200,
        .body = R"({"spec":{"service":{"name":"api","namespace":"shop"})" + trust +
                R"(},"status":{"conditions":[{"type":"Available","status":")" + available +
                R"(","message":"no endpoints"}]}})"};
  }

  DoctorOptions Options() {
    return {.cluster = &cluster,
            .group_versions = {{"example.com", "v1"}},
            .service_name = "api",
            .service_namespace = "shop",
            .serving_certificate_pem = serving.certificate_pem,
            .serving_ca_pem = ca.certificate_pem,
            .clock = &clock};
  }
  std::vector<Finding> Findings() { return Diagnose(Context::Background(), Options()); }

  // "check: text" of what is not in order.
  std::vector<std::string> Complaints() {
    std::vector<std::string> complaints;
    for (const Finding& each : Findings()) {
      if (each.level == Level::kOk) continue;
      const std::string subject = each.subject.empty() ? "" : " " + each.subject;
      complaints.push_back(each.check + subject + ": " + each.text);
    }
    return complaints;
  }

  apiserver::testing::FakeClock clock;
  http::KeyPair ca = Authority(clock, "serving-ca");
  http::KeyPair client_ca = Authority(clock, "kubernetes");
  http::KeyPair proxy_ca = Authority(clock, "front-proxy-ca");
  http::KeyPair serving =
      http::NewCertificate(ca, {.common_name = "api", .dns_names = {"api.shop.svc"}}, clock)
          .value();
  FakeCluster cluster;
};

using Complaints = std::vector<std::string>;

}  // namespace

TEST_CASE("doctor: a cluster that has everything leaves nothing to say", "[server]") {
  Patient patient;
  CHECK(patient.Complaints() == Complaints{});
  CHECK(patient.Findings().size() >= 8);
}

TEST_CASE("doctor: without the cluster nothing else is looked at", "[server]") {
  Patient patient;
  patient.cluster.down = true;
  CHECK(patient.Complaints() == Complaints{"cluster: does not answer: connection refused"});
  CHECK(patient.Findings().size() == 1);
}

TEST_CASE("doctor: clocks that differ by more than five seconds are told of", "[server]") {
  const auto found = [](std::chrono::seconds cluster_ahead) {
    Patient patient;
    const auto now = std::chrono::floor<std::chrono::seconds>(patient.clock.WallNow());
    patient.cluster.answers["GET /version"].headers.Set("Date",
                                                        http::FormatDate(now + cluster_ahead));
    for (Finding& each : patient.Findings()) {
      if (each.check == "clock") return std::move(each);
    }
    return Finding{.text = "none"};
  };
  for (const int seconds : {0, 5, -5}) {
    CAPTURE(seconds);
    CHECK(found(std::chrono::seconds(seconds)).level == Level::kOk);
  }
  const Finding ahead = found(std::chrono::seconds(75));
  CHECK(ahead.level == Level::kWarning);
  CHECK(ahead.text == "the cluster's is 1m15s ahead of this machine's");
  CHECK(ahead.remedy.find("timedatectl") != std::string::npos);
  CHECK(found(std::chrono::seconds(6)).text == "the cluster's is 6s ahead of this machine's");
  CHECK(found(-std::chrono::hours(2)).text == "the cluster's is 2h0m0s behind this machine's");
}

TEST_CASE("doctor: a cluster that takes long to answer has no other clock", "[server]") {
  Patient patient;
  const auto asked_at = std::chrono::floor<std::chrono::seconds>(patient.clock.WallNow());
  patient.cluster.answers["GET /version"].headers.Set("Date", http::FormatDate(asked_at));
  patient.cluster.before_answer = [&patient] { patient.clock.Advance(std::chrono::seconds(20)); };
  CHECK(patient.Complaints() == Complaints{});
}

TEST_CASE("doctor: a cluster that does not tell the time is not complained about", "[server]") {
  for (const char* date : {"", "Sunday, 06-Nov-94 08:49:37 GMT"}) {
    CAPTURE(date);
    Patient patient;
    patient.cluster.answers["GET /version"].headers.Set("Date", date);
    for (const Finding& each : patient.Findings()) CHECK(each.check != "clock");
  }
}

TEST_CASE("doctor: an anonymous server is told so", "[server]") {
  Patient patient;
  patient.cluster.answers["POST /apis/authentication.k8s.io/v1/selfsubjectreviews"].body =
      R"({"status":{"userInfo":{"username":"system:anonymous"}}})";
  CHECK(patient.Complaints() == Complaints{"identity: the cluster takes us for system:anonymous"});
}

TEST_CASE("doctor: a ConfigMap that may not be read comes with its RoleBinding", "[server]") {
  Patient patient;
  patient.cluster.answers[kMapPath] = {.code = 403, .body = R"({"message":"forbidden"})"};
  const std::vector<Finding> findings = patient.Findings();
  const auto problem = std::find_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.level == Level::kProblem;
  });
  REQUIRE(problem != findings.end());
  CHECK(problem->yaml ==
        R"(apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: "system:serviceaccount:shop:apiserver:extension-apiserver-authentication-reader"
  namespace: kube-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: extension-apiserver-authentication-reader
subjects:
- kind: ServiceAccount
  namespace: "shop"
  name: "apiserver"
)");
}

TEST_CASE("doctor: a cluster without the ConfigMap needs other flags", "[server]") {
  Patient patient;
  patient.cluster.answers.erase(kMapPath);
  CHECK(patient.Complaints() ==
        Complaints{"extension-apiserver-authentication: the cluster has no ConfigMap of this name "
                   "in kube-system"});
}

TEST_CASE("doctor: what may be read but not followed is a problem", "[server]") {
  Patient patient;
  patient.cluster.forbidden = {R"("verb":"watch")"};
  CHECK(patient.Complaints() ==
        Complaints{"extension-apiserver-authentication: may not watch it, so a rotated authority "
                   "would not be noticed"});
}

TEST_CASE("doctor: each entry of the ConfigMap is looked at", "[server]") {
  using Change = std::function<void(Patient&, std::map<std::string, std::string>&)>;
  const std::vector<std::pair<std::string, Change>> rows = {
      {"client authority: the cluster has no client-ca-file, so client certificates prove nothing "
       "here",
       [](Patient&, auto& map) { map.erase("client-ca-file"); }},
      {"request header: the cluster has no requestheader-client-ca-file, so its aggregator cannot "
       "speak for its users",
       [](Patient&, auto& map) { map.erase("requestheader-client-ca-file"); }},
      {"request header: one authority signs users' certificates and the aggregator's",
       [](Patient&, auto& map) { map["requestheader-client-ca-file"] = map["client-ca-file"]; }},
      {"client-ca-file: tls: no certificate in PEM text",
       [](Patient&, auto& map) { map["client-ca-file"] = "nothing"; }},
      {"request header: requestheader-allowed-names is no JSON list: front-proxy",
       [](Patient&, auto& map) { map["requestheader-allowed-names"] = "front-proxy"; }},
      {"request header: every certificate that requestheader-client-ca-file signed may speak for "
       "everybody",
       [](Patient&, auto& map) { map["requestheader-allowed-names"] = "[]"; }},
      {"request header: there is no header for the user's name",
       [](Patient&, auto& map) { map.erase("requestheader-username-headers"); }},
      {"request header: requestheader-group-headers is empty: users lose what it would bring",
       [](Patient&, auto& map) { map["requestheader-group-headers"] = "[]"; }},
      {"client-ca-file: CN=short expires in 48 hours",
       [](Patient& patient, auto& map) {
         map["client-ca-file"] =
             http::NewCertificateAuthority("short", patient.clock, std::chrono::hours(48))
                 .value()
                 .certificate_pem;
       }},
  };
  for (const auto& [complaint, change] : rows) {
    CAPTURE(complaint);
    Patient patient;
    auto map = patient.Map();
    change(patient, map);
    patient.SetMap(map);
    CHECK(patient.Complaints() == Complaints{complaint});
  }
}

TEST_CASE("doctor: whoever may not delegate is given the ClusterRoleBinding", "[server]") {
  Patient patient;
  patient.cluster.forbidden = {"tokenreviews", "subjectaccessreviews"};
  const std::vector<Finding> findings = patient.Findings();
  const auto problem = std::find_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.level == Level::kProblem;
  });
  REQUIRE(problem != findings.end());
  CHECK(problem->text.find("TokenReviews nor SubjectAccessReviews") != std::string::npos);
  CHECK(problem->yaml.find("kind: ClusterRoleBinding") != std::string::npos);
  CHECK(problem->yaml.find("name: system:auth-delegator") != std::string::npos);
  patient.cluster.forbidden = {"subjectaccessreviews"};
  CHECK(patient.Complaints() ==
        Complaints{"delegation: may not ask for SubjectAccessReviews: nobody but the server's own "
                   "administrators could do anything"});
}

TEST_CASE("doctor: whoever asks who may do what is looked at as such", "[server]") {
  Patient patient;
  // What its user may not ask, the other one's must.
  patient.cluster.forbidden = {"subjectaccessreviews"};
  FakeCluster other;
  other.forbidden = {"tokenreviews"};
  other.answers["GET /version"] = {.code = 200, .body = R"({"gitVersion":"v1.34.0"})"};
  other.answers["POST /apis/authentication.k8s.io/v1/selfsubjectreviews"] = {
      .code = 201, .body = R"({"status":{"userInfo":{"username":"judge"}}})"};
  DoctorOptions options = patient.Options();
  options.authorization_cluster = &other;
  const auto lines = [&options] {
    std::string found;
    for (const Finding& each : Diagnose(Context::Background(), options)) {
      const bool told =
          each.check.starts_with("delegation") || each.check.ends_with("authorization");
      if (told) found += each.check + ": " + each.text + "\n" + each.yaml;
    }
    return found;
  };
  CHECK(lines() ==
        "delegation: may ask for TokenReviews\n"
        "cluster of authorization: answers, version v1.34.0\n"
        "identity of authorization: asks as judge\n"
        "delegation of authorization: may ask for SubjectAccessReviews\n");

  patient.cluster.forbidden = {};
  other.forbidden = {"subjectaccessreviews"};
  const std::string denied = lines();
  INFO(denied);
  CHECK(denied.find("delegation of authorization: may not ask for SubjectAccessReviews: nobody but "
                    "the server's own administrators could do anything\n") != std::string::npos);
  CHECK(denied.ends_with("  name: \"judge\"\n"));

  patient.cluster.forbidden = {"tokenreviews"};
  other.down = true;
  CHECK(patient.Complaints() ==
        Complaints{"delegation: may not ask for TokenReviews: nobody but the server's own "
                   "administrators could do anything"});
  CHECK(lines().ends_with("cluster of authorization: does not answer: connection refused\n"));
}

TEST_CASE("doctor: what admission obeys must be allowed to be followed", "[server]") {
  Patient patient;
  DoctorOptions options = patient.Options();
  options.followed = {{"", "namespaces"}, {"admissionregistration.k8s.io", "webhooks"}};
  const auto admission = [&options] {
    for (Finding& each : Diagnose(Context::Background(), options)) {
      if (each.check == "admission") return std::move(each);
    }
    return Finding{.text = "none"};
  };
  CHECK(admission().level == Level::kOk);
  patient.cluster.forbidden = {R"("verb":"watch","group":"admissionregistration.k8s.io")"};
  const Finding found = admission();
  CHECK(found.level == Level::kProblem);
  CHECK(found.text ==
        "may not list and watch webhooks.admissionregistration.k8s.io, so the server does not "
        "become ready");
  runtime::Arena arena;
  const auto documents = codec::SplitYamlDocuments(found.yaml);
  REQUIRE(documents.size() == 2);
  const auto role = codec::ParseYaml(documents[0], arena);
  const auto binding = codec::ParseYaml(documents[1], arena);
  REQUIRE((role.ok() && binding.ok()));
  CHECK((*binding)["roleRef"]["name"] == (*role)["metadata"]["name"]);
  CHECK((*binding)["subjects"].at(0)["name"].AsString() == "apiserver");
  CHECK((*role)["rules"].size() == 2);
  CHECK((*role)["rules"].at(0)["resources"].at(0).AsString() == "namespaces");
  CHECK((*role)["rules"].at(1)["resources"].at(0).AsString() == "webhooks");

  // Another identity is asked for itself, and a server that obeys no cluster is not asked.
  FakeCluster core;
  core.down = true;
  options.core_cluster = &core;
  CHECK(admission().text == "none");
  CHECK(Diagnose(Context::Background(), options).size() == patient.Findings().size() + 1);
  options.followed.clear();
  CHECK(Diagnose(Context::Background(), options).size() == patient.Findings().size());
}

TEST_CASE("doctor: the serving certificate must be for the Service and valid", "[server]") {
  Patient patient;
  patient.serving =
      http::NewCertificate(patient.ca, {.common_name = "api", .dns_names = {"localhost"}},
                           patient.clock)
          .value();
  CHECK(patient.Complaints() ==
        Complaints{"serving certificate: is not for api.shop.svc",
                   "APIService v1.example.com: its caBundle does not verify this server's "
                   "certificate: hostname mismatch"});
  Patient late;
  late.clock.Advance(std::chrono::hours(24 * 400));
  CHECK(late.Complaints() ==
        Complaints{"serving certificate: CN=api has expired",
                   "APIService v1.example.com: its caBundle does not verify this server's "
                   "certificate: certificate has expired"});
}

TEST_CASE("doctor: each way in which an APIService is wrong is told", "[server]") {
  Patient patient;
  patient.SetService("", "True");
  CHECK(patient.Complaints() == Complaints{"APIService v1.example.com: has no caBundle, so the "
                                           "aggregator does not connect"});
  patient.SetService(R"(,"insecureSkipTLSVerify":true)", "True");
  CHECK(patient.Complaints() ==
        Complaints{"APIService v1.example.com: does not verify this server's certificate"});
  patient.SetService(Patient::CaBundle(patient.proxy_ca.certificate_pem), "True");
  CHECK(patient.Complaints().size() == 1);
  patient.SetService(Patient::CaBundle(patient.ca.certificate_pem), "False");
  CHECK(patient.Complaints() ==
        Complaints{"APIService v1.example.com: is not available: no endpoints"});
  patient.cluster.answers.erase(kServicePath);
  const std::vector<Finding> findings = patient.Findings();
  CHECK(findings.back().text == "there is none, so the cluster does not ask this server");
  runtime::Arena arena;
  const auto yaml = codec::ParseYaml(findings.back().yaml, arena);
  REQUIRE(yaml.ok());
  CHECK((*yaml)["metadata"]["name"].AsString() == "v1.example.com");
  CHECK((*yaml)["spec"]["service"]["name"].AsString() == "api");
  CHECK(text::DecodeBase64((*yaml)["spec"]["caBundle"].AsString()) == patient.ca.certificate_pem);
}

TEST_CASE("doctor: what it says ends with everything to apply, once", "[server]") {
  const std::vector<Finding> findings = {
      {.check = "a", .text = "fine"},
      {.level = Level::kProblem, .check = "b", .text = "no", .remedy = "Do:", .yaml = "x: 1\n"},
      {.level = Level::kWarning, .check = "c", .text = "hm", .remedy = "Do:", .yaml = "x: 1\n"},
      {.level = Level::kProblem, .check = "d", .text = "no", .remedy = "Do.", .yaml = "y: 2\n"}};
  CHECK(Render(findings) ==
        "ok       a: fine\n"
        "problem  b: no\n         Do: see below\n"
        "warning  c: hm\n         Do: see below\n"
        "problem  d: no\n         Do. see below\n"
        "\n# kubectl apply -f -\nx: 1\n---\ny: 2\n");
}

TEST_CASE("doctor: programs read its findings as JSON", "[server]") {
  CHECK(RenderJson({}) ==
        "{\n  \"apiVersion\": \"libapiserver.dev/v1alpha1\",\n  \"kind\": \"DoctorReport\",\n"
        "  \"checks\": []\n}\n");
  const std::string json = RenderJson({{.level = Level::kProblem,
                                        .check = "APIService",
                                        .text = "\"no\"",
                                        .remedy = "Do:",
                                        .yaml = "x: 1\n",
                                        .subject = "v1.example.com"},
                                       {.level = Level::kWarning, .check = "request header"},
                                       {.check = "mode", .text = "is 0600 now", .repaired = true}});
  runtime::Arena arena;
  const auto report = codec::ParseJson(json, arena);
  REQUIRE(report.ok());

  std::string checks;
  codec::AppendJson((*report)["checks"], checks);
  CHECK(checks ==
        R"([{"name":"apiservice","subject":"v1.example.com","status":"error",)"
        R"("message":"\"no\"","fix":"Do:","manifest":"x: 1\n"},)"
        R"({"name":"request-header","status":"warning","message":"","fix":""},)"
        R"({"name":"mode","status":"ok","message":"is 0600 now","fix":"","fixed":true}])");
}

}  // namespace apiserver::inline v0::delegation
