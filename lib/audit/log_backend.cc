#include "apiserver/audit/log_backend.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <utility>

#include "apiserver/audit/batching.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::audit {

namespace {

class LogBackend final : public Backend {
 public:
  LogBackend(std::unique_ptr<LineWriter> writer, LogBackendOptions options)
      : options_(options), writer_(std::move(writer)) {}
  ~LogBackend() override { Shutdown(std::chrono::milliseconds(0)); }

  std::string name() const override { return std::string(kPlugin); }

  Status Run(const BackendEnvironment& environment) override {
    auto state = state_.Lock();
    if (state->running || state->stopping) return {};
    environment_ = environment;
    state->running = true;
    thread_ = Thread("audit-log", [this] { WriteUntilStopped(); });
    return {};
  }

  void ProcessEvents(Events events, Done done) override {
    const std::size_t count = events.size();
    Entry entry{std::move(events), 0, std::move(done)};
    for (const EventPtr& event : entry.events) entry.bytes += BytesOf(*event);
    const Result<bool> wake = Enter(entry);
    if (wake.ok()) {
      if (*wake) state_.NotifyOne();
      return;
    }
    if (environment_.metrics) {
      environment_.metrics->HandlePluginError(*environment_.log, kPlugin, wake.status(), count);
    }
    if (entry.done) entry.done(false);
  }

  bool Holds() const override { return options_.strict || waiting_bytes_ > options_.held_bytes; }

  void Shutdown(std::chrono::milliseconds) override {
    state_.Lock()->stopping = true;
    state_.NotifyOne();
    // What is left is written first; a writer that hangs hangs with its disk.
    thread_.Join();
  }

 private:
  static constexpr std::string_view kPlugin = "log";
  // For so long the writer collects what nobody waits for: woken for each event, it would take
  // turns with the threads that serve requests, and the turns would cost more than the writing.
  static constexpr std::chrono::milliseconds kCollecting{2};

  struct Entry {
    Events events;
    std::size_t bytes;
    Done done;
  };
  struct State {
    std::deque<Entry> entries;
    bool hurry = false;  // Someone waits for an entry, or they have become many.
    bool running = false;
    bool stopping = false;
  };

  // Takes the entry, unless it is refused. Says whether the writer is to be woken.
  Result<bool> Enter(Entry& entry) {
    auto state = state_.Lock();
    if (!state->running || state->stopping) {
      return Status(Reason::kServiceUnavailable, "the audit log is closed");
    }
    if (waiting_bytes_ > 0 && waiting_bytes_ + entry.bytes > options_.waiting_bytes_max) {
      return Status(Reason::kTooManyRequests, "too much waits for the audit log");
    }
    const bool first = state->entries.empty();
    waiting_bytes_ += entry.bytes;
    if (entry.done || waiting_bytes_ > options_.held_bytes) state->hurry = true;
    state->entries.push_back(std::move(entry));
    return first || state->hurry;
  }

  void WriteUntilStopped() {
    for (;;) {
      std::deque<Entry> entries;
      {
        auto state = state_.Lock();
        state.Wait([&state] { return state->stopping || !state->entries.empty(); });
        (void)state.WaitUntil(RealClock().Now() + kCollecting,
                              [&state] { return state->stopping || state->hurry; });
        state->hurry = false;
        if (state->entries.empty()) return;
        entries.swap(state->entries);
      }
      // In pieces, so that what is encoded stays small however much waits.
      while (!entries.empty()) WritePiece(entries);
    }
  }

  void WritePiece(std::deque<Entry>& entries) {
    constexpr std::size_t kPieceBytes = 1 << 20;
    std::string lines;
    std::size_t bytes = 0;
    std::size_t count = 0;
    std::vector<Done> dones;
    while (!entries.empty() && lines.size() < kPieceBytes) {
      Entry entry = std::move(entries.front());
      entries.pop_front();
      for (const EventPtr& event : entry.events) AppendLine(*event, lines);
      count += entry.events.size();
      bytes += entry.bytes;
      if (entry.done) dones.push_back(std::move(entry.done));
    }
    const Status written = writer_->Write(lines);
    waiting_bytes_ -= bytes;
    if (!written.ok() && environment_.metrics) {
      environment_.metrics->HandlePluginError(*environment_.log, kPlugin, written, count);
    }
    for (Done& done : dones) done(written.ok());
  }

  void AppendLine(const Event& event, std::string& lines) const {
    if (options_.format == LogFormat::kJson) {
      AppendEventJson(event, lines);
    } else {
      lines += EventString(event);
    }
    lines += '\n';
  }

  const LogBackendOptions options_;
  const std::unique_ptr<LineWriter> writer_;
  BackendEnvironment environment_;  // Set before `running`.
  std::atomic<std::size_t> waiting_bytes_{0};
  Guarded<State> state_;
  Thread thread_;
};

}  // namespace

BackendPtr NewLogBackend(std::unique_ptr<LineWriter> writer, LogBackendOptions options) {
  return std::make_shared<LogBackend>(std::move(writer), options);
}

}  // namespace apiserver::inline v0::audit
