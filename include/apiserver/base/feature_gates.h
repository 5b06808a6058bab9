#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"

namespace apiserver::inline v0 {

// A feature that can be switched on or off.
struct FeatureGate {
  // The maturity of a feature, as in Kubernetes.
  enum class Stage : std::uint8_t { kAlpha, kBeta, kGa, kDeprecated };

  std::string name;  // "WatchList".
  bool enabled_by_default = false;
  Stage stage = Stage::kAlpha;
  bool locked = false;  // May only be set to its default.
};

// Returns "ALPHA", "BETA", "" for GA, "DEPRECATED": the words of Kubernetes' help texts and
// metrics.
std::string_view StageWord(FeatureGate::Stage stage);

// The feature gates of one server, as Kubernetes' --feature-gates. Call Add and Set first, then
// share it: the const methods may be called from any thread, but not beside the others.
class FeatureGates final {
 public:
  // Starts with AllAlpha and AllBeta.
  FeatureGates();

  // Adds switches. kInternalError: one is known already with another default, stage or lock.
  Status Add(const std::vector<FeatureGate>& gates);
  // Sets switches, as "A=true,B=false". An error changes nothing. AllAlpha and AllBeta set the
  // switches of their stage that are not set by name.
  Status Set(std::string_view text);
  Status Set(const std::map<std::string, bool>& values);

  // Reports whether a gate is on; false for one that was not added.
  bool Enabled(std::string_view name) const;
  // Returns the known gates by name, without AllAlpha and AllBeta.
  std::vector<FeatureGate> All() const;
  // Returns the lines for a flag's help: "WatchList=true|false (BETA - default=true)", sorted,
  // without gates that are GA or deprecated.
  std::vector<std::string> Help() const;

 private:
  struct Known {
    FeatureGate gate;
    bool enabled = false;
    bool set_by_name = false;
  };
  void SetStage(FeatureGate::Stage stage, bool enabled);

  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace apiserver::inline v0
