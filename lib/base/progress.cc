#include "apiserver/base/progress.h"

#include <algorithm>
#include <utility>

#include "text/duration.h"

namespace apiserver::v0 {

namespace {

// A job works so many times as long without a report as the sink took for the last one.
constexpr int kWorkPerReport = 9;
// No estimate is longer.
constexpr std::chrono::hours kYear(365 * 24);

}  // namespace

std::optional<std::chrono::nanoseconds> Progress::TimeLeft() const {
  if (finished || done == 0 || total < done || !left.empty()) return std::nullopt;
  using Seconds = std::chrono::duration<double>;
  const double rest = static_cast<double>(total - done) / static_cast<double>(done);
  const Seconds left = std::min<Seconds>(Seconds(elapsed()) * rest, kYear);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(left);
}

std::string Progress::Title() const { return subject.empty() ? what : what + " of " + subject; }

std::string Progress::Extent() const {
  if (!left.empty()) return left + " left";
  if (done == 0 && total == 0) return "";
  std::string text = std::to_string(done);
  if (total > 0) text += " of " + std::to_string(total);
  return unit.empty() ? text : text + " " + unit;
}

std::string Progress::ToString() const {
  std::string text = Title();
  if (const std::string extent = Extent(); !extent.empty()) text += ": " + extent;
  if (const auto rest = TimeLeft()) {
    text += ", " + text::FormatDuration(std::chrono::ceil<std::chrono::seconds>(*rest)) + " to go";
  }
  if (!failure.ok()) text += ": " + std::string(failure.message());
  return text;
}

ProgressReporter::ProgressReporter(std::shared_ptr<ProgressSink> sink, const Clock& clock, Job job)
    : sink_(std::move(sink)), clock_(clock) {
  {
    auto state = state_.Lock();
    state->progress.job = this;
    state->progress.what = std::move(job.what);
    state->progress.subject = std::move(job.subject);
    state->progress.unit = std::move(job.unit);
    state->progress.routine = job.routine;
  }
  Restart();
}

ProgressReporter::~ProgressReporter() { Finish({Reason::kServiceUnavailable, "it was given up"}); }

void ProgressReporter::Restart(const Status& why) {
  auto state = state_.Lock();
  Progress& progress = state->progress;
  progress.done = progress.total = 0;
  progress.left.clear();
  progress.failure = why;
  progress.finished = false;
  progress.started = progress.at = clock_.Now();
  state->next = progress.started + kInterval;
}

void ProgressReporter::Announce() {
  auto state = WhenQuiet();
  if (!state->progress.finished) Report(std::move(state));
}

void ProgressReporter::Update(std::uint64_t done, std::uint64_t total, std::string_view left) {
  Record(state_.Lock(), done, total, left);
}

void ProgressReporter::UpdateLeft(std::uint64_t left, std::string_view words) {
  auto state = state_.Lock();
  const Progress& progress = state->progress;
  const std::uint64_t total = std::max(progress.total, progress.done + left);
  Record(std::move(state), total - left, total, words);
}

void ProgressReporter::Record(Guarded<State>::Locked state, std::uint64_t done, std::uint64_t total,
                              std::string_view left) {
  Progress& progress = state->progress;
  if (progress.finished) return;
  progress.done = std::max(progress.done, done);
  progress.total = total;
  progress.left = left;
  progress.failure = {};
  if (sink_ == nullptr || state->calling || clock_.Now() < state->next) return;
  Report(std::move(state));
}

void ProgressReporter::Fail(const Status& why) {
  auto state = WhenQuiet();
  if (state->progress.finished) return;
  state->progress.failure = why;
  Report(std::move(state));
}

void ProgressReporter::Finish(const Status& outcome) {
  auto state = WhenQuiet();
  if (state->progress.finished) return;
  state->progress.finished = true;
  state->progress.failure = outcome;
  Report(std::move(state));
}

Guarded<ProgressReporter::State>::Locked ProgressReporter::WhenQuiet() {
  auto state = state_.Lock();
  state.Wait([&state] { return !state->calling; });
  return state;
}

void ProgressReporter::Report(Guarded<State>::Locked state) {
  const Clock::Monotonic begun = clock_.Now();
  state->progress.at = begun;
  if (sink_ == nullptr) return;
  state->calling = true;
  const Progress report = state->progress;
  {
    // Releases the lock: the sink may be slow, and Get() need not wait for it.
    const auto unlocked = std::move(state);
  }
  try {
    sink_->Report(report);
  } catch (...) {
    // A fault of what only shows the job must not end it.
  }
  const Clock::Monotonic ended = clock_.Now();
  {
    auto after = state_.Lock();
    after->calling = false;
    after->next =
        ended + std::max<std::chrono::nanoseconds>(kInterval, kWorkPerReport * (ended - begun));
  }
  state_.NotifyAll();
}

Progress ProgressReporter::Get() const {
  auto state = state_.Lock();
  Progress progress = state->progress;
  if (!progress.finished) progress.at = clock_.Now();
  return progress;
}

}  // namespace apiserver::v0
