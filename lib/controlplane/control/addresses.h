#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::controlplane {

// A network of addresses of services.
struct ServiceRange {
  std::string text;  // As net.IPNet prints it: "10.0.0.0/24".
  bool v6 = false;
  int free_bits = 0;     // The bits beyond the prefix: there are 2^free_bits addresses.
  std::string first_ip;  // The one with index 1.
};

// Parses a CIDR. kInvalid: it is none.
Result<ServiceRange> ParseServiceRange(std::string_view cidr);

// Returns the address by which other hosts reach a server that binds `bind_address`: that one, or
// if it is unspecified or of the loopback interface, the machine's address at its default route,
// and else its first other one. kNotFound: the machine has none. Reads /proc/net/route from
// `files`; blocks. SecureServingOptions.DefaultExternalAddress.
Result<std::string> ExternalAddressOf(const std::string& bind_address, const FileSystem& files);

}  // namespace apiserver::inline v0::controlplane
