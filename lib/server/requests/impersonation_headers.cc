#include <algorithm>
#include <string>

#include "apiserver/http/message.h"
#include "apiserver/meta/errors.h"
#include "server/requests/impersonation.h"

namespace apiserver::v0::server {
namespace {

// The prefix of all their names.
constexpr std::string_view kImpersonatePrefix = "Impersonate-";
constexpr std::string_view kImpersonateUser = "Impersonate-User";
constexpr std::string_view kImpersonateGroup = "Impersonate-Group";
constexpr std::string_view kImpersonateUid = "Impersonate-Uid";
constexpr std::string_view kImpersonateExtraPrefix = "Impersonate-Extra-";

bool BeginsWith(std::string_view name, std::string_view prefix) {
  return http::EqualIgnoreCase(name.substr(0, prefix.size()), prefix);
}

// Returns the key of an extra. nullopt: it is another header.
std::optional<std::string> ExtraKeyOf(std::string_view name) {
  if (!BeginsWith(name, kImpersonateExtraPrefix)) return std::nullopt;
  std::string key(name.substr(kImpersonateExtraPrefix.size()));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  // A key that is not encoded correctly is taken literally.
  std::optional<std::string> decoded = http::PercentDecode(key);
  return decoded ? *std::move(decoded) : key;
}

// Prints as Go's %v of a v1.ObjectReference that has only these fields.
std::string Reference(std::string_view kind, std::string_view name,
                      std::string_view api_version = "", std::string_view field_path = "") {
  std::string text = "{";
  text.append(kind).append("  ").append(name).append("  ").append(api_version);
  return text.append("  ").append(field_path).append("}");
}

// Prints the requested users as impersonation.buildImpersonationRequests does.
std::string PrintedReferences(const auth::UserInfo& wanted) {
  constexpr std::string_view kVersion = "authentication.k8s.io/v1";
  std::string text;
  const auto add = [&text](const std::string& reference) {
    text += (text.empty() ? "[" : " ") + reference;
  };
  for (const std::string& group : wanted.groups) add(Reference("Group", group));
  for (const auto& [key, values] : wanted.extra) {
    for (const std::string& value : values) add(Reference("UserExtra", value, kVersion, key));
  }
  if (!wanted.uid.empty()) add(Reference("UID", wanted.uid, kVersion));
  return text + "]";
}

}  // namespace

Result<std::optional<auth::UserInfo>> WantedUserOf(const http::Headers& headers) {
  const bool none = std::none_of(headers.begin(), headers.end(), [](const auto& header) {
    return BeginsWith(header.name, kImpersonatePrefix);
  });
  if (none) return std::optional<auth::UserInfo>();
  auth::UserInfo wanted;
  wanted.name = headers.Get(kImpersonateUser);
  wanted.uid = headers.Get(kImpersonateUid);
  for (const std::string_view group : headers.GetAll(kImpersonateGroup)) {
    wanted.groups.emplace_back(group);
  }
  for (const http::Headers::Field& header : headers) {
    if (const auto key = ExtraKeyOf(header.name)) wanted.extra[*key].push_back(header.value);
  }
  if (!wanted.name.empty()) return std::optional(std::move(wanted));
  if (wanted == auth::UserInfo{}) return std::optional<auth::UserInfo>();
  return meta::NewBadRequest("requested " + PrintedReferences(wanted) +
                             " without impersonating a user");
}

void RemoveImpersonationHeaders(http::Headers& headers) {
  headers.Remove(kImpersonateUser);
  headers.Remove(kImpersonateGroup);
  headers.Remove(kImpersonateUid);
  headers.RemovePrefix(kImpersonateExtraPrefix);
}

}  // namespace apiserver::v0::server
