#pragma once

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"

namespace bench {

// What a server says it has done, by its own metrics: the parts of the chain that are measured.
struct ChainCounts {
  double known_by_certificate = 0;  // Authenticated as somebody whose name has an @.
  double authorized = 0;
  double dispatched = 0;  // By priority and fairness.
  double audited = 0;     // Events.
  double counted = 0;     // In apiserver_request_total.
};

// `connection` is the administrator's.
apiserver::Result<ChainCounts> ChainCountsOf(apiserver::http::Connection& connection);

// Whether every part of the chain has seen each of `requests` since `before`; audit twice.
apiserver::Status CheckWholeChain(const ChainCounts& before, const ChainCounts& after,
                                  std::size_t requests);
// Whether nothing was audited, and nothing went through priority and fairness.
apiserver::Status CheckBareChain(const ChainCounts& after);

}  // namespace bench
