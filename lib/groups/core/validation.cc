#include "groups/core/validation.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "groups/core/checks.h"
#include "groups/core/secret_data.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::string_view kServiceAccountNameKey = "kubernetes.io/service-account.name";
constexpr const char* kImmutable = "field is immutable when `immutable` is set";

ErrorList ValidateNamedMetadata(const runtime::Object& object) {
  return meta::ValidateObjectMeta(object.metadata(), true, meta::NameIsDNSSubdomain,
                                  Path("metadata"));
}

void CheckData(Value data, ErrorList& errors) {
  const Path path("data");
  std::size_t bytes = 0;
  for (const runtime::Member& member : data.members()) {
    if (!errors.full()) {
      for (const std::string& complaint : IsConfigMapKey(member.key)) {
        errors.Invalid(path.Key(member.key), member.key, complaint);
      }
    }
    const std::optional<std::string> value = SecretValue(member.value);
    // The limit is on the decoded values, which base64 makes a third longer.
    bytes += value ? value->size() : member.value.AsString().size();
  }
  if (bytes > kSecretBytesMax) errors.TooLong(path, static_cast<long>(kSecretBytesMax));
}

// Checks that the credentials of a type exist and are JSON; the error does not show them.
void CheckDockerConfig(Value data, const std::string& key, ErrorList& errors) {
  const Path path = Path("data").Key(key);
  const Value* const config = data.Find(key);
  if (config == nullptr) return errors.Required(path);
  runtime::Arena arena;
  const Result<Value> json = codec::ParseJson(SecretValue(*config).value_or(std::string()), arena);
  if (json.ok() && (json->is_map() || json->is_null())) return;
  const std::string why =
      json.ok() ? "must be a JSON object" : std::string(json.status().message());
  errors.Invalid(path, "<secret contents redacted>", why);
}

void CheckKeysPresent(Value data, std::initializer_list<const char*> keys, ErrorList& errors) {
  for (const char* key : keys) {
    if (data.Find(key) == nullptr) errors.Required(Path("data").Key(key));
  }
}

void CheckType(const runtime::Object& secret, ErrorList& errors) {
  const std::string_view type = secret["type"].AsString();
  const Value data = secret["data"];
  if (type == "kubernetes.io/service-account-token") {
    // A controller may add the uid and the token later.
    if (secret.annotations()[kServiceAccountNameKey].size() == 0) {
      errors.Required(
          Path("metadata").Child("annotations").Key(std::string(kServiceAccountNameKey)));
    }
  } else if (type == "kubernetes.io/dockercfg") {
    CheckDockerConfig(data, ".dockercfg", errors);
  } else if (type == "kubernetes.io/dockerconfigjson") {
    CheckDockerConfig(data, ".dockerconfigjson", errors);
  } else if (type == "kubernetes.io/basic-auth") {
    // Either key is enough, also with an empty value.
    const bool any = data.Find("username") != nullptr || data.Find("password") != nullptr;
    if (!any) CheckKeysPresent(data, {"username", "password"}, errors);
  } else if (type == "kubernetes.io/ssh-auth") {
    if (data["ssh-privatekey"].size() == 0) errors.Required(Path("data").Key("ssh-privatekey"));
  } else if (type == "kubernetes.io/tls") {
    CheckKeysPresent(data, {"tls.crt", "tls.key"}, errors);
  }
}

// True if the decoded values are the same.
bool SameData(Value a, Value b) {
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a.members(), [&b](const runtime::Member& member) {
    const Value* const other = b.Find(member.key);
    return other != nullptr && SecretValue(member.value) == SecretValue(*other);
  });
}

}  // namespace

ErrorList ValidateSecret(const runtime::Object& secret) {
  ErrorList errors = ValidateNamedMetadata(secret);
  CheckData(secret["data"], errors);
  CheckType(secret, errors);
  return errors;
}

ErrorList ValidateSecretUpdate(const runtime::Object& now, const runtime::Object& before) {
  ErrorList errors =
      meta::ValidateObjectMetaUpdate(now.metadata(), before.metadata(), Path("metadata"));
  errors.Append(meta::ValidateImmutableField(now["type"], before["type"], Path("type")));
  if (before["immutable"].AsBool()) {
    if (!now["immutable"].AsBool()) errors.Forbidden(Path("immutable"), kImmutable);
    if (!SameData(now["data"], before["data"])) errors.Forbidden(Path("data"), kImmutable);
  }
  errors.Append(ValidateSecret(now));
  return errors;
}

ErrorList ValidateServiceAccount(const runtime::Object& account) {
  return ValidateNamedMetadata(account);
}

ErrorList ValidateServiceAccountUpdate(const runtime::Object& now, const runtime::Object& before) {
  ErrorList errors =
      meta::ValidateObjectMetaUpdate(now.metadata(), before.metadata(), Path("metadata"));
  errors.Append(ValidateServiceAccount(now));
  return errors;
}

}  // namespace apiserver::v0::groups::core
