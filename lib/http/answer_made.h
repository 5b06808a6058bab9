#pragma once  // Library-internal: other rooms include this header.

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::http {

// Whether all that is left to do for `exchange` is to send what stands in memory, whole: its last
// step is done, and its answer is no stream. For Filter::Head; before that it is false. On the
// loop.
bool AnswerIsMade(const Exchange& exchange);

}  // namespace apiserver::inline v0::http
