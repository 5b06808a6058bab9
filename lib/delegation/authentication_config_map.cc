#include "delegation/authentication_config_map.h"

#include <utility>

#include "apiserver/authn/x509.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "base/status_macros.h"
#include "delegation/doctor_yaml.h"

namespace apiserver::v0::delegation {

namespace {

constexpr std::string_view kMapNamespace = "kube-system";
constexpr std::string_view kMapName = "extension-apiserver-authentication";

// An empty name is for a list or watch of the namespace.
client::Target MapTarget(std::string name) {
  return {.resource = {.group = "", .version = "v1", .resource = "configmaps"},
          .namespace_ = std::string(kMapNamespace),
          .name = std::move(name)};
}

Status BadKey(std::string_view key, const std::string& why) {
  return Status(Reason::kInvalid, "configmap " + std::string(kMapNamespace) + "/" +
                                      std::string(kMapName) + ": " + std::string(key) + ": " + why);
}

// Returns a JSON list of texts, none of them empty. The ConfigMap's values are texts, which hold
// the lists as JSON.
Result<std::vector<std::string>> ListAt(const runtime::Value& data, std::string_view key) {
  std::vector<std::string> texts;
  const std::string text(data[key].AsString());
  if (text.empty()) return texts;
  runtime::Arena arena;
  const auto list = codec::ParseJson(text, arena);
  if (!list.ok()) return BadKey(key, std::string(list.status().message()));
  if (list->is_null()) return texts;
  if (!list->is_list()) return BadKey(key, "is no JSON list of texts");
  for (const runtime::Value& item : list->items()) {
    if (item.AsString().empty()) return BadKey(key, "is no JSON list of texts, or one is empty");
    // A text of another type reads as empty here.
    texts.emplace_back(item.AsString());
  }
  return texts;
}

Result<std::string> BundleAt(const runtime::Value& data, std::string_view key) {
  std::string pem(data[key].AsString());
  if (pem.empty()) return pem;
  if (const Status good = authn::CheckCertificateBundle(pem); !good.ok()) {
    return BadKey(key, std::string(good.message()));
  }
  return pem;
}

// Returns the user of a message like `User "…" cannot get resource …`. Empty: there is none.
std::string_view ForbiddenUser(std::string_view message) {
  constexpr std::string_view kBefore = "User \"";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = message.substr(at + kBefore.size());
  return rest.substr(0, rest.find('"'));
}

// Sets the value only if it has changed, so that values derived from the old one stay valid.
template <class T>
void SetIfNew(Variable<T>& variable, T value) {
  if (*variable.Get() != value) variable.Set(std::move(value));
}

}  // namespace

// The keys are those that kube-apiserver writes:
// pkg/controlplane/controller/clusterauthenticationtrust.
Result<AuthenticationConfigMap> ReadAuthenticationConfigMap(const runtime::Object& map) {
  const runtime::Value data = map["data"];
  AuthenticationConfigMap config;
  ASSIGN_OR_RETURN(config.client_ca, BundleAt(data, "client-ca-file"));
  ASSIGN_OR_RETURN(config.request_header_ca, BundleAt(data, "requestheader-client-ca-file"));
  ASSIGN_OR_RETURN(config.allowed_names, ListAt(data, "requestheader-allowed-names"));
  ASSIGN_OR_RETURN(config.names.username, ListAt(data, "requestheader-username-headers"));
  ASSIGN_OR_RETURN(config.names.uid, ListAt(data, "requestheader-uid-headers"));
  ASSIGN_OR_RETURN(config.names.group, ListAt(data, "requestheader-group-headers"));
  ASSIGN_OR_RETURN(config.names.extra_prefix, ListAt(data, "requestheader-extra-headers-prefix"));
  return config;
}

AuthenticationConfigMapFollower::AuthenticationConfigMapFollower(client::Client& cluster,
                                                                 Random& random, LogSink& log)
    : cluster_(cluster),
      random_(random),
      log_(log),
      client_ca_(std::make_shared<Variable<std::string>>("")),
      request_header_ca_(std::make_shared<Variable<std::string>>("")),
      allowed_names_(
          std::make_shared<Variable<std::vector<std::string>>>(std::vector<std::string>())),
      // No header names a user until the map has said which ones do.
      names_(std::make_shared<Variable<authn::RequestHeaderNames>>(
          authn::RequestHeaderNames{.username = {}, .uid = {}, .group = {}, .extra_prefix = {}})) {}

// A missing ConfigMap is no error, as upstream: it may be written after this server starts.
Status AuthenticationConfigMapFollower::ReadNow(const Context& ctx) {
  const auto map = cluster_.Get(ctx, MapTarget(std::string(kMapName)));
  if (map.ok()) return Use(**map);
  const Status& why = map.status();
  if (why.reason() == Reason::kNotFound) {
    Log(log_, LogLevel::kWarning,
        "the cluster has no ConfigMap with its authorities yet: neither users' certificates nor "
        "its front proxy are known until it has",
        {{"configmap", std::string(kMapNamespace) + "/" + std::string(kMapName)}});
    return {};
  }
  std::string message = "unable to load configmap " + std::string(kMapNamespace) + "/" +
                        std::string(kMapName) + ": " + std::string(why.message());
  if (why.reason() == Reason::kForbidden) {
    message +=
        "; let the server read it with:\n" + AuthenticationReaderYaml(ForbiddenUser(why.message()));
  }
  return why.WithMessage(std::move(message));
}

// Watches one name, which the Role extension-apiserver-authentication-reader allows. Callbacks run
// on the informer's thread.
void AuthenticationConfigMapFollower::Follow() {
  client::InformerHandler handler;
  handler.on_add = [this](const runtime::ObjectPtr& map) { UseOrLog(map); };
  handler.on_update = [this](const runtime::ObjectPtr&, const runtime::ObjectPtr& map) {
    UseOrLog(map);
  };
  informer_ = client::NewInformer(cluster_, {.target = MapTarget(""),
                                             .field_selector = meta::FieldSelector::Equals(
                                                 "metadata.name", std::string(kMapName)),
                                             .handlers = {std::move(handler)},
                                             .random = &random_,
                                             .log = &log_});
  informer_->Start();
}

// Called by the informer's thread, or before it starts; so one call at a time.
Status AuthenticationConfigMapFollower::Use(const runtime::Object& map) {
  ASSIGN_OR_RETURN(AuthenticationConfigMap config, ReadAuthenticationConfigMap(map));
  // The names come first: once the authority is set, no request may be read by wrong names.
  SetIfNew(*names_, std::move(config.names));
  SetIfNew(*allowed_names_, std::move(config.allowed_names));
  // An authority that is missing now keeps its former value, as upstream.
  if (!config.request_header_ca.empty()) {
    SetIfNew(*request_header_ca_, std::move(config.request_header_ca));
  }
  if (!config.client_ca.empty()) SetIfNew(*client_ca_, std::move(config.client_ca));
  return {};
}

// A ConfigMap that cannot be read must not lock out the users that the one before made known.
void AuthenticationConfigMapFollower::UseOrLog(const runtime::ObjectPtr& map) {
  if (const Status used = Use(*map); !used.ok()) {
    Log(log_, LogLevel::kError, "a changed ConfigMap is not used, the one before still is",
        {{"err", std::string(used.message())}});
  }
}

}  // namespace apiserver::v0::delegation
