#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace apiserver::inline v0::storage::index {

// Gives a type the count that Ref keeps. The object is deleted by the thread that drops the last
// Ref.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void AddRef() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  // True if that was the last reference.
  bool DropRef() const { return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // True if the caller's Ref is the only one; then it may change the object.
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::atomic<std::uint32_t> refs_{0};
};

// A pointer of one word that shares a `T` derived from RefCounted: half a shared_ptr, in size and
// in cost.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: implicit, as shared_ptr.
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // Converts a Ref to one of a less constant T.
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(const Ref<U>& other)  // NOLINT: implicit.
      : Ref(static_cast<T*>(other.get())) {}
  ~Ref() {
    if (object_ != nullptr && object_->DropRef()) delete object_;
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>(new std::remove_const_t<T>(std::forward<Args>(args)...));
}

}  // namespace apiserver::inline v0::storage::index
