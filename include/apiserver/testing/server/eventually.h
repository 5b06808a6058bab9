#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"

// Waiting in tests for what happens on other threads or in a server: gomega.Eventually and
// gomega.Consistently. The time is the machine's; no test framework is needed.
//
//   CHECK(testing::Eventually([&] { return client.Get(ctx, tom); }));
//   CHECK(testing::Consistently([&] { return queue->size() == 0; }));
//
// Catch2 and GoogleTest print the outcome, which says how long was waited and what the last look
// has found.
namespace apiserver::inline v0::testing {

// A condition that is looked at until it holds: any callable that returns one of
//
//   bool          holds if it is true
//   Status        holds if it is OK
//   Result<bool>  holds if it is OK and true
//   Result<T>     holds if it is OK
//
// An error's text is part of the message when the wait has failed. The callable runs on the thread
// that waits, and may block. An exception, as that of a test framework's assertion, ends the wait
// and reaches the caller.
class Condition {
 public:
  template <class F>
  requires(std::invocable<F&> && !std::same_as<std::remove_cvref_t<F>, Condition>)
      Condition(F look)  // NOLINT: implicit
      : look_([look = std::move(look)]() mutable { return StateOf(look()); }) {}

  // Looks once. OK: the condition holds.
  Status Look() { return look_(); }

 private:
  static Status StateOf(bool holds);
  static Status StateOf(Status status) { return status; }
  static Status StateOf(const Result<bool>& result) {
    return result.ok() ? StateOf(*result) : result.status();
  }
  template <class T>
  static Status StateOf(const Result<T>& result) {
    return result.status();
  }

  UniqueFunction<Status()> look_;
};

// Limits of Eventually().
struct EventuallyOptions {
  // The time after which the wait fails. A test that passes does not spend it, so that it can be
  // long: Gomega's default of 1 s is too short for a busy machine.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  // The time between the end of one look and the next one, at least 1 ms.
  std::chrono::milliseconds interval = std::chrono::milliseconds(5);
  // Says in words what the state is. Called once, when the wait has failed, on the thread that
  // waits; may block. Null: the message has the error of the last look, or "false".
  std::function<std::string()> describe = nullptr;
};

// Limits of Consistently().
struct ConsistentlyOptions {
  // The time for which the condition must hold. A test that passes spends all of it.
  std::chrono::milliseconds duration = std::chrono::milliseconds(100);
  // The time between the end of one look and the next one, at least 1 ms.
  std::chrono::milliseconds interval = std::chrono::milliseconds(5);
  // As EventuallyOptions::describe: called on the thread that waits, and may block.
  std::function<std::string()> describe = nullptr;
};

// The outcome of a wait: true if the condition held.
class [[nodiscard]] WaitResult {
 public:
  // The condition held.
  WaitResult() = default;
  // It did not, for this reason.
  explicit WaitResult(std::string failure) : failure_(std::move(failure)), held_(false) {}

  explicit operator bool() const { return held_; }
  // Says what was waited for and what the last look has found: "the condition did not hold within
  // 10000 ms (812 looks): NotFound: …". Empty if the condition held.
  std::string_view message() const { return failure_; }

 private:
  std::string failure_;
  bool held_ = true;
};
// Writes the message, or "held".
std::ostream& operator<<(std::ostream& out, const WaitResult& result);

// Looks at `condition` until it holds: at least once, and once more when the time has passed. A
// look that has begun is waited for, however long it takes.
WaitResult Eventually(Condition condition, const EventuallyOptions& options = {});

// Looks at `condition` for the whole duration, at least twice; fails at once if it does not hold.
WaitResult Consistently(Condition condition, const ConsistentlyOptions& options = {});

}  // namespace apiserver::inline v0::testing
