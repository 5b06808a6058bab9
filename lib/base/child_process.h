#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0 {

// A program to be run once, and its limits.
struct ChildProgram {
  std::string path = {};                    // Required. Not looked for: FindProgram() does that.
  std::vector<std::string> arguments = {};  // From argv[0] on.
  // "NAME=value". Added to the environment of this process, whose variables of the same names they
  // replace; of two, the last one counts.
  std::vector<std::string> environment = {};
  std::chrono::milliseconds time_max = std::chrono::seconds(60);
  std::size_t output_bytes_max = 1 << 20;
  std::size_t errors_bytes_max = 16 << 10;  // The rest of its standard error is dropped.
};

// The end of such a program.
struct ChildEnd {
  // OK: it has ended, with any exit code. kTimeout: it took longer than `time_max`, or `ctx` ended;
  // kRequestEntityTooLarge: it wrote more than `output_bytes_max`; in these cases it was killed,
  // with all processes of its group. kInternalError: it could not be started or waited for.
  Status status = {};
  int exit_code = 0;  // -1: a signal ended it.
  std::string output = {};
  std::string errors = {};  // The beginning of its standard error, however it ended.
};

// Runs a program and waits for its end, at most until `ctx` is done. kWouldBlock: `ctx` may not
// wait. It has an empty standard input and no terminal, leads a session and a process group of its
// own, and inherits no descriptor, no blocked signal and no disposition. A program that it leaves
// behind lives on and is not waited for. Only its own process is waited for: a host that ignores
// SIGCHLD, or reaps processes that it has not started, gets kInternalError. Any thread.
ChildEnd RunChild(const Context& ctx, const ChildProgram& program);

// Returns the path of an executable file, as Go's exec.LookPath: `name` itself if it has a slash,
// else the first in the absolute folders of PATH. kNotFound: there is none.
Result<std::string> FindProgram(const std::string& name);

}  // namespace apiserver::inline v0
