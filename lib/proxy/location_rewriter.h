#pragma once

#include <string>
#include <string_view>

#include "text/go_url.h"

namespace apiserver::inline v0::proxy {

// Makes URLs in a backend's answer lead through this server:
// k8s.io/apimachinery/pkg/util/proxy.Transport.
struct LocationRewriter {
  std::string scheme;        // Of this server. Empty: rewritten URLs have none.
  std::string host;          // Of this server. Empty: rewritten URLs have none.
  std::string path_prepend;  // The path under which the backend's root is found here.
  std::string source_host;   // The backend's, as its location names it.
  std::string request_host;  // The Host header that the backend has seen.

  // Returns `url` as a client must ask for it. A URL of another host or with a relative path stays
  // as it is, and so does a path that has the prefix already.
  std::string Rewrite(text::GoUrl url) const;
};

}  // namespace apiserver::inline v0::proxy
