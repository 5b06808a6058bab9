#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"

// Checks of fields with IP addresses: k8s.io/apimachinery/pkg/util/validation/ip.go, and
// ValidateEndpointIP of k8s.io/kubernetes/pkg/apis/core/validation. CheckLegacyIp (checks.h) reads
// fields that are older.
namespace apiserver::inline v0::groups::core {

// Requires an address in its canonical form.
void CheckCanonicalIp(field::ErrorList& errors, const field::Path& path, std::string_view ip);
// Refuses addresses that no endpoint can have: loopback, link-local and unspecified ones.
void CheckEndpointIp(field::ErrorList& errors, const field::Path& path, std::string_view ip);
// Warns of an address that is not in its canonical form. Texts that are no address pass.
void WarnOfIp(std::vector<std::string>& warnings, const field::Path& path, std::string_view ip);

// True for addresses of IPv4, also within IPv6, and of IPv6 otherwise.
bool IsIpv4Address(std::string_view ip);
bool IsIpv6Address(std::string_view ip);

}  // namespace apiserver::inline v0::groups::core
