#pragma once

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::response {

// The work of making a response.
struct Making {
  std::size_t copied_bytes = 0;  // Encodings and texts that exist.
  std::size_t objects = 0;  // Objects that are encoded or looked into: parsed first, as a rule.
  std::size_t parsed_bytes = 0;  // Texts that are parsed, and written in another form.
};

// Checks that a response may be made here. OK: it takes about a millisecond, or this is no loop.
// Otherwise kWouldBlock, before anything has been done: code that makes a response as a whole calls
// this first, whatever its form. A body that a loop pulls piece by piece (http::BodySource) need
// not.
Status MayMakeHere(const http::Exchange& exchange, const Making& making);

}  // namespace apiserver::inline v0::response
