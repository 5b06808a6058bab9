#pragma once  // Library-internal: other rooms include this header.

#include <string>

namespace apiserver::inline v0::http {

// The exception that a filter, the handler or their work has thrown. Set in the exchange, because
// the audit log marks such requests.
struct Caught {
  std::string what;
};

}  // namespace apiserver::inline v0::http
