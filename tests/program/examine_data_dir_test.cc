// Tests of doctor --standalone: the data directory.
#include <unistd.h>

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

TEST_CASE("doctor: files of another user are told, and left to root", "[program]") {
  if (geteuid() != 0) return;  // Only root can make them.
  const Patient patient;
  REQUIRE(chown(patient.Pki("token").c_str(), 1, 1) == 0);

  CHECK(patient.Complains() == Complaints{"problem data-dir-owner"});
  CHECK(patient.TextOf("data-dir-owner") ==
        "1 files do not belong to user 0, whose directory it is, first of all " +
            patient.Pki("token"));
}

TEST_CASE("doctor --fix by root leaves a user's data directory alone", "[program]") {
  if (geteuid() != 0) return;
  const Patient patient;
  std::filesystem::remove(patient.values.kubeconfig_out);
  for (const auto& each : std::filesystem::recursive_directory_iterator(patient.values.data_dir)) {
    REQUIRE(chown(each.path().c_str(), 1, 1) == 0);
  }
  REQUIRE(chown(patient.values.data_dir.c_str(), 1, 1) == 0);

  const auto findings = Repair(patient.options());

  CHECK(Patient::ComplaintsOf(findings) == Complaints{"problem fix", "warning kubeconfig"});
  CHECK(findings.front().text ==
        "no more was repaired: the data directory belongs to user 1; run doctor --fix as that "
        "user");
  CHECK_FALSE(std::filesystem::exists(patient.values.kubeconfig_out));
}

TEST_CASE("doctor: secrets that others may read, or nobody, are told and mended", "[program]") {
  const Patient patient;
  std::filesystem::permissions(patient.Pki("token"), perms::owner_read | perms::others_read);
  std::filesystem::permissions(patient.values.kubeconfig_out, perms::all);
  CHECK(patient.Complains() == Complaints{"warning secret-file", "warning secret-file"});
  CHECK(patient.TextOf("secret-file") == "others may read it: mode 0777");
  std::filesystem::permissions(patient.Pki("ca.key"), perms::none);
  const Complaints complaints = patient.Complains();
  CHECK(std::ranges::find(complaints, "problem secret-file") != complaints.end());

  CHECK(patient.Repaired() == Names{"secret-file", "secret-file", "secret-file"});

  CHECK(patient.Complains() == Complaints{});
  CHECK(ModeOf(patient.Pki("ca.key")) == (perms::owner_read | perms::owner_write));
}

TEST_CASE("doctor --fix leaves a secret alone that a link leads to", "[program]") {
  const Patient patient;
  const std::string elsewhere = patient.Beside("token");
  std::filesystem::rename(patient.Pki("token"), elsewhere);
  std::filesystem::create_symlink(elsewhere, patient.Pki("token"));
  const auto before = perms::owner_read | perms::others_read;
  std::filesystem::permissions(elsewhere, before);

  CHECK(patient.Complains() == Complaints{"warning secret-file"});
  CHECK(patient.Repaired() == Names{});
  CHECK(ModeOf(elsewhere) == before);
}

TEST_CASE("doctor: a directory that a server uses is told so and is not touched", "[program]") {
  const Patient patient;
  const auto server = LockDirectory(patient.values.data_dir);
  REQUIRE(server.ok());
  std::filesystem::permissions(patient.Pki("token"), perms::owner_read | perms::others_read);
  std::filesystem::remove(patient.values.kubeconfig_out);
  const auto before = patient.Contents();

  CHECK(patient.Complains() ==
        Complaints{"warning lock", "warning secret-file", "problem kubeconfig"});
  const auto findings = Repair(patient.options());

  CHECK(findings.front().text == "no more was repaired: a running server uses the data directory");
  CHECK(patient.Contents() == before);
}

TEST_CASE("doctor: a disk that is nearly full is told", "[program]") {
  Patient patient;
  constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
  patient.space = [](const auto&) { return Space{.free = kGibibyte / 2, .total = 40 * kGibibyte}; };
  CHECK(patient.Complains() == Complaints{"warning disk"});
  patient.space = [](const auto&) { return Space{.free = kGibibyte / 2, .total = kGibibyte}; };
  CHECK(patient.Complains() == Complaints{});
  patient.space = [](const auto&) { return Space{.free = 1000, .total = kGibibyte}; };
  CHECK(patient.Complains() == Complaints{"problem disk"});
  CHECK(patient.TextOf("disk") == "0 MiB of its disk are free: writes will soon fail");
  const auto space = SpaceOf(patient.values.data_dir);
  REQUIRE(space.ok());
  CHECK(space->total > space->free);
}

}  // namespace apiserver::inline v0::program
