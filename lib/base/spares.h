#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// Objects that are expensive to make and are reused: the memory of evaluations, for example. Any
// thread.
template <class T>
class Spares {
 public:
  // An object on loan to one thread. Goes back when it is destroyed, after its Reset(), if T has
  // one. Must not outlive the Spares.
  class Lent {
   public:
    Lent(Lent&& other) noexcept = default;
    Lent& operator=(Lent&&) = delete;
    ~Lent() {
      if (object_ != nullptr) owner_->Return(std::move(object_));
    }
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    friend class Spares;
    Lent(const Spares* owner, std::unique_ptr<T> object)
        : owner_(owner), object_(std::move(object)) {}

    const Spares* owner_;
    std::unique_ptr<T> object_;
  };

  // `kept_max`: the most objects that are kept; more are destroyed when they come back.
  explicit Spares(std::size_t kept_max = 16) : kept_max_(kept_max) {}

  // Returns a kept object, the one that came back last, or a new one.
  Lent Take() const {
    {
      const auto kept = kept_.Lock();
      if (!kept->empty()) {
        Lent lent(this, std::move(kept->back()));
        kept->pop_back();
        return lent;
      }
    }
    return Lent(this, std::make_unique<T>());
  }

 private:
  void Return(std::unique_ptr<T> object) const {
    if constexpr (requires { object->Reset(); }) object->Reset();
    const auto kept = kept_.Lock();
    if (kept->size() < kept_max_) kept->push_back(std::move(object));
  }

  const std::size_t kept_max_;
  mutable Guarded<std::vector<std::unique_ptr<T>>> kept_;
};

}  // namespace apiserver::inline v0
