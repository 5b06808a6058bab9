#pragma once

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// The seat that flow control has given a request. A request whose body is still to come gives it
// up, so that clients which send slowly, or not at all, take no seat from others.
class Seat {
 public:
  virtual ~Seat() = default;
  // Gives the seat of `exchange` back; the request's work has not begun.
  virtual void GiveUp(http::Exchange& exchange) const = 0;
  // Returns a step that takes a seat again, if one was given up, and goes on with the next filter.
  virtual http::Step TakeAgain(http::Exchange& exchange) const = 0;
};

// The value of an exchange that holds a seat, or has given it up.
struct SeatTaken {
  const Seat* seat;  // Outlives the exchange.
};

}  // namespace apiserver::inline v0::server
