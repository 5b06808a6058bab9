#include "apiserver/delegation/doctor.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/http/certificates.h"
#include "apiserver/runtime/arena.h"
#include "delegation/certificate_validity.h"
#include "delegation/doctor_yaml.h"
#include "http/date.h"
#include "text/base64.h"
#include "text/duration.h"

namespace apiserver::v0::delegation {

namespace {

using Level = Finding::Level;

constexpr std::string_view kConfigMap =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

// Clocks that follow time servers differ by less; a Date has whole seconds.
constexpr std::chrono::seconds kClockOffMax(5);

// The cluster's response to one request.
struct ClusterAnswer {
  int code = 0;         // Zero: there was no response.
  std::string message;  // The message of its Status, or the reason why there is no response.
  std::string date;     // As it is in the header; empty if there is none.
  std::shared_ptr<const std::string> text;  // `body` points into it.
  runtime::Arena arena;
  runtime::Value body;
};

// A cluster, and the user that it takes the server for.
struct Asked {
  client::Client* cluster = nullptr;
  std::string of = {};    // The suffix of the names of checks.
  std::string user = {};  // Empty: the cluster does not tell.
};

// Asks as the server itself would, and stops at nothing but a cluster that does not answer: each
// finding has its own remedy.
class Doctor {
 public:
  Doctor(const Context& ctx, const DoctorOptions& options)
      : ctx_(ctx),
        options_(options),
        authentication_{.cluster = options.cluster},
        authorization_{.cluster = options.authorization_cluster, .of = " of authorization"},
        core_{.cluster = options.core_cluster, .of = " of admission"} {}

  std::vector<Finding> Run() {
    // Without an answer every further check would fail for the same reason.
    if (!LookAtCluster(authentication_)) return std::move(findings_);
    LookAtIdentity(authentication_);
    LookAtConfigMap();
    LookAtPermissions();
    LookAtAdmission();
    LookAtServingCertificate();
    LookAtApiServices();
    return std::move(findings_);
  }

 private:
  void Add(Level level, std::string check, std::string text, std::string remedy = {},
           std::string yaml = {}) {
    findings_.push_back(
        {level, std::move(check), std::move(text), std::move(remedy), std::move(yaml)});
  }

  // Any answer is a result here, whatever its code; the checks tell them apart.
  ClusterAnswer Ask(const Asked& asked, std::string method, std::string path,
                    std::string body = {}) {
    ClusterAnswer answer;
    http::ClientRequest request{.method = std::move(method), .target = std::move(path)};
    request.headers.Set("Accept", "application/json");
    if (!body.empty()) request.headers.Set("Content-Type", "application/json");
    request.body = std::move(body);
    const auto got = asked.cluster->Call(ctx_, std::move(request));
    if (!got.ok()) {
      answer.message = got.status().message();
      return answer;
    }
    answer.code = got->code;
    answer.date = got->headers.Get("Date");
    answer.text = std::make_shared<const std::string>(got->body);
    const auto parsed = codec::ParseJson(*answer.text, answer.arena);
    if (parsed.ok()) answer.body = *parsed;
    answer.message = answer.body["message"].AsString();
    // An answer without a message, such as a proxy's error page, is described by its code.
    if (answer.message.empty()) answer.message = "HTTP " + std::to_string(answer.code);
    return answer;
  }

  bool LookAtCluster(const Asked& asked) {
    const Clock::Wall asked_at = options_.clock->WallNow();
    const ClusterAnswer version = Ask(asked, "GET", "/version");
    if (version.code == 200) {
      Add(Level::kOk, "cluster" + asked.of,
          "answers, version " + std::string(version.body["gitVersion"].AsString()));
      LookAtClock(asked, version.date, asked_at);
      return true;
    }
    Add(Level::kProblem, "cluster" + asked.of, "does not answer: " + version.message,
        version.code == 401 ? "The kubeconfig's credentials are not, or no longer, accepted."
                            : "Check the kubeconfig's server, certificate authority and network.");
    return false;
  }

  // A certificate or token of one machine is not valid yet, or not any more, on another whose clock
  // is wrong. The cluster's clock had its time at some moment since `asked_at`.
  void LookAtClock(const Asked& asked, const std::string& date, Clock::Wall asked_at) {
    const auto cluster = http::ParseDate(date);
    if (!cluster) return;
    using std::chrono::floor, std::chrono::seconds;
    const seconds ahead = *cluster - floor<seconds>(options_.clock->WallNow());
    const seconds behind = floor<seconds>(asked_at) - *cluster;
    const seconds off = std::max({ahead, behind, seconds(0)});
    const std::string check = "clock" + asked.of;
    if (off <= kClockOffMax) {
      Add(Level::kOk, check, "the cluster's and this machine's agree");
      return;
    }
    Add(Level::kWarning, check,
        "the cluster's is " + text::FormatDuration(off) +
            (ahead > behind ? " ahead of" : " behind") + " this machine's",
        "Let both machines follow the same time servers: `timedatectl timesync-status`.");
  }

  void LookAtIdentity(Asked& asked) {
    const std::string check = "identity" + asked.of;
    const ClusterAnswer review =
        Ask(asked, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
    if (review.code != 201) {
      // Clusters before 1.28 have no SelfSubjectReview.
      Add(Level::kWarning, check, "cannot tell who asks: " + review.message);
      return;
    }
    asked.user = review.body["status"]["userInfo"]["username"].AsString();
    // The request was answered, but without credentials: all later checks would be about the wrong
    // user.
    if (asked.user == "system:anonymous") {
      Add(Level::kProblem, check, "the cluster takes us for system:anonymous",
          "Give the kubeconfig a token or a client certificate.");
      return;
    }
    Add(Level::kOk, check, "asks as " + asked.user);
  }

  // 403 and 404 have different remedies: a RoleBinding here, flags of kube-apiserver there.
  void LookAtConfigMap() {
    const ClusterAnswer map = Ask(authentication_, "GET", std::string(kConfigMap));
    if (map.code == 403) {
      Add(Level::kProblem, "extension-apiserver-authentication", map.message,
          "Let the server read the ConfigMap:", AuthenticationReaderYaml(authentication_.user));
      return;
    }
    if (map.code == 404) {
      Add(Level::kProblem, "extension-apiserver-authentication",
          "the cluster has no ConfigMap of this name in kube-system",
          "A kube-apiserver writes it when it has --client-ca-file or "
          "--requestheader-client-ca-file.");
      return;
    }
    if (map.code != 200) {
      Add(Level::kProblem, "extension-apiserver-authentication", map.message);
      return;
    }
    Add(Level::kOk, "extension-apiserver-authentication", "can be read");
    LookAtWatch();
    LookAtAuthorities(map.body["data"]);
    LookAtRequestHeader(map.body["data"]);
  }

  // The ConfigMap is followed, so that a rotated authority needs no restart.
  void LookAtWatch() {
    for (const std::string_view verb : {"list", "watch"}) {
      if (Allowed(authentication_, {.verb = verb,
                                    .resource = "configmaps",
                                    .namespace_ = "kube-system",
                                    .name = "extension-apiserver-authentication"})) {
        continue;
      }
      Add(Level::kProblem, "extension-apiserver-authentication",
          "may not " + std::string(verb) + " it, so a rotated authority would not be noticed",
          "Let the server follow the ConfigMap:", AuthenticationReaderYaml(authentication_.user));
      return;
    }
  }

  // Without client-ca-file users have no certificates here; without the proxy's authority the
  // aggregator cannot name users.
  void LookAtAuthorities(runtime::Value data) {
    const bool clients = LookAtBundle(data, "client-ca-file");
    const bool proxy = LookAtBundle(data, "requestheader-client-ca-file");
    if (!clients) {
      Add(Level::kWarning, "client authority",
          "the cluster has no client-ca-file, so client certificates prove nothing here");
    }
    if (!proxy) {
      Add(Level::kProblem, "request header",
          "the cluster has no requestheader-client-ca-file, so its aggregator cannot speak for "
          "its users",
          "Start kube-apiserver with --requestheader-client-ca-file, --proxy-client-cert-file and "
          "--proxy-client-key-file.");
    }
    // The aggregator's certificate is trusted to name any user, so its authority must not be the
    // users'.
    if (clients && data["client-ca-file"] == data["requestheader-client-ca-file"]) {
      Add(Level::kWarning, "request header",
          "one authority signs users' certificates and the aggregator's",
          "Give the aggregator an authority of its own: with a shared one, any user whose name is "
          "an allowed name could speak for everybody.");
    }
  }

  // Checks a bundle. Returns whether there is one.
  bool LookAtBundle(runtime::Value data, std::string_view key) {
    const std::string pem(data[key].AsString());
    if (pem.empty()) return false;
    const auto facts = http::DescribeCertificates(pem);
    if (!facts.ok()) {
      Add(Level::kProblem, std::string(key), std::string(facts.status().message()));
      return true;
    }
    for (const http::CertificateFacts& each : *facts) LookAtValidity(std::string(key), each);
    return true;
  }

  void LookAtValidity(const std::string& check, const http::CertificateFacts& facts) {
    findings_.push_back(ValidityOf(check, facts, options_.clock->WallNow()));
  }

  // The headers may be absent where the authority is, so nothing is said about them then.
  void LookAtRequestHeader(runtime::Value data) {
    if (data["requestheader-client-ca-file"].is_null()) return;
    const auto texts = [this, &data](std::string_view key) -> std::optional<std::size_t> {
      const std::string text(data[key].AsString());
      if (text.empty()) return 0;
      runtime::Arena arena;
      const auto list = codec::ParseJson(text, arena);
      if (list.ok() && list->is_list()) return list->size();
      Add(Level::kProblem, "request header", std::string(key) + " is no JSON list: " + text);
      return std::nullopt;
    };
    if (texts("requestheader-username-headers") == 0U) {
      Add(Level::kProblem, "request header", "there is no header for the user's name",
          "Start kube-apiserver with --requestheader-username-headers=X-Remote-User.");
    }
    if (texts("requestheader-allowed-names") == 0U) {
      // An empty list of names means any, as in Go.
      Add(Level::kWarning, "request header",
          "every certificate that requestheader-client-ca-file signed may speak for everybody",
          "Start kube-apiserver with --requestheader-allowed-names=<the aggregator's common "
          "name>.");
    }
    for (const std::string_view key :
         {"requestheader-group-headers", "requestheader-extra-headers-prefix"}) {
      if (texts(key) == 0U) {
        Add(Level::kWarning, "request header",
            std::string(key) +
                " is empty: users lose what it "
                "would bring");
      }
    }
  }

  struct Permission {
    std::string_view verb;
    std::string_view group = {};
    std::string_view resource;
    std::string_view namespace_ = {};
    std::string_view name = {};
  };
  // False also if the review itself fails: the server could not rely on it either.
  bool Allowed(const Asked& asked, const Permission& permission) {
    std::string body =
        R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{)"
        R"("resourceAttributes":{"verb":")";
    body += std::string(permission.verb) + R"(","group":")" + std::string(permission.group) +
            R"(","resource":")" + std::string(permission.resource) + R"(","namespace":")" +
            std::string(permission.namespace_) + R"(","name":")" + std::string(permission.name) +
            R"("}}})";
    const ClusterAnswer review = Ask(
        asked, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", std::move(body));
    return review.code == 201 && review.body["status"]["allowed"].AsBool();
  }

  struct Review {
    std::string_view name;
    Permission permission;
  };
  // One user may do both reviews, or two kubeconfigs have a user each.
  void LookAtPermissions() {
    const Review tokens{
        "TokenReviews",
        {.verb = "create", .group = "authentication.k8s.io", .resource = "tokenreviews"}};
    const Review access{
        "SubjectAccessReviews",
        {.verb = "create", .group = "authorization.k8s.io", .resource = "subjectaccessreviews"}};
    if (authorization_.cluster == nullptr) {
      LookAtDelegation(authentication_, {tokens, access});
      return;
    }
    LookAtDelegation(authentication_, {tokens});
    // Another identity for authorization needs its own checks.
    if (!LookAtCluster(authorization_)) return;
    LookAtIdentity(authorization_);
    LookAtDelegation(authorization_, {access});
  }

  void LookAtDelegation(const Asked& asked, const std::vector<Review>& reviews) {
    std::string may;
    std::string may_not;
    for (const Review& each : reviews) {
      const bool allowed = Allowed(asked, each.permission);
      std::string& names = allowed ? may : may_not;
      if (!names.empty()) names += allowed ? " and " : " nor ";
      names += each.name;
    }
    if (may_not.empty()) {
      Add(Level::kOk, "delegation" + asked.of, "may ask for " + may);
      return;
    }
    Add(Level::kProblem, "delegation" + asked.of,
        "may not ask for " + may_not +
            ": nobody but the server's own administrators could do "
            "anything",
        "Let the server ask:", AuthDelegatorYaml(asked.user));
  }

  // Without one of these the server does not become ready.
  void LookAtAdmission() {
    if (options_.followed.empty()) return;
    if (core_.cluster != nullptr) {
      if (!LookAtCluster(core_)) return;
      LookAtIdentity(core_);
    }
    const Asked& asked = core_.cluster != nullptr ? core_ : authentication_;
    std::string hidden;
    for (const runtime::GroupResource& each : options_.followed) {
      if (MayFollow(asked, each)) continue;
      hidden += (hidden.empty() ? "" : ", ") + each.ToString();
    }
    if (hidden.empty()) {
      Add(Level::kOk, "admission", "may follow what it obeys in the cluster");
      return;
    }
    Add(Level::kProblem, "admission",
        "may not list and watch " + hidden + ", so the server does not become ready",
        "Let the server follow what its admission obeys:",
        FollowerYaml(asked.user, options_.followed));
  }

  bool MayFollow(const Asked& asked, const runtime::GroupResource& followed) {
    for (const std::string_view verb : {"list", "watch"}) {
      if (!Allowed(asked, {.verb = verb, .group = followed.group, .resource = followed.resource})) {
        return false;
      }
    }
    return true;
  }

  std::string ServiceHost() const {
    return options_.service_name + "." + options_.service_namespace + ".svc";
  }

  void LookAtServingCertificate() {
    if (options_.serving_certificate_pem.empty()) return;
    const auto chain = http::DescribeCertificates(options_.serving_certificate_pem);
    if (!chain.ok()) {
      Add(Level::kProblem, "serving certificate", std::string(chain.status().message()));
      return;
    }
    LookAtValidity("serving certificate", chain->front());
    if (options_.service_name.empty()) return;
    // The aggregator connects to the Service's address, but verifies this name.
    const auto& names = chain->front().dns_names;
    if (std::find(names.begin(), names.end(), ServiceHost()) == names.end()) {
      Add(Level::kProblem, "serving certificate", "is not for " + ServiceHost(),
          "Make one whose subject alternative names have DNS:" + ServiceHost() +
              "; the aggregator asks for that name.");
    }
  }

  void LookAtApiServices() {
    if (options_.service_name.empty()) return;
    for (const runtime::GroupVersion& each : options_.group_versions) {
      const std::string name = each.version + "." + each.group;
      const std::size_t first = findings_.size();
      LookAtApiService(each, name);
      for (std::size_t i = first; i < findings_.size(); ++i) findings_[i].subject = name;
    }
  }

  // The checks follow the aggregator's: Service, caBundle, and then the condition that it reports.
  void LookAtApiService(const runtime::GroupVersion& served, const std::string& name) {
    const std::string check = "APIService";
    const ServiceReference service{options_.service_name, options_.service_namespace};
    const std::string yaml = ApiServiceYaml(served, service, ServingAuthority());
    const ClusterAnswer found =
        // An APIService exists for each version, and its absence is the usual mistake.
        Ask(authentication_, "GET", "/apis/apiregistration.k8s.io/v1/apiservices/" + name);
    if (found.code == 404) {
      Add(Level::kProblem, check, "there is none, so the cluster does not ask this server",
          "Register it:", yaml);
      return;
    }
    if (found.code != 200) {
      Add(Level::kWarning, check, "cannot be read: " + found.message);
      return;
    }
    const runtime::Value spec = found.body["spec"];
    if (spec["service"]["name"].AsString() != service.name ||
        spec["service"]["namespace"].AsString() != service.namespace_) {
      Add(Level::kProblem, check, "names another Service", "Change it:", yaml);
      return;
    }
    LookAtCaBundle(check, spec, yaml);
    LookAtAvailability(check, found.body["status"]["conditions"]);
  }

  void LookAtCaBundle(const std::string& check, runtime::Value spec, const std::string& yaml) {
    // Insecure, but it works, so this is only a warning.
    if (spec["insecureSkipTLSVerify"].AsBool()) {
      Add(Level::kWarning, check, "does not verify this server's certificate",
          "Give it the authority instead:", yaml);
      return;
    }
    if (options_.serving_certificate_pem.empty()) return;
    const auto bundle = text::DecodeBase64(spec["caBundle"].AsString());
    if (!bundle || bundle->empty()) {
      Add(Level::kProblem, check, "has no caBundle, so the aggregator does not connect",
          "Give it the authority:", yaml);
      return;
    }
    const Status verified = http::VerifyServerCertificate(options_.serving_certificate_pem, *bundle,
                                                          ServiceHost(), *options_.clock);
    if (verified.ok()) {
      Add(Level::kOk, check, "verifies this server's certificate");
      return;
    }
    Add(Level::kProblem, check,
        "its caBundle does not verify this server's certificate: " +
            std::string(verified.message()),
        "Give it the authority that signed the certificate:", yaml);
  }

  // The condition is the aggregator's own view, so it may lag behind a change by seconds.
  void LookAtAvailability(const std::string& check, runtime::Value conditions) {
    for (const runtime::Value condition : conditions.items()) {
      // The aggregator itself reports why it does not reach the server.
      if (condition["type"].AsString() != "Available") continue;
      if (condition["status"].AsString() == "True") {
        Add(Level::kOk, check, "is available");
      } else {
        Add(Level::kProblem, check,
            "is not available: " + std::string(condition["message"].AsString()));
      }
    }
  }

  std::string ServingAuthority() const {
    if (!options_.serving_ca_pem.empty()) return options_.serving_ca_pem;
    // The last certificate of a chain is the one nearest to its root.
    const std::string& chain = options_.serving_certificate_pem;
    const std::size_t last = chain.rfind("-----BEGIN CERTIFICATE-----");
    return last == std::string::npos ? "" : chain.substr(last);
  }

  const Context& ctx_;
  const DoctorOptions& options_;
  Asked authentication_;
  Asked authorization_;
  Asked core_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> Diagnose(const Context& ctx, const DoctorOptions& options) {
  return Doctor(ctx, options).Run();
}

}  // namespace apiserver::v0::delegation
