#include "apiserver/program/signals/run_until_signal.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "program/signals/service_manager.h"

namespace apiserver::v0::program {

namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// Each connection takes a file; the soft limit is 1,024 on most systems.
void RaiseOpenFilesLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) {
    std::fprintf(stderr, "raised the limit on open files to %llu\n",
                 static_cast<unsigned long long>(limit.rlim_cur));
  }
}

// Waits until `reached`. Returns false if one of `signals` comes first.
bool WaitUntil(const std::function<bool()>& reached, const sigset_t& signals) {
  constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 5'000'000};
  while (!reached()) {
    if (sigtimedwait(&signals, nullptr, &kLookAgain) > 0) return false;
  }
  return true;
}

// Waits for one of `signals`. Meanwhile the manager hears as often as it wants to that the server
// lives: that its pool has run what it was given the last time.
void AwaitSignal(server::GenericAPIServer& server, const ServiceManager& manager,
                 const sigset_t& signals) {
  const auto period = manager.watchdog_period();
  if (!period) {
    int signal = 0;
    sigwait(&signals, &signal);
    return;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*period);
  const timespec wait{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(*period - seconds).count()};
  const auto answered = std::make_shared<std::atomic<bool>>(true);
  do {
    if (!answered->exchange(false)) continue;
    manager.Notify("WATCHDOG=1");
    server.pool().Post([answered] { *answered = true; });
  } while (sigtimedwait(&signals, nullptr, &wait) < 0);
}

}  // namespace

void BlockSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A write to a closed connection is an error code, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
}

// Waits for signals on this thread; requests run on the server's own. The start and readiness may
// have to wait for a storage on another machine.
int RunUntilSignal(server::GenericAPIServer& server, const std::function<void()>& on_ready,
                   const std::function<void()>& on_stop) {
  RaiseOpenFilesLimit();
  const ServiceManager manager;
  const sigset_t signals = StopSignals();
  std::future<Status> start = std::async(std::launch::async, [&server] { return server.Start(); });
  const auto started = [&start] {
    return start.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  if (WaitUntil(started, signals)) {
    if (const Status status = start.get(); !status.ok()) return Fail(status);
    if (WaitUntil([&server] { return server.ready(); }, signals)) {
      on_ready();
      manager.Notify("READY=1");
      AwaitSignal(server, manager, signals);
    }
  }
  manager.Notify("STOPPING=1");
  if (on_stop) on_stop();
  std::fprintf(stderr, "stopping\n");
  // A second signal means that the user does not want to wait.
  std::thread([signals] {
    int again = 0;
    sigwait(&signals, &again);
    std::_Exit(1);
  }).detach();
  server.Stop();
  return 0;
}

int Fail(const Status& status) {
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace apiserver::v0::program
