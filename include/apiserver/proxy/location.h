#pragma once

#include <string>
#include <string_view>

namespace apiserver::inline v0::proxy {

// The URL on a backend that a request is forwarded to.
struct Location {
  std::string scheme = "http";  // "http" or "https". Empty: "http".
  std::string host = {};        // "10.0.0.1:8443", "name" or "[::1]:80".
  std::string path = {};        // Decoded; escaped anew when it is sent.
  std::string raw_query = {};   // Escaped, without '?'.
};

// Parses a query and writes it again: sorted by key, pairs that cannot be decoded are left out. A
// backend then sees no parameter that this server did not see (CVE-2022-2880). Follows Go's
// url.Values.Encode: "x=%20y+z&a&a=b" becomes "a=&a=b&x=+y+z".
std::string EncodeQuery(std::string_view raw_query);

}  // namespace apiserver::inline v0::proxy
