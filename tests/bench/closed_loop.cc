#include "bench/closed_loop.h"

#include <atomic>
#include <utility>

#include "apiserver/base/sync.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using Clock = std::chrono::steady_clock;

// What all slots of a run share. The slots live on the client's one loop; only `done` and
// `failure` are seen by the thread that waits.
struct LoopRun {
  LoopRun(const LoopOptions& run_options, std::size_t slot_count)
      : options(run_options), slots(slot_count) {
    result.latencies_us.reserve(options.operations);
  }
  const LoopOptions options;
  const std::size_t slots;
  LoopResult result;
  std::atomic<std::size_t> begun{0};
  std::size_t ended = 0;
  std::atomic<bool> over{false};
  apiserver::Guarded<Status> failure;
  apiserver::Notification done;
};

// One request after the other on one connection.
class Slot final : public apiserver::http::StreamObserver,
                   public std::enable_shared_from_this<Slot> {
 public:
  Slot(std::shared_ptr<LoopRun> run, apiserver::http::Connection& connection, std::size_t index)
      : owner_(std::move(run)), run_(*owner_), connection_(connection), stride_(index) {}

  void Next() {
    n_ = run_.options.strides ? std::exchange(stride_, stride_ + run_.slots) : run_.begun++;
    if (n_ >= run_.options.operations || run_.over) return;
    body_.clear();
    started_ = Clock::now();
    auto sent = connection_.Observe(run_.options.request(n_), shared_from_this());
    if (!sent.ok()) Fail(sent.status());
  }

  void OnHead(const apiserver::http::ResponseHead& head) override { code_ = head.code; }
  void OnData(std::string_view bytes) override {
    run_.result.bytes += bytes.size();
    if (run_.options.answered || code_ != run_.options.expected_code) body_ += bytes;
  }
  void OnEnd(const Status& status) override {
    if (!status.ok()) return Fail(status);
    if (code_ != run_.options.expected_code) {
      return Fail({Reason::kInternalError, "request " + std::to_string(n_) + " was answered " +
                                               std::to_string(code_) + ": " + body_});
    }
    const std::chrono::duration<double, std::micro> took = Clock::now() - started_;
    run_.result.latencies_us.push_back(took.count());
    if (run_.options.answered) run_.options.answered(n_, body_);
    if (++run_.ended == run_.options.operations) {
      run_.done.Notify();
      return;
    }
    Next();
  }

 private:
  void Fail(const Status& status) {
    *run_.failure.Lock() = status;
    run_.done.Notify();
  }

  const std::shared_ptr<LoopRun> owner_;  // Answers may come after the run was given up.
  LoopRun& run_;
  apiserver::http::Connection& connection_;
  Clock::time_point started_;
  int code_ = 0;
  std::size_t n_ = 0;
  std::size_t stride_;  // The next n, where slots stride.
  std::string body_;
};

}  // namespace

Result<Connections> DialMany(apiserver::http::Dialer& dialer,
                             const apiserver::http::DialOptions& options, std::size_t count) {
  Connections connections;
  for (std::size_t i = 0; i < count; ++i) {
    auto connection = dialer.Dial(Context::Background(), options);
    if (!connection.ok()) return connection.status();
    connections.push_back(std::move(*connection));
  }
  return connections;
}

Result<LoopResult> RunClosedLoop(const Connections& connections, const LoopOptions& options) {
  const auto owner = std::make_shared<LoopRun>(options, connections.size() * options.streams);
  LoopRun& run = *owner;
  std::vector<std::shared_ptr<Slot>> slots;
  for (const auto& connection : connections) {
    for (std::size_t i = 0; i < options.streams; ++i) {
      slots.push_back(std::make_shared<Slot>(owner, *connection, slots.size()));
    }
  }
  const Clock::time_point started = Clock::now();
  for (const auto& slot : slots) slot->Next();
  const bool finished = run.done.WaitFor(std::chrono::minutes(5));
  run.over = true;
  run.result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  if (const Status failure = *run.failure.Lock(); !failure.ok()) return failure;
  if (!finished) return Status(Reason::kTimeout, "the run did not end within five minutes");
  return std::move(run.result);
}

}  // namespace bench
