#pragma once  // Library-internal: other rooms include this header.

#include <string>

namespace apiserver::inline v0::http {

// Set in an exchange when a filter, the handler or work of theirs has thrown; what was thrown. The
// audit log tells such requests apart.
struct Caught {
  std::string what;
};

}  // namespace apiserver::inline v0::http
