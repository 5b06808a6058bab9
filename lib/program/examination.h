#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/program/run_standalone.h"
#include "apiserver/storage/etcd/inspection.h"
#include "program/command_line.h"

// The checks of `doctor --standalone`: why a standalone server with these flags would not start, or
// why its clients would not reach it. They start no server.
namespace apiserver::inline v0::program {

// The bytes of a file system.
struct Space {
  std::uint64_t free = 0;  // Those that this process may use.
  std::uint64_t total = 0;
};

// Returns the space of the file system that `path`, which exists, is in.
Result<Space> SpaceOf(const std::string& path);

// The limits of open files, RLIMIT_NOFILE: the soft one, which a process may raise up to the hard
// one.
struct OpenFiles {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

// Returns the limits of this process.
OpenFiles OpenFilesOfProcess();

// Opens the kernel's samples of this thread for a moment, as a CPU profile does. An error says what
// the kernel refuses.
Status TryProfile();

struct ExaminationOptions {
  // The flags, after FinishFlags(). Both must outlive the call.
  const Values& values;
  const Program& program;
  const Clock& clock = RealClock();
  std::function<Result<Space>(const std::string& path)> space = SpaceOf;
  // Null: no member of an etcd is asked.
  std::function<Result<std::vector<storage::etcd::MemberReport>>(
      const storage::etcd::Options& options, std::chrono::milliseconds timeout)>
      inspect_etcd = storage::etcd::Inspect;
  std::function<OpenFiles()> open_files = OpenFilesOfProcess;
  std::function<Status()> try_profile = TryProfile;
};

// A finding, and the way to repair it.
struct Diagnosis {
  delegation::Finding finding;
  // Repairs it and returns how. Called while this process has the data directory to itself. Null:
  // that is left to the user.
  std::function<Result<std::string>()> repair = nullptr;
};

// Makes all checks, in the order in which a start meets them. Changes nothing. Blocks.
std::vector<delegation::Finding> Examine(const ExaminationOptions& options);

// Repairs what can be repaired without a loss and returns that first, then the findings of a second
// look. A directory that another process uses is left alone, which is a finding too.
std::vector<delegation::Finding> Repair(const ExaminationOptions& options);

}  // namespace apiserver::inline v0::program
