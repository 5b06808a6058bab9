#include "apiserver/proxy/auth_headers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/forward_headers.h"
#include "text/ascii.h"
#include "text/percent.h"

namespace apiserver::v0::proxy {
namespace {

// Escapes what may not stand in a header's name, and '%'.
std::string EscapeHeaderKey(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    const bool plain = text::IsLetter(c) || text::IsDigit(c) ||
                       std::string_view("!#$&'*+-.^_`|~").find(c) != std::string_view::npos;
    if (plain) {
      escaped += c;
    } else {
      text::AppendPercentEscape(c, escaped);
    }
  }
  return escaped;
}

// Returns whether `name` begins with `prefix`, which is in lower case and has dashes only.
bool HasNamePrefix(std::string_view name, std::string_view prefix) {
  const auto same = [](char p, char c) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return p == (c == '_' ? '-' : c);
  };
  return name.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), name.begin(), same);
}

bool IsName(std::string_view name, std::string_view wanted) {
  return name.size() == wanted.size() && HasNamePrefix(name, wanted);
}

bool IsRemoteIdentity(std::string_view name) {
  return IsName(name, "x-remote-user") || IsName(name, "x-remote-uid") ||
         IsName(name, "x-remote-group") || HasNamePrefix(name, "x-remote-extra-");
}

}  // namespace

void SetAuthProxyHeaders(http::Headers& headers, const auth::UserInfo& user) {
  RemoveFields(headers, [](const auto& field) { return IsRemoteIdentity(field.name); });
  headers.Add("X-Remote-User", user.name);
  if (!user.uid.empty()) headers.Add("X-Remote-Uid", user.uid);
  for (const std::string& group : user.groups) headers.Add("X-Remote-Group", group);
  for (const auto& [key, values] : user.extra) {
    const std::string name = "X-Remote-Extra-" + EscapeHeaderKey(key);
    for (const std::string& value : values) headers.Add(name, value);
  }
}

void RemoveIdentity(http::Headers& headers) {
  RemoveFields(headers, [](const auto& field) {
    return IsName(field.name, "authorization") || HasNamePrefix(field.name, "impersonate-") ||
           IsRemoteIdentity(field.name);
  });
}

}  // namespace apiserver::v0::proxy
