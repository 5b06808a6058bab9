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

// Questions that somebody else must answer (a TokenReview, a SubjectAccessReview), asked without
// holding a thread.
//
// An authenticator or authorizer that must ask on a context that may not block starts the question,
// hands it to the context's Waiting, if there is one, and returns kWouldBlock. Whoever set the
// Waiting (the filter) goes on when all of it is answered and asks the authenticator again, which
// then finds the answer. So unions and decorators need not know of it.
namespace apiserver::inline v0::auth {

// One question under way, shared by all requests that ask it. Any thread.
class LookUp {
 public:
  // `owner` is who asks, `key` what; together they tell one question from another.
  LookUp(const void* owner, std::string key) : owner_(owner), key_(std::move(key)) {}
  virtual ~LookUp() = default;

  const void* owner() const { return owner_; }
  const std::string& key() const { return key_; }
  bool done() const;
  // Calls `callback` once when the answer is there, at once if it is. It must not wait.
  void OnDone(UniqueFunction<void()> callback);
  // Waits on the calling thread: OK, or kTimeout once `ctx` is done.
  Status Wait(const Context& ctx);

 protected:
  // The derived class has set its answer. Once.
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

// The questions that one request waits for, used by whoever runs the request now. Keeps what it was
// given, so that an answer is found even where none is cached.
class Waiting {
 public:
  void Add(std::shared_ptr<LookUp> look_up) { look_ups_.push_back(std::move(look_up)); }
  // Null: none such was handed in.
  LookUp* Find(const void* owner, std::string_view key) const;
  std::size_t size() const { return look_ups_.size(); }
  // Whether `owner` says this of the question `key` for the first time. The same authorizer is
  // asked again when those behind it had to wait, but reports a failure once.
  bool FirstReport(const void* owner, std::string_view key);
  // Some of it has no answer yet.
  bool pending() const;
  // Calls `callback` once when all of it is answered. It must not wait.
  void OnAll(UniqueFunction<void()> callback) const;

 private:
  std::vector<std::shared_ptr<LookUp>> look_ups_;
  std::vector<std::pair<const void*, std::string>> reported_;
};
// The value of a context.
using WaitingPtr = std::shared_ptr<Waiting>;

}  // namespace apiserver::inline v0::auth
