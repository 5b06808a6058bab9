#pragma once  // Library-internal: other rooms include this header.

#include "apiserver/http/exchange.h"
#include "apiserver/rest/warnings.h"

namespace apiserver::inline v0::endpoints {

// Adds a warning to the answer of a request, once. A read has no recorder, since hardly any read
// has warnings: it gets this one alone, which a watch then keeps for as long as it lasts.
inline void Warn(http::Exchange& exchange, const rest::WarningPtr& warning) {
  if (const auto* recorder = exchange.Find<rest::WarningRecorderPtr>()) {
    return (*recorder)->Add(warning);
  }
  exchange.Set(rest::WarningPtr(warning));
}

}  // namespace apiserver::inline v0::endpoints
