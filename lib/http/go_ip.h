#pragma once

#include <string_view>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::http {

enum class IpFamily { kV4, kV6 };

// The family of the address that `text` is: "192.0.2.1", "fe80::1%eth0". kInvalid: it is none, in
// the words of Go's netip.ParseAddr.
Result<IpFamily> ParseGoIp(std::string_view text);

}  // namespace apiserver::inline v0::http
