// Tests of doctor --standalone: what the system allows the process.
#include <catch2/catch.hpp>

#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;

}  // namespace

TEST_CASE("doctor: a limit of open files that is too low for many clients is told", "[program]") {
  Patient patient;
  patient.open_files = {.soft = 1024, .hard = 20'767};
  CHECK(patient.Complains() == Complaints{"warning open-files"});
  patient.open_files = {.soft = 1024, .hard = 4096};
  CHECK(patient.TextOf("open-files") ==
        "4096 files may be open at most: enough for 1664 connections, with two files each and 768 "
        "of the store and the server itself");
  patient.open_files = {.soft = 1, .hard = 1};
  CHECK(patient.TextOf("open-files").find("enough for 0 connections") != std::string::npos);
  // The server raises the soft limit itself.
  patient.open_files = {.soft = 1024, .hard = 20'768};
  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: a kernel that refuses profiles is told where they are served", "[program]") {
  Patient patient;
  patient.profile = Status(Reason::kForbidden, "perf_event_open: Permission denied");
  CHECK(patient.Complains() == Complaints{"warning cpu-profile"});
  CHECK(patient.TextOf("cpu-profile")
            .starts_with("/debug/pprof/profile will be refused: perf_event_open: Permission "
                         "denied"));
  patient.values.recommended.features.enable_profiling = false;
  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: the limits of this process are read", "[program]") {
  const OpenFiles limits = OpenFilesOfProcess();
  CHECK(limits.soft > 0);
  CHECK(limits.hard >= limits.soft);
  const Status allowed = TryProfile();
  CHECK((allowed.ok() || !allowed.message().empty()));
}

}  // namespace apiserver::inline v0::program
