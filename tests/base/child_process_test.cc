#include "base/child_process.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChildProgram Shell(const std::string& script) {
  return {.path = "/bin/sh", .arguments = {"sh", "-c", script}};
}

ChildEnd Run(const ChildProgram& program) { return RunChild(Context::Background(), program); }

// Reports whether the process `pid` has ended; one that nobody has reaped has, too.
bool HasEnded(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return true;
  return text.substr(text.rfind(')') + 2, 1) == "Z";
}

bool EndsSoon(const std::string& pid) {
  const auto deadline = RealClock().Now() + seconds(10);
  while (!HasEnded(pid) && RealClock().Now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  return HasEnded(pid);
}

TEST_CASE("base: a program gets arguments and variables, and its outputs and exit code are known",
          "[base]") {
  ChildProgram program = Shell(R"(echo "$0 $1 $CHILD_A $HOME"; echo "${PATH:+path}" >&2; exit 3)");
  program.arguments.insert(program.arguments.end(), {"name", "a b"});
  program.environment = {"CHILD_A=first", "HOME=/nowhere", "CHILD_A=last"};

  const ChildEnd end = Run(program);

  REQUIRE(end.status.ok());
  CHECK(end.exit_code == 3);
  CHECK(end.output == "name a b last /nowhere\n");
  CHECK(end.errors == "path\n");
}

TEST_CASE("base: a program that a signal ends has no exit code", "[base]") {
  const ChildEnd end = Run(Shell("kill -TERM $$"));
  CHECK(end.status.ok());
  CHECK(end.exit_code == -1);
}

TEST_CASE("base: a program inherits no input, descriptor, signal mask or disposition", "[base]") {
  const int leaked = open("/dev/null", O_RDONLY);  // Not closed on exec.
  REQUIRE(leaked >= 0);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  const auto handler = std::signal(SIGUSR1, SIG_IGN);

  const ChildEnd end =
      Run(Shell("read line && exit 9; [ -e /proc/self/fd/" + std::to_string(leaked) +
                " ] && exit 8\ngrep -E '^Sig(Blk|Ign)' /proc/self/status"));

  std::signal(SIGUSR1, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(leaked);
  CHECK(end.exit_code == 0);
  const std::string signals = "SigBlk:\t0000000000000000\nSigIgn:\t";
  REQUIRE(end.output.starts_with(signals));
  // glibc ignores its own two, 32 and 33.
  const auto ignored = std::stoull(end.output.substr(signals.size()), nullptr, 16);
  CHECK((ignored & 0x7fffffffU) == 0);
}

TEST_CASE("base: a program that takes too long is killed with those it has started", "[base]") {
  ChildProgram program = Shell("sleep 1000 & echo $! >&2; echo $$ >&2; wait");
  program.time_max = milliseconds(300);

  const ChildEnd end = Run(program);

  CHECK(end.status == Status(Reason::kTimeout, "it did not end within 300 milliseconds"));
  const std::size_t line = end.errors.find('\n');
  REQUIRE(line != std::string::npos);
  CHECK(EndsSoon(end.errors.substr(0, line)));
  CHECK(EndsSoon(end.errors.substr(line + 1, end.errors.size() - line - 2)));
}

TEST_CASE("base: a program is killed when the work that it is for ends", "[base]") {
  const Context cancelled = Context::Child(Context::Background());
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(50));
    cancelled.Cancel(Status(Reason::kServiceUnavailable, "no longer wanted"));
  });
  const ChildEnd end = RunChild(cancelled, Shell("sleep 1000"));
  canceller.join();
  CHECK(end.status == Status(Reason::kTimeout, "no longer wanted"));

  const auto begin = RealClock().Now();
  const Context late = Context::Child(Context::Background(), begin + milliseconds(100));
  CHECK(RunChild(late, Shell("sleep 1000")).status.reason() == Reason::kTimeout);
  CHECK(RealClock().Now() - begin < seconds(30));
}

TEST_CASE("base: the outputs of a program have limits", "[base]") {
  ChildProgram program = Shell("while :; do echo 0123456789; done");
  program.output_bytes_max = 100'000;
  const ChildEnd too_much = Run(program);
  CHECK(too_much.status ==
        Status(Reason::kRequestEntityTooLarge, "it wrote more than 100000 bytes"));
  CHECK(too_much.output.empty());

  program = Shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2");
  program.output_bytes_max = 1'000'000;
  program.errors_bytes_max = 10;
  const ChildEnd just = Run(program);
  CHECK(just.status.ok());
  CHECK(just.output.size() == 1'000'000);
  CHECK(just.errors.size() == 10);
}

TEST_CASE("base: a program that leaves another behind has ended all the same", "[base]") {
  const auto begin = RealClock().Now();
  const ChildEnd end = Run(Shell("sleep 1000 & echo $!"));
  CHECK(end.status.ok());
  CHECK(RealClock().Now() - begin < seconds(30));
  REQUIRE(end.output.ends_with('\n'));
  CHECK_FALSE(HasEnded(end.output.substr(0, end.output.size() - 1)));
  kill(std::stoi(end.output), SIGKILL);
}

TEST_CASE("base: a program that cannot be started says why", "[base]") {
  CHECK(Run({.path = "/does/not/exist", .arguments = {"x"}}).status ==
        Status(Reason::kInternalError, "fork/exec /does/not/exist: No such file or directory"));
  CHECK(RunChild(Context::Background().WithMayBlock(false), Shell("true")).status.reason() ==
        Reason::kWouldBlock);
}

TEST_CASE("base: a program is found by its path or in PATH", "[base]") {
  const auto shell = FindProgram("sh");
  REQUIRE(shell.ok());
  CHECK(shell->starts_with('/'));
  CHECK(shell->ends_with("/sh"));
  CHECK(FindProgram("/bin/sh").value() == "/bin/sh");
  for (const std::string none : {"", "no-such-program", "/etc/passwd", "/bin", "./sh"}) {
    CHECK(FindProgram(none).status().reason() == Reason::kNotFound);
  }
}

}  // namespace
}  // namespace apiserver::inline v0
