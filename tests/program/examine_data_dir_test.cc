// What doctor --standalone says of the data directory, and repairs in it.
#include <catch2/catch.hpp>

#include "apiserver/base/directory_lock.h"
#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;
using Names = std::vector<std::string>;
using std::filesystem::perms;

perms ModeOf(const std::string& path) {
  return std::filesystem::status(path).permissions() & perms::all;
}

}  // namespace

TEST_CASE("doctor: a server that has run and stopped is well, and is left as it is", "[program]") {
  const Patient patient;
  const auto before = patient.Contents();

  CHECK(patient.Complains() == Complaints{});
  CHECK(patient.Repaired() == Names{});

  auto after = patient.Contents();
  after.erase(patient.values.data_dir + "/lock");  // That of the repair.
  CHECK(after == before);
}

TEST_CASE("doctor: a data directory that is missing is told, and made", "[program]") {
  const Patient patient;
  std::filesystem::remove_all(patient.values.data_dir);

  CHECK(patient.Complains() == Complaints{"warning data-dir"});
  CHECK_FALSE(std::filesystem::exists(patient.values.data_dir));
  CHECK(patient.Repaired() == Names{"data-dir"});

  CHECK(ModeOf(patient.values.data_dir) == perms::owner_all);
  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: a file instead of the data directory is a problem", "[program]") {
  Patient patient;
  patient.values.data_dir = patient.Write("file", "");

  CHECK(patient.Complains().front() == "problem data-dir");
  CHECK(patient.TextOf("data-dir") == "is not a directory");
}

TEST_CASE("doctor: a data directory with a wrong mode is told, and closed", "[program]") {
  const Patient patient;
  std::filesystem::permissions(patient.values.data_dir,
                               perms::owner_all | perms::group_read | perms::others_read);
  CHECK(patient.Complains() == Complaints{"warning data-dir"});
  CHECK(patient.TextOf("data-dir") == "others may use it, and keys are in it: mode 0744");
  CHECK(patient.Repaired() == Names{"data-dir"});
  CHECK(patient.Complains() == Complaints{});

  std::filesystem::permissions(patient.values.data_dir, perms::owner_read | perms::owner_exec);
  CHECK(patient.Complains() == Complaints{"problem data-dir"});
  CHECK(patient.Repaired() == Names{"data-dir"});
  CHECK(patient.Complains() == Complaints{});
  CHECK(ModeOf(patient.values.data_dir) == perms::owner_all);
}

TEST_CASE("doctor: a directory that a server uses is told so and is not touched", "[program]") {
  const Patient patient;
  const auto server = LockDirectory(patient.values.data_dir);
  REQUIRE(server.ok());
  std::filesystem::permissions(patient.values.data_dir, perms::all);
  const auto before = patient.Contents();

  CHECK(patient.Complains() == Complaints{"warning data-dir", "warning lock"});
  const auto findings = Repair(patient.options());

  CHECK(findings.front().text == "no more was repaired: a running server uses the data directory");
  CHECK(patient.Contents() == before);
}

}  // namespace apiserver::inline v0::program
