#include "bench/process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace bench {

namespace {

using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

// Becomes the program, in the child. Does not return.
[[noreturn]] void Exec(const std::vector<char*>& argv, std::optional<int> cpu) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (cpu) PinTo(*cpu);
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execvp(argv[0], argv.data());
  _exit(127);
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)sched_setaffinity(0, sizeof(set), &set);  // On one CPU there is nothing to choose.
}

Result<Process> Process::Start(std::vector<std::string> arguments, std::optional<int> cpu) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Process process;
  process.pid_ = fork();
  if (process.pid_ == 0) Exec(argv, cpu);
  if (process.pid_ < 0) return Status(Reason::kInternalError, "cannot start " + arguments[0]);
  return process;
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

Process::~Process() { Terminate(); }

void Process::Terminate() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  waitpid(std::exchange(pid_, 0), nullptr, 0);
}

Result<double> Process::Finish() {
  int status = 0;
  rusage usage{};
  const pid_t pid = std::exchange(pid_, 0);
  if (pid <= 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) {
    return Status(Reason::kInternalError, "a program ended with " + std::to_string(status));
  }
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

bool Process::Runs() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
  return pid_ > 0;
}

}  // namespace bench
