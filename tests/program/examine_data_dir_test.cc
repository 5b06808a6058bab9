// What doctor --standalone says of the data directory.
#include <catch2/catch.hpp>

#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;
using std::filesystem::perms;

}  // namespace

TEST_CASE("doctor: a server that has run and stopped is well", "[program]") {
  const Patient patient;
  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: a data directory that is missing is told", "[program]") {
  const Patient patient;
  std::filesystem::remove_all(patient.values.data_dir);

  CHECK(patient.Complains() == Complaints{"warning data-dir"});
  CHECK_FALSE(std::filesystem::exists(patient.values.data_dir));
}

TEST_CASE("doctor: a file instead of the data directory is a problem", "[program]") {
  Patient patient;
  patient.values.data_dir = patient.Write("file", "");

  CHECK(patient.Complains().front() == "problem data-dir");
  CHECK(patient.TextOf("data-dir") == "is not a directory");
}

TEST_CASE("doctor: a data directory with a wrong mode is told", "[program]") {
  const Patient patient;
  std::filesystem::permissions(patient.values.data_dir,
                               perms::owner_all | perms::group_read | perms::others_read);
  CHECK(patient.Complains() == Complaints{"warning data-dir"});
  CHECK(patient.TextOf("data-dir") == "others may use it, and keys are in it: mode 0744");
  std::filesystem::permissions(patient.values.data_dir, perms::owner_read | perms::owner_exec);
  CHECK(patient.Complains() == Complaints{"problem data-dir"});
}

}  // namespace apiserver::inline v0::program
