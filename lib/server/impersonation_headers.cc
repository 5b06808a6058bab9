#include <algorithm>

#include "apiserver/base/field_path.h"
#include "apiserver/http/message.h"
#include "apiserver/meta/errors.h"
#include "server/impersonation.h"

namespace apiserver::inline v0::server {
namespace {

// What the names of all of them begin with.
constexpr std::string_view kImpersonatePrefix = "Impersonate-";
constexpr std::string_view kImpersonateUser = "Impersonate-User";
constexpr std::string_view kImpersonateGroup = "Impersonate-Group";
constexpr std::string_view kImpersonateUid = "Impersonate-Uid";
constexpr std::string_view kImpersonateExtraPrefix = "Impersonate-Extra-";

bool BeginsWith(std::string_view name, std::string_view prefix) {
  return http::EqualIgnoreCase(name.substr(0, prefix.size()), prefix);
}

// The key of an extra; nullopt: another header.
std::optional<std::string> ExtraKeyOf(std::string_view name) {
  if (!BeginsWith(name, kImpersonateExtraPrefix)) return std::nullopt;
  std::string key(name.substr(kImpersonateExtraPrefix.size()));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  // What is not encoded right is a key as it stands.
  std::optional<std::string> decoded = http::PercentDecode(key);
  return decoded ? *std::move(decoded) : key;
}

// Go's %#v of a []string.
std::string GoSyntax(const std::vector<std::string>& texts) {
  if (texts.empty()) return "[]string(nil)";
  std::string syntax = "[]string{";
  for (const std::string& text : texts) {
    if (&text != &texts.front()) syntax += ", ";
    syntax += field::Quote(text);
  }
  return syntax + "}";
}

// Go's %#v of a *user.DefaultInfo.
std::string GoSyntax(const auth::UserInfo& user) {
  std::string extra;
  for (const auto& [key, values] : user.extra) {
    extra += (extra.empty() ? "{" : ", ") + field::Quote(key) + ":" + GoSyntax(values);
  }
  extra = "map[string][]string" + (extra.empty() ? "(nil)" : extra + "}");
  return "&user.DefaultInfo{Name:" + field::Quote(user.name) + ", UID:" + field::Quote(user.uid) +
         ", Groups:" + GoSyntax(user.groups) + ", Extra:" + extra + "}";
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
  return meta::NewBadRequest("requested " + GoSyntax(wanted) +
                             " without impersonating a user name");
}

void RemoveImpersonationHeaders(http::Headers& headers) {
  headers.Remove(kImpersonateUser);
  headers.Remove(kImpersonateGroup);
  headers.Remove(kImpersonateUid);
  headers.RemovePrefix(kImpersonateExtraPrefix);
}

}  // namespace apiserver::inline v0::server
