#pragma once

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::response {

// What the making of an answer takes.
struct Making {
  std::size_t copied_bytes = 0;  // Of encodings and texts there are.
  std::size_t objects = 0;       // That are encoded or looked into: parsed first, as a rule.
  std::size_t parsed_bytes = 0;  // Of texts that are parsed, and written in another form.
};

// OK: it takes about a millisecond, or this is no loop. Otherwise kWouldBlock, before anything has
// been done: whoever makes an answer whole asks here first, whatever its form. What a loop pulls
// piece by piece (http::BodySource) need not ask.
Status MayMakeHere(const http::Exchange& exchange, const Making& making);

}  // namespace apiserver::inline v0::response
