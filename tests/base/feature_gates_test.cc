#include "apiserver/base/feature_gates.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0 {
namespace {

using Stage = FeatureGate::Stage;

FeatureGates Known() {
  FeatureGates gates;
  const Status added = gates.Add({
      {"Alpha", false, Stage::kAlpha},
      {"AlsoAlpha", false, Stage::kAlpha},
      {"Beta", true, Stage::kBeta},
      {"Locked", true, Stage::kGa, true},
      {"Old", false, Stage::kDeprecated},
  });
  REQUIRE(added.ok());
  return gates;
}

TEST_CASE("base: gates have their defaults, and an unknown one is off", "[base]") {
  const FeatureGates gates = Known();

  CHECK_FALSE(gates.Enabled("Alpha"));
  CHECK(gates.Enabled("Beta"));
  CHECK(gates.Enabled("Locked"));
  CHECK_FALSE(gates.Enabled("Nobody"));
}

TEST_CASE("base: gates are set by a list of names and values", "[base]") {
  FeatureGates gates = Known();

  REQUIRE(gates.Set(" Alpha = true ,,Beta=F").ok());

  CHECK(gates.Enabled("Alpha"));
  CHECK_FALSE(gates.Enabled("Beta"));
}

TEST_CASE("base: a bad list of gates is refused in Kubernetes' words and changes nothing",
          "[base]") {
  struct Row {
    const char* text;
    const char* message;
  };
  const auto row = GENERATE(values<Row>({
      {"Alpha=true,Nobody=true", "unrecognized feature gate: Nobody"},
      {"Alpha=true,Beta", "missing bool value for Beta"},
      {"Alpha=true,Beta=maybe",
       R"(invalid value of Beta=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax)"},
      {"Alpha=true,Locked=false",
       "cannot set feature gate Locked to false, feature is locked to true"},
  }));
  FeatureGates gates = Known();

  const Status status = gates.Set(row.text);

  CHECK(status == Status(Reason::kBadRequest, row.message));
  CHECK_FALSE(gates.Enabled("Alpha"));
}

TEST_CASE("base: a locked gate may be set to what it is", "[base]") {
  FeatureGates gates = Known();

  CHECK(gates.Set("Locked=true").ok());
}

TEST_CASE("base: AllAlpha and AllBeta set what nobody sets by name", "[base]") {
  FeatureGates gates = Known();

  REQUIRE(gates.Set("AllAlpha=true,AlsoAlpha=false,AllBeta=false").ok());

  CHECK(gates.Enabled("Alpha"));
  CHECK_FALSE(gates.Enabled("AlsoAlpha"));
  CHECK_FALSE(gates.Enabled("Beta"));
  CHECK(gates.Enabled("Locked"));
  CHECK_FALSE(gates.Enabled("Old"));
}

TEST_CASE("base: a gate may be added twice alike, not differently", "[base]") {
  FeatureGates gates = Known();

  CHECK(gates.Add({{"Beta", true, Stage::kBeta}}).ok());
  CHECK(gates.Add({{"Beta", false, Stage::kBeta}}) ==
        Status(Reason::kInternalError, "feature gate \"Beta\" with different spec already exists"));
}

TEST_CASE("base: the help lists what may still be switched", "[base]") {
  CHECK(Known().Help() == std::vector<std::string>{"AllAlpha=true|false (ALPHA - default=false)",
                                                   "AllBeta=true|false (BETA - default=false)",
                                                   "Alpha=true|false (ALPHA - default=false)",
                                                   "AlsoAlpha=true|false (ALPHA - default=false)",
                                                   "Beta=true|false (BETA - default=true)"});
  CHECK(Known().All().size() == 5);
}

}  // namespace
}  // namespace apiserver::inline v0
