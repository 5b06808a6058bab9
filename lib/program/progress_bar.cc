#include "program/progress_bar.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "text/duration.h"

namespace apiserver::v0::program {

namespace {

constexpr std::string_view kClear = "\r\x1b[K";
constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kBarMin = 10;
constexpr std::size_t kBarMax = 30;

// Returns " [####------]", or nothing if it is narrower than a bar can be.
std::string BarOf(const Progress& progress, std::size_t columns) {
  constexpr std::size_t kFrame = 3;
  if (columns < kBarMin + kFrame) return "";
  const std::size_t width = std::min(columns - kFrame, kBarMax);
  const double share = static_cast<double>(std::min(progress.done, progress.total)) /
                       static_cast<double>(progress.total);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  return " [" + std::string(full, '#') + std::string(width - full, '-') + "]";
}

// Returns the line of at most `columns` bytes that shows `progress`; `others`: the number of other
// jobs that run.
std::string LineOf(const Progress& progress, std::size_t others, std::size_t columns) {
  std::string line = progress.Title();
  std::string rest = progress.Extent();
  if (const auto left = progress.TimeLeft()) {
    rest += ", " + text::FormatDuration(std::chrono::ceil<std::chrono::seconds>(*left)) + " to go";
  }
  if (others > 0) rest += " (+" + std::to_string(others) + ")";
  if (!rest.empty()) rest.insert(0, " ");
  const std::size_t used = line.size() + rest.size();
  if (progress.total > 0 && used < columns) line += BarOf(progress, columns - used);
  line += rest;
  if (line.size() <= columns) return line;
  // No character is cut in two: a UTF-8 character ends before a byte that begins one.
  while (columns > 0 && (static_cast<unsigned char>(line[columns]) & 0xC0U) == 0x80U) --columns;
  return line.substr(0, columns);
}

// A terminal that is stopped takes nothing; a job must not wait for it.
void WriteIfTaken(int file, std::string_view bytes) {
  pollfd taken{.fd = file, .events = POLLOUT, .revents = 0};
  if (poll(&taken, 1, 0) > 0) (void)!write(file, bytes.data(), bytes.size());
}

std::size_t ColumnsOf(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

}  // namespace

const Progress* ProgressBar::JobToShow(const State& state) {
  const Progress* longest = nullptr;
  for (const auto& [job, progress] : state.jobs) {
    if (longest == nullptr || progress.started < longest->started) longest = &progress;
  }
  return longest;
}

void ProgressBar::Draw(State& state) const {
  const Progress* const job = JobToShow(state);
  const bool was_shown = state.shown != nullptr;
  state.shown = job == nullptr ? nullptr : job->job;
  if (job != nullptr) {
    // The last column stays free: a terminal may begin a new line after it.
    const std::size_t columns = std::max<std::size_t>(terminal_.columns(), 2) - 1;
    state.line = LineOf(*job, state.jobs.size() - 1, columns);
    terminal_.write(std::string(kClear) + state.line);
  } else if (was_shown) {
    terminal_.write(kClear);
  }
}

void ProgressBar::Report(const Progress& progress) {
  if (progress.routine) return;
  auto state = state_.Lock();
  if (progress.finished) {
    state->jobs.erase(progress.job);
  } else {
    state->jobs.insert_or_assign(progress.job, progress);
  }
  // The bar shows one of many jobs, and is drawn as often as that one reports.
  if (state->shown == nullptr || state->shown == progress.job) Draw(*state);
}

void ProgressBar::Above(const std::function<void()>& write_line) {
  // The lock is held, so that no report draws a bar meanwhile.
  auto state = state_.Lock();
  if (state->shown != nullptr) terminal_.write(kClear);
  write_line();
  if (state->shown != nullptr) terminal_.write(state->line);
}

void ProgressBar::Hide() {
  auto state = state_.Lock();
  if (state->shown != nullptr) terminal_.write(kClear);
  state->shown = nullptr;
}

std::shared_ptr<ProgressBar> NewProgressBar(int file, std::string_view term) {
  if (isatty(file) == 0 || term.empty() || term == "dumb") return nullptr;
  return std::make_shared<ProgressBar>(
      ProgressBar::Terminal{.write = [file](std::string_view bytes) { WriteIfTaken(file, bytes); },
                            .columns = [file] { return ColumnsOf(file); }});
}

void LogAboveBar::Write(LogLevel level, std::string_view message,
                        std::span<const LogField> fields) {
  if (bar_ == nullptr) return sink_.Write(level, message, fields);
  bar_->Above([&] { sink_.Write(level, message, fields); });
}

}  // namespace apiserver::v0::program
