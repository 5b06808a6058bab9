#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string>
#include <string_view>

#include "text/read.h"

// URLs as Go 1.26's net/url parses them, which is what Kubernetes accepts.
namespace apiserver::inline v0::text {

// User and password, decoded. A password may be present and empty.
struct GoUserInfo {
  std::string username;
  std::optional<std::string> password = {};

  // "username[:password]", escaped.
  std::string String() const;
  bool operator==(const GoUserInfo&) const = default;
};

// [scheme:][//[user@]host][/]path[?query][#fragment] or scheme:opaque[?query][#fragment].
struct GoUrl {
  std::string scheme = {};  // In lower case.
  std::string opaque = {};  // As written.
  std::optional<GoUserInfo> user = {};
  std::string host = {};      // "host" or "host:port", decoded; an IPv6 address is in brackets.
  std::string path = {};      // Decoded.
  std::string raw_path = {};  // As written; only set if `path` would be written otherwise.
  std::string raw_query = {};
  std::string fragment = {};      // Decoded.
  std::string raw_fragment = {};  // As `raw_path`.
  bool force_query = false;       // "?" and nothing behind it.
  bool omit_host = false;         // scheme:/path.

  // The host of `host`, without brackets.
  std::string Hostname() const;
  // The port of `host`; empty if there is none or it is not a number.
  std::string Port() const;
  // The path or fragment as it was written, if that is a valid spelling of it; else escaped anew.
  std::string EscapedPath() const;
  std::string EscapedFragment() const;
  // Formats the URL.
  std::string String() const;
  bool operator==(const GoUrl&) const = default;
};

// As net/url.Parse, with its words: `parse "…": missing protocol scheme`.
Read<GoUrl> ParseGoUrl(std::string_view text);
// As net/url.ParseRequestURI: an absolute URL, an absolute path or "*". A fragment is not split
// off. `parse "../x": invalid URI for request`.
Read<GoUrl> ParseGoRequestUri(std::string_view text);

}  // namespace apiserver::inline v0::text
