#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace apiserver::inline v0 {

template <class Signature>
class UniqueFunction;

// A callable that is moved, never copied, so that it may own what it captures (std::function
// cannot before C++23). Empty after construction and after a move from. Calling an empty one is a
// bug.
template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}  // NOLINT: implicit, as std::function.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
           std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>)
      UniqueFunction(F&& f)  // NOLINT: implicit, as std::function.
      : callable_(std::make_unique<Model<std::remove_cvref_t<F>>>(std::forward<F>(f))) {}

  explicit operator bool() const { return callable_ != nullptr; }
  R operator()(Args... args) { return callable_->Call(std::forward<Args>(args)...); }

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual R Call(Args... args) = 0;
  };
  template <class F>
  struct Model final : Concept {
    explicit Model(F f) : f(std::move(f)) {}
    R Call(Args... args) override { return f(std::forward<Args>(args)...); }
    F f;
  };

  std::unique_ptr<Concept> callable_;
};

}  // namespace apiserver::inline v0
