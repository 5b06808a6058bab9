#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "require.h"
#include "text/go_url.h"

// A URL is refused with Go's words about it, or its parts make a URL that is read as the same.
namespace {

using apiserver::text::GoUrl;
using apiserver::text::ParseGoUrl;
using apiserver::text::Read;
using apiserver_fuzz::Require;

// Whether Go itself reads it as the same. It does not take back a zone with an opening bracket or
// bytes beyond ASCII, and in a path whose escapes had to be made anew an escaped slash or colon
// becomes a plain one.
bool IsWrittenTheSame(const GoUrl& url) {
  const std::string_view host = url.host;
  const bool plain_zone =
      !host.starts_with('[') ||
      std::ranges::none_of(host.substr(1), [](char c) { return c == '[' || c < 0; });
  return plain_zone && (url.raw_path.empty() || url.EscapedPath() == url.raw_path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Read<GoUrl> url = ParseGoUrl(text);
  if (!url.ok()) {
    Require(url.error().message().starts_with("parse \""));
    return 0;
  }
  Require(url->Hostname().size() + url->Port().size() <= url->host.size());
  if (!IsWrittenTheSame(*url)) return 0;
  const std::string written = url->String();
  const Read<GoUrl> again = ParseGoUrl(written);
  Require(again.ok() && again->String() == written);
  GoUrl parts = *again;
  // Spelling alone may differ.
  parts.raw_fragment = url->raw_fragment;
  Require(parts == *url);
  return 0;
}
