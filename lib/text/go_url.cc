#include "text/go_url.h"

#include <algorithm>
#include <utility>

#include "text/ascii.h"
#include "text/go_url_escapes.h"
#include "text/ip.h"
#include "text/quote.h"

namespace apiserver::v0::text {
namespace {

Error BadGoUrl(std::string why) { return Error(std::move(why)); }

// Cuts `text` at the first `mark` and returns the part behind it.
std::string_view CutAt(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return "";
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

// Takes the scheme, if there is one, from the front of `rest`.
Error TakeScheme(std::string_view& rest, std::string& scheme) {
  const auto later = [](char c) { return IsDigit(c) || c == '+' || c == '-' || c == '.'; };
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (IsLetter(c) || (i > 0 && later(c))) continue;
    if (c != ':') return {};
    if (i == 0) return BadGoUrl("missing protocol scheme");
    scheme = rest.substr(0, i);
    for (char& letter : scheme) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    rest.remove_prefix(i + 1);
    return {};
  }
  return {};
}

// "" or ":" and digits.
bool IsOptionalPort(std::string_view text) {
  return text.empty() || (text[0] == ':' && std::ranges::all_of(text.substr(1), IsDigit));
}

Error CheckPort(std::string_view colon_port) {
  if (IsOptionalPort(colon_port)) return {};
  return BadGoUrl("invalid port " + Quote(colon_port) + " after host");
}

// Decodes the host that stands between brackets.
Read<std::string> UnescapeLiteral(std::string_view text) {
  const std::size_t zone = std::min(text.find("%25"), text.size());
  Read<std::string> host = UnescapeUrlPart(text.substr(0, zone), UrlPart::kHost);
  if (!host.ok()) return host;
  Read<std::string> rest = UnescapeUrlPart(text.substr(zone), UrlPart::kZone);
  if (!rest.ok()) return rest;
  return *host + *rest;
}

// A bracketed host with its port, "[fe80::1%25en0]:80": only IPv6 addresses have brackets.
Read<std::string> ParseLiteral(std::string_view host) {
  const std::size_t end = host.rfind(']');
  if (end == std::string_view::npos) return BadGoUrl("missing ']' in host");
  const std::string_view colon_port = host.substr(end + 1);
  if (Error wrong = CheckPort(colon_port)) return wrong;
  Read<std::string> name = UnescapeLiteral(host.substr(1, end - 1));
  if (!name.ok()) return name;
  const Read<IpFamily> family = ParseGoIp(*name);
  if (!family.ok()) return BadGoUrl("invalid host: " + family.error().message());
  if (*family == IpFamily::kV4) return BadGoUrl("invalid IP-literal");
  return ("[" + *name + "]").append(colon_port);
}

Read<std::string> ParseHost(std::string_view scheme, std::string_view host) {
  const std::size_t bracket = host.rfind('[');
  if (bracket == 0) return ParseLiteral(host);
  if (bracket != std::string_view::npos) return BadGoUrl("invalid IP-literal");
  // URLs of databases may list several hosts with ports, so of other schemes only the last port is
  // checked.
  const bool web = scheme == "http" || scheme == "https";
  const std::size_t colon = web ? host.find(':') : host.rfind(':');
  if (colon != std::string_view::npos) {
    if (Error wrong = CheckPort(host.substr(colon))) return wrong;
  }
  return UnescapeUrlPart(host, UrlPart::kHost);
}

Read<GoUserInfo> ParseUserInfo(std::string_view text) {
  const bool good = std::ranges::all_of(text, [](char c) {
    return IsLetter(c) || IsDigit(c) ||
           std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
  });
  if (!good) return BadGoUrl("net/url: invalid userinfo");
  const bool has_password = text.find(':') != std::string_view::npos;
  const std::string_view password = CutAt(text, ':');
  Read<std::string> name = UnescapeUrlPart(text, UrlPart::kUserPassword);
  if (!name.ok()) return name.error();
  GoUserInfo user{.username = *std::move(name)};
  if (has_password) {
    Read<std::string> word = UnescapeUrlPart(password, UrlPart::kUserPassword);
    if (!word.ok()) return word.error();
    user.password = *std::move(word);
  }
  return user;
}

Error ParseAuthority(std::string_view authority, GoUrl& url) {
  // The last '@' ends the user: a password may hold others.
  const std::size_t at = authority.rfind('@');
  const bool has_user = at != std::string_view::npos;
  Read<std::string> host = ParseHost(url.scheme, has_user ? authority.substr(at + 1) : authority);
  if (!host.ok()) return host.error();
  url.host = *std::move(host);
  if (!has_user) return {};
  Read<GoUserInfo> user = ParseUserInfo(authority.substr(0, at));
  if (!user.ok()) return user.error();
  url.user = *std::move(user);
  return {};
}

void TakeQuery(std::string_view& rest, GoUrl& url) {
  // A lone '?' at the end is remembered, so that String() writes it again.
  url.force_query = !rest.empty() && rest.find('?') == rest.size() - 1;
  url.raw_query = CutAt(rest, '?');
}

// `decoded`, and `raw` if it would not be written like that.
Error TakeEscaped(std::string_view text, UrlPart part, std::string& decoded, std::string& raw) {
  Read<std::string> read = UnescapeUrlPart(text, part);
  if (!read.ok()) return read.error();
  decoded = *std::move(read);
  if (EscapeUrlPart(decoded, part) != text) raw = text;
  return {};
}

// The text that a URL is read from.
enum class Source {
  kReference,  // Anything that a page may refer to. It has no fragment.
  kRequest,    // The target of a request: an absolute URL or path.
};

// Refuses a path that does not begin with a slash and has no scheme before it.
Error CheckRootless(std::string_view rest, Source source) {
  if (source == Source::kRequest) return BadGoUrl("invalid URI for request");
  if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
    return BadGoUrl("first path segment in URL cannot contain colon");
  }
  return {};
}

Read<GoUrl> ParseWithoutFragment(std::string_view text, Source source) {
  const auto control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  if (std::ranges::any_of(text, control)) {
    return BadGoUrl("net/url: invalid control character in URL");
  }
  if (text.empty() && source == Source::kRequest) return BadGoUrl("empty url");
  GoUrl url;
  if (text == "*") {
    url.path = "*";
    return url;
  }
  std::string_view rest = text;
  if (Error wrong = TakeScheme(rest, url.scheme)) return wrong;
  TakeQuery(rest, url);
  const bool rooted = rest.starts_with('/');
  if (!rooted && !url.scheme.empty()) {
    // A URL such as "mailto:x" has no path that could be split.
    url.opaque = rest;
    return url;
  }
  if (!rooted) {
    if (Error wrong = CheckRootless(rest, source)) return wrong;
  }
  // Without a scheme "///" begins a path, as in Go's url.parse.
  const bool may_name_host =
      !url.scheme.empty() || (source == Source::kReference && !rest.starts_with("///"));
  if (rest.starts_with("//") && may_name_host) {
    rest.remove_prefix(2);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
    if (Error wrong = ParseAuthority(authority, url)) return wrong;
  } else {
    url.omit_host = rooted && !url.scheme.empty();
  }
  if (Error wrong = TakeEscaped(rest, UrlPart::kPath, url.path, url.raw_path)) return wrong;
  return url;
}

Error InUrl(std::string_view url, const Error& why) {
  return BadGoUrl("parse " + Quote(url) + ": " + why.message());
}

// Returns the position of a host's port, with its colon; the end if there is none.
std::size_t PortBegin(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  return colon != std::string_view::npos && IsOptionalPort(host.substr(colon)) ? colon
                                                                               : host.size();
}

// Returns `raw` if it is a spelling of `decoded`; else `decoded`, escaped.
std::string Spelled(const std::string& decoded, const std::string& raw, UrlPart part) {
  if (!raw.empty() && IsEncodedUrlPart(raw, part)) {
    const Read<std::string> read = UnescapeUrlPart(raw, part);
    if (read.ok() && *read == decoded) return raw;
  }
  if (part == UrlPart::kPath && decoded == "*") return decoded;
  return EscapeUrlPart(decoded, part);
}

// Returns "//user@host", as far as the parts are there.
std::string AuthorityOf(const GoUrl& url) {
  const bool named = !url.host.empty() || url.user;
  const bool wanted = named || (!url.scheme.empty() && !url.omit_host && !url.path.empty());
  if (!wanted) return "";
  std::string text = "//";
  if (url.user) text += url.user->String() + "@";
  return text + EscapeUrlPart(url.host, UrlPart::kHost);
}

}  // namespace

std::string GoUserInfo::String() const {
  std::string text = EscapeUrlPart(username, UrlPart::kUserPassword);
  if (password) text += ":" + EscapeUrlPart(*password, UrlPart::kUserPassword);
  return text;
}

std::string GoUrl::Hostname() const {
  const std::string_view name = std::string_view(host).substr(0, PortBegin(host));
  const bool literal = name.starts_with('[') && name.ends_with(']');
  return std::string(literal ? name.substr(1, name.size() - 2) : name);
}

std::string GoUrl::Port() const {
  const std::size_t begin = PortBegin(host);
  return begin == host.size() ? "" : host.substr(begin + 1);
}

std::string GoUrl::EscapedPath() const { return Spelled(path, raw_path, UrlPart::kPath); }

std::string GoUrl::EscapedFragment() const {
  return Spelled(fragment, raw_fragment, UrlPart::kFragment);
}

std::string GoUrl::String() const {
  std::string text = scheme.empty() ? "" : scheme + ":";
  if (opaque.empty()) {
    text += AuthorityOf(*this);
    const std::string written = EscapedPath();
    if (!written.empty() && written[0] != '/' && !host.empty()) text += '/';
    // Without it the segment would be read as a scheme.
    const std::string_view segment = std::string_view(written).substr(0, written.find('/'));
    if (text.empty() && segment.find(':') != std::string_view::npos) text += "./";
    text += written;
  } else {
    text += opaque;
  }
  if (force_query || !raw_query.empty()) text += "?" + raw_query;
  if (!fragment.empty()) text += "#" + EscapedFragment();
  return text;
}

Read<GoUrl> ParseGoUrl(std::string_view text) {
  std::string_view before = text;
  const std::string_view fragment = CutAt(before, '#');
  Read<GoUrl> url = ParseWithoutFragment(before, Source::kReference);
  if (!url.ok()) return InUrl(before, url.error());
  const Error wrong = TakeEscaped(fragment, UrlPart::kFragment, url->fragment, url->raw_fragment);
  if (wrong) return InUrl(text, wrong);
  return url;
}

Read<GoUrl> ParseGoRequestUri(std::string_view text) {
  Read<GoUrl> url = ParseWithoutFragment(text, Source::kRequest);
  if (!url.ok()) return InUrl(text, url.error());
  return url;
}

}  // namespace apiserver::v0::text
