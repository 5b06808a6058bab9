#include "base/child_process.h"

#include <catch2/catch.hpp>

#include <chrono>
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

}  // namespace
}  // namespace apiserver::inline v0
