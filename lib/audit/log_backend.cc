#include "apiserver/audit/log_backend.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/audit/batching.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "audit/client_texts.h"
#include "audit/event_json.h"
#include "text/json_sink.h"

namespace apiserver::v0::audit {

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
    std::string lines;
    Entry entry = NewEntry(std::move(events), std::move(done), lines);
    Take(entry);
  }

  void ProcessEvent(Event&& event) override {
    RequestJson unused;
    if (!ProcessAtOnce(event, unused)) Backend::ProcessEvent(std::move(event));
  }

  // The line is put together on the stack, and copied from there to the others.
  bool ProcessAtOnce(const Event& event, RequestJson& kept) override {
    const std::size_t bytes = BytesOf(event);
    if (bytes > kEncodedAtOnceMax) return false;
    std::string large;
    text::JsonSink sink(large);
    if (options_.format == LogFormat::kJson) {
      PutEventJson(event, {kept, clients_}, sink);
    } else {
      sink.Put(EventString(event));
    }
    sink.Put('\n');
    Entry entry{.lines = sink.TextSince(0), .events = {}, .count = 1, .done = {}};
    entry.bytes = entry.lines.size();
    Take(entry);
    return true;
  }

  // Read without the lock: an old number lets one request more or less be held.
  bool Holds() const override { return options_.strict || waiting_bytes_ > options_.held_bytes; }

  void Shutdown(std::chrono::milliseconds) override {
    state_.Lock()->stopping = true;
    state_.NotifyOne();
    // The remaining events are written first; a writer that hangs hangs with its disk.
    thread_.Join();
  }

 private:
  static constexpr std::string_view kPlugin = "log";
  // The time for which the writer collects events that no request waits for: woken for each event,
  // it would take turns with the threads that serve requests, and the turns would cost more than
  // the writing.
  static constexpr std::chrono::milliseconds kCollecting{2};

  // Events of one call up to this size become lines on the caller's thread: that costs less than
  // handing them over, and spreads the work over all threads.
  static constexpr std::size_t kEncodedAtOnceMax = 16 << 10;
  // The most bytes of one write, so that encoded text stays small however much waits.
  static constexpr std::size_t kPieceBytes = 1 << 20;

  // The events of one call: lines, or events that are still to be encoded.
  struct Entry {
    std::string_view lines;
    Events events;
    std::size_t bytes = 0;
    std::size_t count = 0;
    Done done;
  };
  // One write: first the lines, then the events.
  struct Piece {
    std::string lines;
    Events events;
    std::size_t bytes = 0;
    std::size_t count = 0;
    std::vector<Done> dones;
  };
  struct State {
    std::deque<Piece> pieces;
    std::string spare;   // The memory of a piece that has been written.
    bool hurry = false;  // A request waits for an entry, or there are many entries.
    bool running = false;
    bool stopping = false;
  };

  // `lines` keeps the text of the entry.
  Entry NewEntry(Events events, Done done, std::string& lines) const {
    Entry entry{.lines = {}, .events = {}, .count = events.size(), .done = std::move(done)};
    for (const EventPtr& event : events) entry.bytes += BytesOf(*event);
    if (entry.bytes > kEncodedAtOnceMax) {
      entry.events = std::move(events);
      return entry;
    }
    lines.reserve(entry.bytes);
    for (const EventPtr& event : events) AppendLine(*event, lines);
    entry.lines = lines;
    entry.bytes = entry.lines.size();
    return entry;
  }

  // Refused events are counted and logged here, where the plugin is known.
  void Take(Entry& entry) {
    const Result<bool> wake = Enter(entry);
    if (wake.ok()) {
      if (*wake) state_.NotifyOne();
      return;
    }
    if (environment_.metrics) {
      environment_.metrics->HandlePluginError(*environment_.log, kPlugin, wake.status(),
                                              entry.count);
    }
    if (entry.done) entry.done(false);
  }

  // Takes the entry, unless it is refused. Returns whether the writer must be woken.
  Result<bool> Enter(Entry& entry) {
    auto state = state_.Lock();
    if (!state->running || state->stopping) {
      return Status(Reason::kServiceUnavailable, "the audit log is closed");
    }
    // A single entry may exceed the limit if nothing waits: it could never be written otherwise.
    if (waiting_bytes_ > 0 && waiting_bytes_ + entry.bytes > options_.waiting_bytes_max) {
      return Status(Reason::kTooManyRequests, "too much waits for the audit log");
    }
    // Only the first entry wakes the writer, which then collects the others for kCollecting.
    const bool first = state->pieces.empty();
    waiting_bytes_ += entry.bytes;
    if (entry.done || waiting_bytes_ > options_.held_bytes) state->hurry = true;
    Piece& piece = PieceFor(entry, *state);
    piece.lines += entry.lines;
    std::move(entry.events.begin(), entry.events.end(), std::back_inserter(piece.events));
    piece.bytes += entry.bytes;
    piece.count += entry.count;
    if (entry.done) piece.dones.push_back(std::move(entry.done));
    return first || state->hurry;
  }

  // Returns the last piece, or a new one if that is full, or if the entry's lines would come before
  // earlier events.
  static Piece& PieceFor(const Entry& entry, State& state) {
    if (!state.pieces.empty()) {
      Piece& last = state.pieces.back();
      if (last.bytes < kPieceBytes && (last.events.empty() || entry.lines.empty())) return last;
    }
    Piece& piece = state.pieces.emplace_back();
    piece.lines = std::exchange(state.spare, {});
    return piece;
  }

  void WriteUntilStopped() {
    for (;;) {
      std::deque<Piece> pieces;
      {
        auto state = state_.Lock();
        state.Wait([&state] { return state->stopping || !state->pieces.empty(); });
        (void)state.WaitUntil(RealClock().Now() + kCollecting,
                              [&state] { return state->stopping || state->hurry; });
        state->hurry = false;
        if (state->pieces.empty()) return;
        pieces.swap(state->pieces);
      }
      for (Piece& piece : pieces) Write(piece);
      pieces.front().lines.clear();
      // Reuses the memory of the first piece: the text of each round is about as long as before.
      state_.Lock()->spare = std::move(pieces.front().lines);
    }
  }

  void Write(Piece& piece) {
    // Events are encoded on the writer's thread if they are large; see kEncodedAtOnceMax.
    for (const EventPtr& event : piece.events) AppendLine(*event, piece.lines);
    const Status written = writer_->Write(piece.lines);
    waiting_bytes_ -= piece.bytes;
    if (!written.ok() && environment_.metrics) {
      environment_.metrics->HandlePluginError(*environment_.log, kPlugin, written, piece.count);
    }
    for (Done& done : piece.dones) done(written.ok());
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
  ClientTexts clients_;
  std::atomic<std::size_t> waiting_bytes_{0};
  Guarded<State> state_;
  Thread thread_;
};

}  // namespace

BackendPtr NewLogBackend(std::unique_ptr<LineWriter> writer, LogBackendOptions options) {
  return std::make_shared<LogBackend>(std::move(writer), options);
}

}  // namespace apiserver::v0::audit
