#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace apiserver::inline v0::program {

// The service manager that has started this process, if there is one: systemd's notifications,
// sd_notify(3) and sd_watchdog_enabled(3), over the socket that the environment names. Used by one
// thread.
class ServiceManager {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. Call it before other threads run.
  ServiceManager();

  // Sends one state, such as "READY=1". Without a manager, and if it does not take it, nothing
  // happens: a server does not end because nobody listens.
  void Notify(const std::string& state) const;
  // Returns how often the manager wants to hear "WATCHDOG=1": half of its limit. nullopt: never.
  std::optional<std::chrono::microseconds> watchdog_period() const { return period_; }

 private:
  std::string socket_;
  std::optional<std::chrono::microseconds> period_;
};

}  // namespace apiserver::inline v0::program
