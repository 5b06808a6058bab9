#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/log.h"
#include "apiserver/base/progress.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::program {

// Shows the longest running job in the last line of a terminal: how far it is, and how long it
// still takes. Routine jobs do not appear. Any thread.
class ProgressBar final : public ProgressSink {
 public:
  // A terminal that knows CR and the sequence ESC [ K, as far as the bar needs it.
  struct Terminal {
    std::function<void(std::string_view bytes)> write;
    std::function<std::size_t()> columns;
  };
  explicit ProgressBar(Terminal terminal) : terminal_(std::move(terminal)) {}

  void Report(const Progress& progress) override;
  // Calls `write_line`, which writes whole lines to the same terminal, without the bar between
  // them; it must not report progress.
  void Above(const std::function<void()>& write_line);
  // Removes the bar until the next report, for other output.
  void Hide();

 private:
  struct State {
    std::map<const void*, Progress> jobs;
    const void* shown = nullptr;  // The job in the bar. Null: there is no bar.
    std::string line;             // The text of the bar.
  };

  // Returns the job to show. Null: none.
  static const Progress* JobToShow(const State& state);
  void Draw(State& state) const;

  const Terminal terminal_;
  Guarded<State> state_;
};

// Returns a bar on the terminal behind `file`. Null: that is not a terminal, or `term`, the
// variable TERM, says that it cannot move its cursor.
std::shared_ptr<ProgressBar> NewProgressBar(int file, std::string_view term);

// Writes log lines above a bar.
class LogAboveBar final : public LogSink {
 public:
  // `sink` writes to the terminal of `bar`. Null: there is no bar. Both must outlive it.
  LogAboveBar(LogSink& sink, ProgressBar* bar) : sink_(sink), bar_(bar) {}

  bool Enabled(LogLevel level) const override { return sink_.Enabled(level); }
  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override;

 private:
  LogSink& sink_;
  ProgressBar* const bar_;
};

}  // namespace apiserver::inline v0::program
