#include "runtime/name_rules.h"

#include <algorithm>

namespace apiserver::v0::runtime {

namespace {

// Limits of k8s.io/apimachinery's util/validation. The second is that of a whole subdomain: the
// labels in it have no limit of their own there.
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kSubdomainBytesMax = 253;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLowerOrDigit(char c) { return IsLower(c) || (c >= '0' && c <= '9'); }

bool IsLabel(std::string_view name) {
  return !name.empty() && IsLowerOrDigit(name.front()) && IsLowerOrDigit(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

}  // namespace

bool IsDns1035Label(std::string_view name) {
  return name.size() <= kLabelBytesMax && IsLabel(name) && IsLower(name.front());
}

bool IsDns1123Subdomain(std::string_view name) {
  if (name.size() > kSubdomainBytesMax) return false;
  while (true) {
    const std::size_t dot = name.find('.');
    if (!IsLabel(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace apiserver::v0::runtime
