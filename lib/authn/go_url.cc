#include "authn/go_url.h"

#include <algorithm>

#include "apiserver/base/field_path.h"

namespace apiserver::inline v0::authn {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDecimal(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDecimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// What is wrong with the percent signs of `text`; empty: nothing.
std::string EscapeProblem(std::string_view text) {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 < text.size() && IsHex(text[i + 1]) && IsHex(text[i + 2])) continue;
    return "invalid URL escape " + field::Quote(text.substr(i, 3));
  }
  return "";
}

// Takes the scheme from the front of `rest`; what is wrong.
std::string TakeScheme(std::string_view& rest, std::string_view& scheme) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (IsAlpha(c)) continue;
    if (IsDecimal(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) return "";
      continue;
    }
    if (c != ':') return "";
    if (i == 0) return "missing protocol scheme";
    scheme = rest.substr(0, i);
    rest.remove_prefix(i + 1);
    return "";
  }
  return "";
}

std::string HostProblem(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.rfind(']');
    if (end == std::string_view::npos) return "missing ']' in host";
    host.remove_prefix(end + 1);
  } else {
    constexpr std::string_view kBad = " \"<>\\^`{|}";
    const std::size_t bad = host.find_first_of(kBad);
    if (bad != std::string_view::npos) {
      return "invalid character " + field::Quote(host.substr(bad, 1)) + " in host name";
    }
    if (std::string problem = EscapeProblem(host); !problem.empty()) return problem;
    const std::size_t colon = host.rfind(':');
    host = colon == std::string_view::npos ? "" : host.substr(colon);
  }
  if (host.empty()) return "";
  if (host[0] == ':' && std::ranges::all_of(host.substr(1), IsDecimal)) return "";
  return "invalid port " + field::Quote(host) + " after host";
}

std::string Problem(std::string_view text, GoUrl& url) {
  if (std::ranges::any_of(
          text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    return "net/url: invalid control character in URL";
  }
  std::string_view rest = text;
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    url.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  if (std::string problem = TakeScheme(rest, url.scheme); !problem.empty()) return problem;
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with('/')) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (url.scheme.empty() && segment.find(':') != std::string_view::npos) {
      return "first path segment in URL cannot contain colon";
    }
    return EscapeProblem(rest);
  }
  if (!rest.starts_with("//")) return EscapeProblem(rest);
  rest.remove_prefix(2);
  std::string_view authority = rest.substr(0, rest.find('/'));
  rest.remove_prefix(authority.size());
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.has_user = true;
    authority.remove_prefix(at + 1);
  }
  url.host = authority;
  if (std::string problem = HostProblem(authority); !problem.empty()) return problem;
  return EscapeProblem(rest);
}

}  // namespace

Result<GoUrl> ParseGoUrl(std::string_view text) {
  GoUrl url;
  const std::string problem = Problem(text, url);
  if (problem.empty()) return url;
  return Status(Reason::kInvalid, "parse " + field::Quote(text) + ": " + problem);
}

}  // namespace apiserver::inline v0::authn
