#include "proxy/location_rewriter.h"

#include <utility>

#include "text/go_path.h"

namespace apiserver::v0::proxy {

std::string LocationRewriter::Rewrite(text::GoUrl url) const {
  const bool different_host =
      !url.host.empty() && url.host != source_host && url.host != request_host;
  const bool relative = !url.path.starts_with('/');
  if (different_host || relative) return url.String();
  // A URL that names the host which the client has asked keeps it.
  const bool keeps_host = url.host == request_host && scheme.empty() && host.empty();
  if (!keeps_host) {
    url.scheme = scheme;
    url.host = host;
  }
  if (url.path.starts_with(path_prepend)) return url.String();
  const bool slash = url.path.ends_with('/');
  url.path = text::JoinPath(path_prepend, url.path);
  if (slash) url.path += '/';  // Cleaning has dropped it.
  return url.String();
}

}  // namespace apiserver::v0::proxy
