#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"

// Asynchronous look-ups at another server (a TokenReview, a SubjectAccessReview) that hold no
// thread.
//
// An authenticator or authorizer that needs one on a context that may not block starts it, adds it
// to the context's Waiting, if there is one, and returns kWouldBlock. The filter that set the
// Waiting continues when all look-ups are answered and asks the authenticator again, which then
// finds the answer. So unions and decorators need not know about look-ups.
namespace apiserver::inline v0::auth {

// One look-up in progress, shared by all requests that need it. All methods may be called from any
// thread.
class LookUp {
 public:
  // `owner` is the object that asks and `key` its question; together they identify the look-up.
  LookUp(const void* owner, std::string key) : owner_(owner), key_(std::move(key)) {}
  virtual ~LookUp() = default;

  const void* owner() const { return owner_; }
  const std::string& key() const { return key_; }
  bool done() const;
  // Calls `callback` once when the answer is there: at once, or on the thread that calls Finish().
  // It must not block.
  void OnDone(UniqueFunction<void()> callback);
  // Waits on the calling thread. kTimeout: `ctx` was done first.
  Status Wait(const Context& ctx);

 protected:
  // Called once by the derived class after it has set its answer.
  void Finish();

 private:
  struct State {
    bool done = false;
    std::vector<UniqueFunction<void()>> callbacks;
  };
  const void* owner_;
  const std::string key_;
  Guarded<State> state_;
};

// The look-ups of one request, used by the thread that runs the request now. Keeps them, so that an
// answer is found even if it is not cached.
class Waiting {
 public:
  // Adds a look-up that the request has to wait for.
  void Add(std::shared_ptr<LookUp> look_up) { look_ups_.push_back(std::move(look_up)); }
  // Null: no such look-up was added.
  LookUp* Find(const void* owner, std::string_view key) const;
  std::size_t size() const { return look_ups_.size(); }
  // Returns true if `owner` reports on `key` for the first time. An authorizer is asked again when
  // one behind it had to wait, but reports a failure once.
  bool FirstReport(const void* owner, std::string_view key);
  // True if a look-up has no answer yet.
  bool pending() const;
  // Calls `callback` once when all are answered: at once, or on the thread that answers the last
  // one. It must not block.
  void OnAll(UniqueFunction<void()> callback) const;

 private:
  std::vector<std::shared_ptr<LookUp>> look_ups_;
  std::vector<std::pair<const void*, std::string>> reported_;
};
// The value of a context.
using WaitingPtr = std::shared_ptr<Waiting>;

}  // namespace apiserver::inline v0::auth
