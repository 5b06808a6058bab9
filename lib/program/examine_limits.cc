#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "program/examination_parts.h"
#include "server/debug/perf_events.h"

namespace apiserver::v0::program {

namespace {

using Level = Examination::Level;

// The files that a busy server has open: one for each connection of a client and one for the server
// that it is passed on to; those of the store (RocksDB's max_open_files); logs, listeners, watched
// files and the connections to etcd.
constexpr std::uint64_t kFilesOfConnection = 2;
constexpr std::uint64_t kConnectionsWanted = 10'000;
constexpr std::uint64_t kFilesOfServer = 512 + 256;
constexpr std::uint64_t kFilesWanted = kFilesOfServer + kFilesOfConnection * kConnectionsWanted;

std::string ParanoiaText() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  std::string level;
  return file >> level ? " (kernel.perf_event_paranoid is " + level + ")" : "";
}

void ExamineOpenFiles(Examination& examination) {
  const OpenFiles limits = examination.options.open_files();
  const std::string most = std::to_string(limits.hard) + " files may be open at most";
  if (limits.hard < kFilesWanted) {
    const std::uint64_t left = limits.hard - std::min(limits.hard, kFilesOfServer);
    examination.Add(Level::kWarning, "open-files",
                    most + ": enough for " + std::to_string(left / kFilesOfConnection) +
                        " connections, with two files each and " + std::to_string(kFilesOfServer) +
                        " of the store and the server itself",
                    "Raise the hard limit: LimitNOFILE=65536 in the [Service] section of a systemd "
                    "unit, nofile in /etc/security/limits.conf for a login, --ulimit nofile=65536 "
                    "of a container. A doctor in a shell sees the shell's limit, which ulimit -Hn "
                    "shows, and not that of the unit.");
    return;
  }
  const bool raised = limits.soft < limits.hard;
  examination.Add(Level::kOk, "open-files",
                  raised ? most + "; the server raises its soft limit, " +
                               std::to_string(limits.soft) + ", to that"
                         : most);
}

void ExamineProfile(Examination& examination) {
  if (!examination.options.values.recommended.features.enable_profiling) return;
  const Status allowed = examination.options.try_profile();
  if (allowed.ok()) {
    examination.Add(Level::kOk, "cpu-profile", "the kernel lets the server profile itself");
    return;
  }
  examination.Add(
      Level::kWarning, "cpu-profile",
      "/debug/pprof/profile will be refused: " + std::string(allowed.message()) + ParanoiaText(),
      "sysctl kernel.perf_event_paranoid=2, with a file in /etc/sysctl.d to keep it; or "
      "AmbientCapabilities=CAP_PERFMON in the systemd unit; or --no-profiling if no "
      "profiles are wanted.");
}

}  // namespace

OpenFiles OpenFilesOfProcess() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return {.soft = limit.rlim_cur, .hard = limit.rlim_max};
}

Status TryProfile() {
  constexpr int kThisThread = 0;
  return server::debug::OpenPerfEvents(kThisThread).status();
}

void ExamineLimits(Examination& examination) {
  ExamineOpenFiles(examination);
  ExamineProfile(examination);
}

}  // namespace apiserver::v0::program
