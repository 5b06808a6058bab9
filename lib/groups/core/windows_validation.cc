#include "groups/core/windows_validation.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/container_validation.h"
#include "text/ascii.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kSpecBytesMax = std::size_t{64} << 10;
constexpr std::size_t kDomainBytesEnd = 256;
constexpr std::size_t kUserBytesMax = 104;
constexpr std::size_t kNetBiosBytesMax = 15;
constexpr std::size_t kDnsLabelBytesMax = 63;

bool IsControl(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

bool IsNetBiosName(std::string_view domain) {
  const auto allowed = [](char c) {
    return std::string_view("\\/:*?\"<>|").find(c) == std::string_view::npos;
  };
  return !domain.empty() && domain.size() <= kNetBiosBytesMax && domain.front() != '.' &&
         std::ranges::all_of(domain, allowed);
}

bool IsDnsName(std::string_view domain) {
  for (std::string_view rest = domain;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    const auto outer = [](char c) { return text::IsLetter(c) || text::IsDigit(c); };
    const auto inner = [&](char c) { return outer(c) || c == '-'; };
    if (label.empty() || label.size() > kDnsLabelBytesMax || !outer(label.front()) ||
        !outer(label.back()) || !std::ranges::all_of(label, inner)) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    rest.remove_prefix(dot + 1);
  }
}

// Checks "DOMAIN\USER", of which the domain may be missing.
void CheckUserName(std::string_view name, const Path& path, ErrorList& errors) {
  const auto refuse = [&](std::string why) { errors.Invalid(path, name, std::move(why)); };
  if (name.empty()) return refuse("runAsUserName cannot be an empty string");
  if (std::ranges::any_of(name, IsControl)) {
    return refuse("runAsUserName cannot contain control characters");
  }
  if (std::ranges::count(name, '\\') > 1) {
    return refuse("runAsUserName cannot contain more than one backslash");
  }
  const std::size_t backslash = name.find('\\');
  const bool has_domain = backslash != std::string_view::npos;
  const std::string_view domain = has_domain ? name.substr(0, backslash) : std::string_view();
  const std::string_view user = has_domain ? name.substr(backslash + 1) : name;
  if (domain.size() >= kDomainBytesEnd) {
    refuse("runAsUserName's Domain length must be under 256 characters");
  }
  if (has_domain && !IsNetBiosName(domain) && !IsDnsName(domain)) {
    refuse("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user.empty()) {
    refuse("runAsUserName's User cannot be empty");
  } else if (user.size() > kUserBytesMax) {
    refuse("runAsUserName's User length must not be longer than 104 characters");
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos) {
    refuse("runAsUserName's User cannot contain only periods or spaces");
  }
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos) {
    refuse(R"(runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[])");
  }
}

}  // namespace

void CheckWindowsOptions(Value options, const Path& path, ErrorList& errors) {
  if (options.is_null()) return;
  if (const Value name = options["gmsaCredentialSpecName"]; !name.is_null()) {
    CheckDnsSubdomain(errors, path.Child("gmsaCredentialSpecName"), name.AsString());
  }
  if (const Value spec = options["gmsaCredentialSpec"]; !spec.is_null()) {
    const Path at = path.Child("gmsaCredentialSpec");
    if (spec.size() == 0) {
      errors.Invalid(at, "", "gmsaCredentialSpec cannot be an empty string");
    } else if (spec.size() > kSpecBytesMax) {
      errors.Invalid(at, spec.AsString(), "gmsaCredentialSpec size must be under 64 KiB");
    }
  }
  if (const Value name = options["runAsUserName"]; !name.is_null()) {
    CheckUserName(name.AsString(), path.Child("runAsUserName"), errors);
  }
}

void CheckHostProcesses(Value pod_spec, const Path& path, ErrorList& errors) {
  const Value of_pod = pod_spec["securityContext"]["windowsOptions"]["hostProcess"];
  std::size_t containers = 0;
  std::size_t host_processes = 0;
  VisitContainers(pod_spec, path, [&](const Value& container, const Path& at) {
    ++containers;
    const Value own = container["securityContext"]["windowsOptions"]["hostProcess"];
    if (!of_pod.is_null() && !own.is_null() && !(of_pod == own)) {
      errors.InvalidPrinted(
          at.Child("securityContext").Child("windowsOptions").Child("hostProcess"), Printed(own),
          "pod hostProcess value must be identical if both are specified, was " + Printed(of_pod));
    }
    if ((own.is_null() ? of_pod : own).AsBool()) ++host_processes;
  });
  if (host_processes == 0) return;
  if (host_processes != containers) {
    errors.Invalid(path, "",
                   "If pod contains any hostProcess containers then all containers must be "
                   "HostProcess containers");
  }
  if (!pod_spec["hostNetwork"].AsBool()) {
    errors.InvalidPrinted(path.Child("hostNetwork"), "false",
                          "hostNetwork must be true if pod contains any hostProcess containers");
  }
}

}  // namespace apiserver::v0::groups::core
