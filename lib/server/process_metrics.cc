#include "server/process_metrics.h"

#include <time.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace apiserver::v0::server {

namespace {

// The fields of /proc/self/stat, counted from the state, which follows the name in parentheses.
enum StatField : std::size_t {
  kUser = 11,
  kSystem = 12,
  kThreads = 17,
  kStart = 19,
  kVirtual = 20,
  kResident = 21
};

double NumberAt(std::string_view text) {
  double number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return words;
}

// Returns the word after `name` on its line.
std::string_view After(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_first_of(" \n"));
}

double OpenDescriptors() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error)) {
    ++count;
  }
  return count;
}

double Seconds(clockid_t clock) {
  timespec time{};
  (void)clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct ProcessSeries {
  metrics::Counter& cpu;
  metrics::Gauge& resident;
  metrics::Gauge& virtual_bytes;
  metrics::Gauge& open_fds;
  metrics::Gauge& max_fds;
  metrics::Gauge& threads;
  metrics::Gauge& start;
  // The time of the system's start, since the epoch. The file that has it, /proc/stat, is hidden
  // from a process that may see processes only, as systemd's ProcSubset=pid has it.
  double boot = Seconds(CLOCK_REALTIME) - Seconds(CLOCK_BOOTTIME);
};

void Refresh(const ProcessSeries& series, const FileSystem& files) {
  const auto stat = files.Read("/proc/self/stat");
  if (!stat.ok()) return;
  // The last parenthesis: the name may contain others.
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return;
  const auto words = Words(std::string_view(*stat).substr(name_end + 1));
  if (words.size() <= kResident) return;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double cpu = (NumberAt(words[kUser]) + NumberAt(words[kSystem])) / ticks;
  // A counter only grows, so the difference since the last scrape is added.
  series.cpu.Add(cpu - series.cpu.value());
  series.threads.Set(NumberAt(words[kThreads]));
  series.virtual_bytes.Set(NumberAt(words[kVirtual]));
  series.resident.Set(NumberAt(words[kResident]) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  series.start.Set(series.boot + NumberAt(words[kStart]) / ticks);
  if (const auto limits = files.Read("/proc/self/limits"); limits.ok()) {
    series.max_fds.Set(NumberAt(After(*limits, "Max open files")));
  }
  series.open_fds.Set(OpenDescriptors());
}

}  // namespace

Context::Registration ShowProcess(metrics::Registry& registry, const FileSystem& files) {
  const auto gauge = [&registry](const char* name, const char* help) -> metrics::Gauge& {
    return registry.Gauges({.name = name, .help = help, .labels = {}}).With({});
  };
  const ProcessSeries series{
      .cpu = registry
                 .Counters({.name = "process_cpu_seconds_total",
                            .help = "Total user and system CPU time spent in seconds.",
                            .labels = {}})
                 .With({}),
      .resident = gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
      .virtual_bytes = gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."),
      .open_fds = gauge("process_open_fds", "Number of open file descriptors."),
      .max_fds = gauge("process_max_fds", "Maximum number of open file descriptors."),
      .threads = gauge("process_threads", "Number of threads."),
      .start = gauge("process_start_time_seconds",
                     "Start time of the process since unix epoch in seconds.")};
  return registry.BeforeSerialize([series, &files] { Refresh(series, files); });
}

}  // namespace apiserver::v0::server
