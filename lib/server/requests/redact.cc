#include "server/requests/redact.h"

#include <algorithm>
#include <array>

#include "apiserver/http/headers.h"
#include "apiserver/http/message.h"

namespace apiserver::v0::server {

namespace {

// Parameters in which clients put credentials, although this server reads none there.
constexpr std::array<std::string_view, 6> kSecretParameters = {
    "access_token", "token", "id_token", "refresh_token", "password", "client_secret"};

bool IsSecretName(std::string_view name) {
  return std::any_of(kSecretParameters.begin(), kSecretParameters.end(),
                     [name](std::string_view secret) {
                       return name.size() == secret.size() && http::EqualIgnoreCase(name, secret);
                     });
}

// Clients may write a name in several encodings, so it is decoded before it is compared.
bool IsSecret(std::string_view key) {
  const bool encoded = key.find('%') != key.npos || key.find('+') != key.npos;
  if (!encoded) return IsSecretName(key);
  const auto decoded = http::PercentDecode(key, /*plus_is_space=*/true);
  return decoded && IsSecretName(*decoded);
}

// True if a parameter of `query` has a value that is a secret.
bool HasSecret(std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && IsSecret(pair.substr(0, equals))) return true;
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
  }
  return false;
}

}  // namespace

// Keeps names and order of the parameters: the log shows what was asked, without the secrets.
std::string RedactedTarget(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos || !HasSecret(target.substr(mark + 1))) {
    return std::string(target);
  }
  std::string redacted;
  redacted.reserve(target.size());
  redacted = target.substr(0, mark + 1);
  std::string_view query = target.substr(mark + 1);
  for (bool more = true; more;) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && IsSecret(pair.substr(0, equals))) {
      redacted.append(pair.substr(0, equals + 1)).append("REDACTED");
    } else {
      redacted += pair;
    }
    more = end != std::string_view::npos;
    if (more) {
      redacted += '&';
      query.remove_prefix(end + 1);
    }
  }
  return redacted;
}

}  // namespace apiserver::v0::server
