#pragma once

#include <memory>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// The latest state of something that changes while a server runs: a CA bundle, a policy, a token
// file. What reads it does not know where it comes from. Any thread.
template <class T>
class Source {
 public:
  virtual ~Source() = default;
  // Never null. The same pointer as long as nothing has changed, so that what was derived from it
  // may be kept beside it.
  virtual std::shared_ptr<const T> Get() const = 0;
};

// A Source that somebody sets.
template <class T>
class Variable final : public Source<T> {
 public:
  explicit Variable(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  std::shared_ptr<const T> Get() const override { return *value_.Lock(); }
  void Set(T value) { *value_.Lock() = std::make_shared<const T>(std::move(value)); }

 private:
  Guarded<std::shared_ptr<const T>> value_;
};

}  // namespace apiserver::inline v0
