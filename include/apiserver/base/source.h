#pragma once

#include <memory>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// The latest state of something that changes while a server runs: a CA bundle, a policy, a token
// file. Its readers do not know where it comes from. All methods may be called from any thread.
template <class T>
class Source {
 public:
  virtual ~Source() = default;
  // Never null. Returns the same pointer as long as nothing has changed, so that readers may cache
  // what they derive from it. Must not block.
  virtual std::shared_ptr<const T> Get() const = 0;
};

// A Source whose owner sets the value.
template <class T>
class Variable final : public Source<T> {
 public:
  // Starts with `value`.
  explicit Variable(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  std::shared_ptr<const T> Get() const override { return *value_.Lock(); }
  // Replaces the value; readers keep the one they have.
  void Set(T value) { *value_.Lock() = std::make_shared<const T>(std::move(value)); }

 private:
  Guarded<std::shared_ptr<const T>> value_;
};

}  // namespace apiserver::inline v0
