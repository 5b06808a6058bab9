#include "authn/called_url.h"

#include "apiserver/base/field_path.h"
#include "text/go_url.h"

namespace apiserver::v0::authn {

// Removes query, fragment and user, which may hold secrets; the result is for logs and errors.
std::string ShownUrl(const std::string& url) {
  std::string shown = url.substr(0, url.find_first_of("?#"));
  const std::size_t host = shown.find("://");
  if (host == std::string::npos) return shown;
  const std::size_t path = shown.find('/', host + 3);
  const std::size_t at = shown.rfind('@', path);
  if (at != std::string::npos && at > host) shown.erase(host + 3, at - host - 2);
  return shown;
}

std::string CalledUrlProblem(std::string_view what, const std::string& url) {
  const std::string name(what);
  const text::Read<text::GoUrl> parsed = text::ParseGoUrl(url);
  if (!parsed.ok()) return name + " is no URL";
  const std::string shown = name + " " + field::Quote(ShownUrl(url));
  if (parsed->scheme != "https") return shown + " must be https";
  if (parsed->user) return shown + " must not name a user";
  return parsed->host.empty() ? shown + " names no host" : "";
}

}  // namespace apiserver::v0::authn
