#include "apiserver/testing/server/eventually.h"

#include <algorithm>
#include <ostream>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::v0::testing {
namespace {

using std::chrono::milliseconds;

// The state of a condition that has nothing more to say than false.
constexpr char kFalse[] = "false";

milliseconds Since(Clock::Monotonic start) {
  return std::chrono::duration_cast<milliseconds>(RealClock().Now() - start);
}

std::string InMilliseconds(milliseconds time) { return std::to_string(time.count()) + " ms"; }

// Waits for `interval`, but not beyond `end`, which is looked at once. Rounded up: a look before
// the end would be one too many.
void Pause(milliseconds interval, Clock::Monotonic end) {
  const auto left = std::chrono::ceil<milliseconds>(end - RealClock().Now());
  (void)Notification().WaitFor(std::max(std::min(interval, left), milliseconds(1)));
}

std::string StateText(const Status& state, const std::function<std::string()>& describe) {
  if (describe) return describe();
  return state.reason() == Reason::kUnknown && state.message() == kFalse ? kFalse
                                                                         : state.ToString();
}

}  // namespace

Status Condition::StateOf(bool holds) {
  return holds ? Status::Ok() : Status(Reason::kUnknown, kFalse);
}

std::ostream& operator<<(std::ostream& out, const WaitResult& result) {
  return out << (result ? std::string_view("held") : result.message());
}

WaitResult Eventually(Condition condition, const EventuallyOptions& options) {
  const Clock::Monotonic end = RealClock().Now() + options.timeout;
  for (int looks = 1;; ++looks) {
    // Read before the look, so that one look is made at the end or later.
    const bool last = RealClock().Now() >= end;
    const Status state = condition.Look();
    if (state.ok()) return {};
    if (last) {
      return WaitResult("the condition did not hold within " + InMilliseconds(options.timeout) +
                        " (" + std::to_string(looks) +
                        " looks): " + StateText(state, options.describe));
    }
    Pause(options.interval, end);
  }
}

WaitResult Consistently(Condition condition, const ConsistentlyOptions& options) {
  const Clock::Monotonic start = RealClock().Now();
  const Clock::Monotonic end = start + options.duration;
  for (int looks = 1;; ++looks) {
    const bool last = looks > 1 && RealClock().Now() >= end;
    const Status state = condition.Look();
    if (!state.ok()) {
      return WaitResult("the condition did not hold after " + InMilliseconds(Since(start)) +
                        " (look " + std::to_string(looks) +
                        "): " + StateText(state, options.describe));
    }
    if (last) return {};
    Pause(options.interval, end);
  }
}

}  // namespace apiserver::v0::testing
