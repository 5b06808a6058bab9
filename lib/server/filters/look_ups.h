#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "apiserver/auth/look_up.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// Runs a filter's Begin that may have to ask another server. `attempt` returns a
// Result<http::Step>, and kWouldBlock while the answer is not there. It runs again when its
// question is answered, and no thread is held meanwhile. If it asks no question, it runs again on
// the pool.
template <class Attempt>
http::Step BeginWithLookUps(http::Exchange& exchange, Attempt attempt) {
  const auto waiting = [&exchange]() -> const auth::Waiting* {
    const auth::WaitingPtr* const set = exchange.Find<auth::WaitingPtr>();
    return set ? set->get() : nullptr;
  };
  const std::size_t asked_before = waiting() ? waiting()->size() : 0;
  Result<http::Step> step = attempt();
  const auto would_block = [&step] { return step.status().reason() == Reason::kWouldBlock; };
  if (would_block() && !exchange.ctx().may_block() && !waiting()) {
    // Most requests never wait, so the list of their questions is only made now.
    exchange.Set(std::make_shared<auth::Waiting>());
    step = attempt();
  }
  if (step.ok()) return *std::move(step);
  if (!would_block() || !waiting() || waiting()->size() == asked_before) return step.status();
  return http::Step::Later([&exchange, attempt = std::move(attempt)](http::Resume resume) mutable {
    (*exchange.Find<auth::WaitingPtr>())
        ->OnAll([&exchange, attempt = std::move(attempt), resume = std::move(resume)]() mutable {
          resume.OnLoop([&exchange, attempt = std::move(attempt)]() mutable {
            return BeginWithLookUps(exchange, std::move(attempt));
          });
        });
  });
}

}  // namespace apiserver::inline v0::server
