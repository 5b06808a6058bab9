#include "server/operations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "runtime/patterns.h"

namespace apiserver::v0::server {

namespace {

constexpr double kGoawayChanceMax = 0.02;

Status Wrong(const std::string& flag, const std::string& why) {
  return {Reason::kInvalid, "server config: " + flag + " " + why};
}

Status CheckNotNegative(const std::string& flag, std::chrono::milliseconds value) {
  if (value.count() >= 0) return {};
  return Wrong(flag, "cannot be a negative value");
}

// Checks as validateCorsAllowedOriginList of k8s.io/apiserver does: an expression that does not pin
// the host lets in "example.com.attacker.org" (CVE-2022-1996).
Status CheckOrigin(const std::string& origin) {
  constexpr char kFlag[] = "--cors-allowed-origins";
  constexpr char kHelp[] =
      "; pin both ends of the host, as in //example\\.com(:|$), or ^https://example\\.com$";
  if (origin.empty()) return Wrong(kFlag, std::string("has an empty value") + kHelp);
  runtime::Patterns patterns;
  if (const std::string why = patterns.Add(origin); !why.empty()) {
    return Wrong(kFlag, "has an invalid regular expression \"" + origin + "\": " + why + kHelp);
  }
  const auto holds = [&origin](const char* text) { return origin.find(text) != std::string::npos; };
  if ((holds("^") || holds("//")) && (holds("$") || holds(":"))) return {};
  return Wrong(kFlag, "has an invalid regular expression \"" + origin +
                          "\": it does not pin to start/end of host in the origin header" + kHelp);
}

// Go: validateHSTSDirectives.
Status CheckDirective(const std::string& directive) {
  constexpr char kFlag[] = "--strict-transport-security-directives";
  if (directive == "includeSubDomains" || directive == "preload") return {};
  constexpr std::string_view kMaxAge = "max-age=";
  const bool max_age =
      directive.starts_with(kMaxAge) && directive.size() > kMaxAge.size() &&
      directive.find_first_not_of("0123456789", kMaxAge.size()) == std::string::npos;
  if (max_age) return {};
  return Wrong(kFlag, "cannot be \"" + directive +
                          "\"; allowed are max-age=<seconds>, includeSubDomains and preload");
}

}  // namespace

Status CheckOperations(const Config& config) {
  RETURN_IF_ERROR(CheckNotNegative("--shutdown-delay-duration", config.shutdown_delay));
  RETURN_IF_ERROR(CheckNotNegative("--shutdown-watch-termination-grace-period",
                                   config.shutdown_watch_termination_grace));
  RETURN_IF_ERROR(CheckNotNegative("--livez-grace-period", config.livez_grace));
  if (config.write_timeout <= std::chrono::milliseconds(0)) {
    return {Reason::kInvalid, "server config: write_timeout must be positive"};
  }
  for (const auto* filters :
       {&config.filters.before_authentication, &config.filters.after_authorization}) {
    if (std::ranges::any_of(*filters, [](const auto& filter) { return !filter; })) {
      return {Reason::kInvalid, "server config: a filter of the host is null"};
    }
  }
  if (!(config.goaway_chance >= 0 && config.goaway_chance <= kGoawayChanceMax)) {
    return Wrong("--goaway-chance", "cannot be less than 0 or greater than 0.02");
  }
  for (const std::string& origin : config.cors_allowed_origins) {
    RETURN_IF_ERROR(CheckOrigin(origin));
  }
  for (const std::string& directive : config.hsts_directives) {
    RETURN_IF_ERROR(CheckDirective(directive));
  }
  return {};
}

}  // namespace apiserver::v0::server
