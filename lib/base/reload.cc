#include "apiserver/base/reload.h"

#include <exception>
#include <optional>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"

namespace apiserver::v0 {
namespace {

using Contents = std::vector<std::string>;

// State shared by the timer and the owner.
class Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(Contents paths, std::chrono::nanoseconds period, WatchedFilesDeps deps,
        WatchedFiles::Use use)
      : paths_(std::move(paths)), period_(period), deps_(std::move(deps)), use_(std::move(use)) {}

  Status Check() {
    if (!Begin()) return {};
    Status outcome = ReadAndUse();
    // A first failure is returned to the caller of WatchFiles(), which reports it: nothing is in
    // use yet.
    if (!outcome.ok() && in_use_ && !(outcome == last_)) LogFailure(outcome);
    in_use_ = in_use_ || outcome.ok();
    last_ = outcome;
    state_.Lock()->busy = false;
    state_.NotifyAll();
    return outcome;
  }

  void Schedule() {
    if (state_.Lock()->stopping) return;
    auto cancel = deps_.executor.PostAfter(period_, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      static_cast<void>(self->Check());  // Logged and remembered.
      self->Schedule();
    });
    auto state = state_.Lock();
    if (state->stopping) return;  // The task finds no Watch, or its Check does nothing.
    state->cancel_timer = std::move(cancel);
  }

  void Stop() {
    Executor::Cancel cancel;
    {
      auto state = state_.Lock();
      state->stopping = true;
      state.Wait([&] { return !state->busy; });
      cancel = std::move(state->cancel_timer);
    }
    if (cancel) cancel();
  }

  Clock::Wall used_at() const { return state_.Lock()->used_at; }

 private:
  struct State {
    bool busy = false;  // A thread is in ReadAndUse, which is called without the lock.
    bool stopping = false;
    Clock::Wall used_at;
    Executor::Cancel cancel_timer;
  };

  // Waits for its turn. False: the watch has ended.
  bool Begin() {
    auto state = state_.Lock();
    // A check that runs already may have read the files before they changed, so that this one reads
    // again.
    state.Wait([&] { return !state->busy; });
    if (state->stopping) return false;
    state->busy = true;
    return true;
  }

  Status ReadAndUse() {
    Contents now;
    for (const std::string& path : paths_) {
      Result<std::string> content = deps_.files.Read(path);
      if (!content.ok()) {
        if (deps_.unreadable) deps_.unreadable(content.status());
        return content.status();
      }
      now.push_back(*std::move(content));
    }
    // An answer is remembered, too: a bad file is judged once, not at every look.
    if (seen_ == now) return judged_;
    seen_ = std::move(now);
    judged_ = Use(*seen_);
    if (judged_.ok()) state_.Lock()->used_at = deps_.clock.WallNow();
    return judged_;
  }

  // The host's callback may throw; the timer must go on.
  Status Use(const Contents& contents) {
    try {
      return use_(contents);
    } catch (const std::exception& e) {
      return {Reason::kInternalError, e.what()};
    }
  }

  void LogFailure(const Status& why) {
    Log(deps_.log, LogLevel::kError, "a changed file is not used",
        {{"file", paths_.front()}, {"error", why.ToString()}});
  }

  const Contents paths_;
  const std::chrono::nanoseconds period_;
  const WatchedFilesDeps deps_;
  // Only the busy thread uses these:
  WatchedFiles::Use use_;
  std::optional<Contents> seen_;
  Status judged_;  // The answer of `use_` to `seen_`.
  Status last_;
  bool in_use_ = false;

  mutable Guarded<State> state_;
};

class WatchedFilesImpl final : public WatchedFiles {
 public:
  explicit WatchedFilesImpl(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~WatchedFilesImpl() override { watch_->Stop(); }

  Status Check() override { return watch_->Check(); }
  Clock::Wall used_at() const override { return watch_->used_at(); }

 private:
  const std::shared_ptr<Watch> watch_;
};

}  // namespace

Result<std::unique_ptr<WatchedFiles>> WatchFiles(std::vector<std::string> paths,
                                                 std::chrono::nanoseconds period,
                                                 WatchedFilesDeps deps, WatchedFiles::Use use) {
  auto watch = std::make_shared<Watch>(std::move(paths), period, std::move(deps), std::move(use));
  RETURN_IF_ERROR(watch->Check());
  watch->Schedule();
  return std::make_unique<WatchedFilesImpl>(std::move(watch));
}

}  // namespace apiserver::v0
