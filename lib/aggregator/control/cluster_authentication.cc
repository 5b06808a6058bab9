#include "apiserver/aggregator/cluster_authentication.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/codec/json.h"
#include "apiserver/http/certificates.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

using AuthenticationData = std::map<std::string, std::string>;
using Strings = std::vector<std::string>;
using runtime::Value;

constexpr char kNamespacePath[] = "/api/v1/namespaces";
constexpr char kMapsPath[] = "/api/v1/namespaces/kube-system/configmaps";
constexpr char kMapName[] = "extension-apiserver-authentication";
constexpr char kClientCa[] = "client-ca-file";
constexpr char kProxyCa[] = "requestheader-client-ca-file";
// A certificate counts for this long after its end.
constexpr std::chrono::minutes kSlack(5);

std::string At(const AuthenticationData& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() ? "" : found->second;
}

void AddIfNew(std::string text, Strings& texts) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

// Returns the JSON list of the stored texts and of our own.
Result<std::string> MergedTexts(const std::string& stored, const Strings& own) {
  Strings all;
  runtime::Arena arena;
  if (!stored.empty()) {
    ASSIGN_OR_RETURN(const Value list, codec::ParseJson(stored, arena));
    for (const Value& each : list.items()) AddIfNew(std::string(each.AsString()), all);
  }
  for (const std::string& each : own) AddIfNew(each, all);
  std::string json = "[";
  for (const std::string& each : all) {
    if (json.size() > 1) json += ',';
    codec::AppendJsonString(each, json);
  }
  return json + "]";
}

// Returns the blocks of a PEM text that are certificates.
Strings CertificatesIn(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  Strings blocks;
  while (true) {
    const std::size_t begin = pem.find(kBegin);
    if (begin == std::string_view::npos) return blocks;
    const std::size_t end = pem.find(kEnd, begin);
    if (end == std::string_view::npos) return blocks;
    blocks.push_back(std::string(pem.substr(begin, end + kEnd.size() - begin)) + "\n");
    pem.remove_prefix(end + kEnd.size());
  }
}

// Returns the certificates of both bundles that count, each once.
Result<std::string> MergedBundle(const std::string& stored, const std::string& own,
                                 const Clock& clock) {
  Strings all;
  for (const std::string* const pem : {&stored, &own}) {
    for (std::string& block : CertificatesIn(*pem)) {
      ASSIGN_OR_RETURN(const auto facts, http::DescribeCertificates(block));
      if (facts.front().not_after <= clock.WallNow() - kSlack) continue;
      AddIfNew(std::move(block), all);
    }
  }
  std::string bundle;
  for (const std::string& block : all) bundle += block;
  return bundle;
}

// Writes the ConfigMap, over and over.
class Publisher : public std::enable_shared_from_this<Publisher> {
 public:
  explicit Publisher(PublishOptions options) : options_(std::move(options)) {}

  void Start(server::GenericAPIServer& server) {
    pool_ = &server.pool();
    client_ = client::NewClient(server.LoopbackConnection());
    Run();
  }
  void Stop() {
    ctx_.Cancel({Reason::kServiceUnavailable, "the server stops"});
    // Waits for what runs.
    (void)running_.Lock();
  }

 private:
  void Run() {
    const auto running = running_.Lock();
    if (ctx_.done()) return;
    const Status written = Write();
    if (!written.ok()) {
      Log(*options_.log, LogLevel::kWarning, "the ConfigMap for extension servers is not written",
          {{"configmap", kMapName}, {"why", std::string(written.message())}});
    }
    (void)pool_->PostAfter(written.ok() ? options_.period : options_.pause_after_failure,
                           [weak = weak_from_this()] {
                             if (const auto self = weak.lock()) self->Run();
                           });
  }

  Status Write() const {
    runtime::Arena arena;
    AuthenticationData stored;
    const std::string path = std::string(kMapsPath) + "/" + kMapName;
    ASSIGN_OR_RETURN(const http::ClientResponse answer, client_->Call(ctx_, {.target = path}));
    if (answer.code != 200 && answer.code != 404) return Refused(answer);
    Value object;
    if (answer.code == 200) {
      ASSIGN_OR_RETURN(object, codec::ParseJson(answer.body, arena));
      for (const runtime::Member& each : object["data"].members()) {
        stored.emplace(each.key, each.value.AsString());
      }
    }
    ASSIGN_OR_RETURN(const AuthenticationData wanted,
                     MergeClusterAuthentication(stored, options_.own(), *options_.clock));
    if (answer.code == 404) return Create(JsonOf(Named(arena), wanted, arena));
    if (wanted == stored) return {};
    return Update(path, JsonOf(object, wanted, arena));
  }

  static Value Named(runtime::Arena& arena) {
    runtime::MapBuilder metadata(arena);
    metadata.Add("name", Value::String(kMapName));
    runtime::MapBuilder object(arena);
    object.Add("apiVersion", Value::String("v1"));
    object.Add("kind", Value::String("ConfigMap"));
    object.Add("metadata", metadata.Build());
    return object.Build();
  }
  static std::string JsonOf(Value object, const AuthenticationData& data, runtime::Arena& arena) {
    runtime::MapBuilder map(arena);
    for (const auto& [key, value] : data) map.Add(key, Value::String(value));
    std::string json;
    codec::AppendJson(With(object, "data", map.Build(), arena), json);
    return json;
  }

  Status Create(std::string json) const {
    ASSIGN_OR_RETURN(
        const http::ClientResponse made,
        Send("POST", kNamespacePath,
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system"}})"));
    if (made.code != 201 && made.code != 409) return Refused(made);
    ASSIGN_OR_RETURN(const http::ClientResponse answer, Send("POST", kMapsPath, std::move(json)));
    return answer.code == 201 ? Status() : Refused(answer);
  }
  // One that has grown too large is made anew: every server adds what it has.
  Status Update(const std::string& path, std::string json) const {
    ASSIGN_OR_RETURN(const http::ClientResponse answer, Send("PUT", path, std::move(json)));
    if (answer.code == 200) return {};
    const bool too_large =
        answer.code == 413 ||
        (answer.code == 422 && answer.body.find("Too long") != std::string::npos);
    if (too_large) RETURN_IF_ERROR(Send("DELETE", path, "").status());
    return Refused(answer);
  }
  Result<http::ClientResponse> Send(std::string method, std::string path, std::string body) const {
    return client_->Call(ctx_, {.method = std::move(method),
                                .target = std::move(path),
                                .headers = {{"Content-Type", "application/json"}},
                                .body = std::move(body)});
  }
  static Status Refused(const http::ClientResponse& answer) {
    return {Reason::kInternalError, std::to_string(answer.code) + " " + answer.body};
  }

  const PublishOptions options_;
  const Context ctx_ = Context::Child(Context::Background());
  Executor* pool_ = nullptr;
  std::shared_ptr<client::Client> client_;
  Guarded<bool> running_{false};  // Locked while it runs.
};

}  // namespace

Result<AuthenticationData> MergeClusterAuthentication(const AuthenticationData& stored,
                                                      const ClusterAuthentication& own,
                                                      const Clock& clock) {
  AuthenticationData data;
  ASSIGN_OR_RETURN(std::string clients,
                   MergedBundle(At(stored, kClientCa), own.client_ca_pem, clock));
  if (!clients.empty()) data[kClientCa] = std::move(clients);
  ASSIGN_OR_RETURN(std::string proxies,
                   MergedBundle(At(stored, kProxyCa), own.request_header_ca_pem, clock));
  // Without an authority of front proxies nobody may use their headers.
  if (proxies.empty()) return data;
  data[kProxyCa] = std::move(proxies);
  for (const auto& [key, texts] :
       {std::pair("requestheader-username-headers", own.username_headers),
        std::pair("requestheader-uid-headers", own.uid_headers),
        std::pair("requestheader-group-headers", own.group_headers),
        std::pair("requestheader-extra-headers-prefix", own.extra_header_prefixes),
        std::pair("requestheader-allowed-names", own.allowed_names)}) {
    ASSIGN_OR_RETURN(data[key], MergedTexts(At(stored, key), texts));
  }
  if (data["requestheader-uid-headers"] == "[]") data.erase("requestheader-uid-headers");
  return data;
}

Status PublishClusterAuthentication(server::GenericAPIServer& server, PublishOptions options) {
  if (!options.own) return {Reason::kInvalid, "PublishOptions need `own`"};
  const auto publisher = std::make_shared<Publisher>(std::move(options));
  RETURN_IF_ERROR(server.AddPostStartHook("start-cluster-authentication-info-controller",
                                          [publisher](const server::HookContext& hook) -> Status {
                                            publisher->Start(hook.server);
                                            return {};
                                          }));
  return server.AddPreShutdownHook("stop-cluster-authentication-info-controller",
                                   [publisher](const server::HookContext& /*hook*/) -> Status {
                                     publisher->Stop();
                                     return {};
                                   });
}

}  // namespace apiserver::v0::aggregator
