#include "program/nearest.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::program {
namespace {

std::string NearestFlag(const std::string& name) {
  return Nearest(name, {"--secure-port", "--etcd-servers", "--etcd-prefix", "--v"});
}

}  // namespace

TEST_CASE("program: a mistyped flag's nearest is the one with the fewest mistakes", "[program]") {
  CHECK(NearestFlag("--secure-prot") == "--secure-port");
  CHECK(NearestFlag("--etcd-server") == "--etcd-servers");
  CHECK(NearestFlag("--etcd-perfix") == "--etcd-prefix");
  CHECK(NearestFlag("--securport") == "--secure-port");
  CHECK(NearestFlag("--x") == "--v");
}

TEST_CASE("program: a flag like no other has no nearest", "[program]") {
  CHECK(NearestFlag("--cloud-provider").empty());
  CHECK(NearestFlag("-q").empty());
  CHECK(NearestFlag("").empty());
  CHECK(Nearest("--secure-port", {}).empty());
}

}  // namespace apiserver::inline v0::program
