#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/status.h"

namespace bench {

// A program that runs beside the driver.
class Process {
 public:
  // Starts arguments[0], a path or a name in $PATH, on one CPU; without one, on those of the
  // driver. It writes to /dev/null. It is killed if the driver dies.
  static apiserver::Result<Process> Start(std::vector<std::string> arguments,
                                          std::optional<int> cpu);
  Process() = default;
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  // Ends it with SIGTERM.
  ~Process();

  void Terminate();
  // Waits for its end, then returns the seconds of CPU it took. An error: it did not exit with 0.
  apiserver::Result<double> Finish();
  // False from the moment it has ended.
  bool Runs();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

// Binds the calling thread, and all threads it starts from now on, to one CPU.
void PinTo(int cpu);

}  // namespace bench
