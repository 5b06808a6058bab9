#include "client/exec_credential.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/time.h"
#include "apiserver/runtime/value.h"
#include "base/status_macros.h"
#include "text/base64.h"

namespace apiserver::v0::client {
namespace {

using runtime::Value;

constexpr std::string_view kCredentialKind = "ExecCredential";

Status BadAnswer(std::string why) { return {Reason::kInvalid, std::move(why)}; }
Status NotDecoded(const std::string& why) { return BadAnswer("decoding stdout: " + why); }

void AppendMember(std::string_view name, std::string_view value, std::string& json) {
  if (json.back() != '{') json += ',';
  codec::AppendJsonString(name, json);
  json += ':';
  codec::AppendJsonString(value, json);
}

void AppendCluster(const ExecConfig& config, const ExecCluster& cluster, std::string& json) {
  json += "\"cluster\":{";
  AppendMember("server", cluster.server, json);
  if (!cluster.server_name.empty()) AppendMember("tls-server-name", cluster.server_name, json);
  if (!cluster.ca_pem.empty()) {
    std::string base64;
    text::AppendBase64(cluster.ca_pem, base64);
    AppendMember("certificate-authority-data", base64, json);
  }
  // As Go, whose omitempty does not leave out a RawExtension.
  json += ",\"config\":";
  json += config.cluster_config_json.empty() ? "null" : config.cluster_config_json;
  json += "},";
}

// The error does not have the parser's words, which may quote the text.
Result<Value> ParsedCredential(std::string_view output, runtime::Arena& arena) {
  // As Go's universal decoder, which takes YAML too.
  const auto value = codec::ParseYaml(output, arena);
  if (!value.ok()) return NotDecoded("it is neither JSON nor YAML");
  if (!value->is_map()) return NotDecoded("it is no object");
  return *value;
}

Status CheckType(Value credential, const ExecConfig& config) {
  const std::string kind(credential["kind"].AsString());
  const std::string version(credential["apiVersion"].AsString());
  if (kind.empty()) return NotDecoded("Object 'Kind' is missing");
  if (version.empty()) return NotDecoded("Object 'apiVersion' is missing");
  if (kind != kCredentialKind) {
    return NotDecoded("no kind \"" + kind + "\" is registered for version \"" + version + "\"");
  }
  if (version == config.api_version) return Status::Ok();
  return BadAnswer("exec plugin is configured to use API version " + config.api_version +
                   ", plugin returned version " + version);
}

Result<std::string> StringOf(Value status, std::string_view field) {
  const Value value = status[field];
  if (value.is_null()) return std::string();
  if (value.is_string()) return std::string(value.AsString());
  return NotDecoded("status." + std::string(field) + " is no string");
}

Status TakeExpiration(Value status, ExecCredentials& credentials) {
  ASSIGN_OR_RETURN(const std::string text, StringOf(status, "expirationTimestamp"));
  if (status["expirationTimestamp"].is_null()) return Status::Ok();
  const auto time = runtime::ParseTime(text);
  if (!time.ok()) return NotDecoded("status.expirationTimestamp is no time as in RFC 3339");
  // Go takes its zero time for "never".
  if (!time->is_zero()) credentials.expires = time->ToSystem();
  return Status::Ok();
}

// True for what may stand in a header (RFC 9110, 5.5); another byte could end it.
bool IsTokenText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

Status CheckUsable(const ExecCredentials& credentials) {
  const bool certificate = !credentials.certificate.certificate_pem.empty();
  const bool key = !credentials.certificate.key_pem.empty();
  if (credentials.token.empty() && !certificate && !key) {
    return BadAnswer("exec plugin didn't return a token or cert/key pair");
  }
  if (certificate != key)
    return BadAnswer("exec plugin returned only certificate or key, not both");
  if (!IsTokenText(credentials.token)) {
    return BadAnswer("exec plugin returned a token that cannot be sent in a header");
  }
  if (!certificate) return Status::Ok();
  Status usable = http::CheckClientTls({.client = credentials.certificate});
  if (usable.ok()) return usable;
  return BadAnswer("failed parsing client key/certificate: " + std::string(usable.message()));
}

}  // namespace

std::string ExecInfo(const ExecConfig& config, const ExecCluster& cluster) {
  std::string json = "{";
  AppendMember("kind", kCredentialKind, json);
  AppendMember("apiVersion", config.api_version, json);
  json += ",\"spec\":{";
  if (config.provide_cluster_info) AppendCluster(config, cluster, json);
  json += "\"interactive\":false}}";
  return json;
}

Result<ExecCredentials> ReadExecCredential(std::string_view output, const ExecConfig& config) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value credential, ParsedCredential(output, arena));
  RETURN_IF_ERROR(CheckType(credential, config));
  const Value status = credential["status"];
  if (status.is_null()) return BadAnswer("exec plugin didn't return a status field");
  if (!status.is_map()) return NotDecoded("status is no object");
  ExecCredentials credentials;
  ASSIGN_OR_RETURN(credentials.token, StringOf(status, "token"));
  ASSIGN_OR_RETURN(credentials.certificate.certificate_pem,
                   StringOf(status, "clientCertificateData"));
  ASSIGN_OR_RETURN(credentials.certificate.key_pem, StringOf(status, "clientKeyData"));
  RETURN_IF_ERROR(TakeExpiration(status, credentials));
  RETURN_IF_ERROR(CheckUsable(credentials));
  return credentials;
}

}  // namespace apiserver::v0::client
