#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// A value that is made on the pool on its first use, and again when a later version of it is asked
// for: once for all waiting requests, which hold no thread. Owned by a shared_ptr. Any thread.
template <class T>
class Lazy final : public std::enable_shared_from_this<Lazy<T>> {
 public:
  using Ptr = std::shared_ptr<const T>;
  struct Made {
    Ptr value;
    std::uint64_t version = 0;  // At least the latest version when `make` was called.
  };
  using Make = std::function<Made()>;

  Lazy(Executor& pool, Make make) : pool_(pool), make_(std::move(make)) {}

  // Returns the value. Null: it has not been made in that version or a later one yet.
  Ptr Find(std::uint64_t version) const {
    const auto state = state_.Lock();
    return state->made.value && state->made.version >= version ? state->made.value : nullptr;
  }

  // Returns the value; waits for it, and makes it here if no other thread does. Call it on the
  // pool. Null: it cannot be made now.
  Ptr Get(std::uint64_t version) {
    {
      auto state = state_.Lock();
      state.Wait([&] { return !state->making; });
      if (state->made.value && state->made.version >= version) return state->made.value;
      state->making = true;
    }
    Run();
    return Find(version);
  }

  // Answers with the step that `use` makes of the value, on the exchange's loop.
  http::Step Serve(std::uint64_t version, UniqueFunction<http::Step(const Ptr&)> use) {
    if (const Ptr value = Find(version)) return use(value);
    return http::Step::Later([self = this->shared_from_this(), version,
                              use = std::move(use)](http::Resume resume) mutable {
      self->Await({version, std::move(use), std::move(resume)});
    });
  }

 private:
  struct Waiter {
    std::uint64_t version;
    UniqueFunction<http::Step(const Ptr&)> use;
    http::Resume resume;
  };
  struct State {
    Made made;
    bool making = false;
    std::vector<Waiter> waiters;
  };

  void Await(Waiter waiter) {
    {
      const auto state = state_.Lock();
      state->waiters.push_back(std::move(waiter));
      if (std::exchange(state->making, true)) return;
    }
    pool_.Post([self = this->shared_from_this()] { self->Run(); });
  }

  // Null: there was no memory for it, or a similar failure.
  Made Try() const {
    try {
      return make_();
    } catch (const std::exception&) {
      return {};
    }
  }

  // Makes the value until no request waits for a later version.
  void Run() {
    for (bool again = true; again;) {
      const Made made = Try();
      std::vector<Waiter> over;
      {
        const auto state = state_.Lock();
        if (made.value) state->made = made;
        std::vector<Waiter> rest;
        for (Waiter& each : state->waiters) {
          const bool later = made.value && each.version > made.version;
          (later ? rest : over).push_back(std::move(each));
        }
        state->waiters = std::move(rest);
        again = !state->waiters.empty();
        state->making = again;
      }
      state_.NotifyAll();
      for (Waiter& each : over) Resume(std::move(each), made.value);
    }
  }

  static void Resume(Waiter waiter, const Ptr& value) {
    if (!value) return waiter.resume(Status(Reason::kInternalError, "a document was not made"));
    waiter.resume.OnLoop([use = std::move(waiter.use), value]() mutable { return use(value); });
  }

  Executor& pool_;
  const Make make_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::server
