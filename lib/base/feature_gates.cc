#include "apiserver/base/feature_gates.h"

#include <functional>

#include "apiserver/base/field_path.h"
#include "text/bool.h"

namespace apiserver::v0 {
namespace {

using Stage = FeatureGate::Stage;

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view Word(bool value) { return value ? "true" : "false"; }

Status Bad(std::string message) { return {Reason::kBadRequest, std::move(message)}; }

bool IsStageSwitch(std::string_view name) { return name == kAllAlpha || name == kAllBeta; }

}  // namespace

std::string_view StageWord(Stage stage) {
  switch (stage) {
    case Stage::kAlpha:
      return "ALPHA";
    case Stage::kBeta:
      return "BETA";
    case Stage::kGa:
      return "";
    case Stage::kDeprecated:
      return "DEPRECATED";
  }
  return "";
}

// AllAlpha and AllBeta are gates of their own, off by default, as in component-base.
FeatureGates::FeatureGates() {
  for (const auto& [name, stage] :
       {std::pair(kAllAlpha, Stage::kAlpha), std::pair(kAllBeta, Stage::kBeta)}) {
    Known known;
    known.gate = {std::string(name), false, stage, false};
    known_.emplace(name, std::move(known));
  }
}

Status FeatureGates::Add(const std::vector<FeatureGate>& gates) {
  for (const FeatureGate& gate : gates) {
    const auto found = known_.find(gate.name);
    if (found == known_.end()) {
      known_.emplace(gate.name, Known{gate, gate.enabled_by_default, false});
      continue;
    }
    // Several parts of a server may add the same gate, as long as they agree.
    const FeatureGate& known = found->second.gate;
    if (known.enabled_by_default != gate.enabled_by_default || known.stage != gate.stage ||
        known.locked != gate.locked) {
      return {Reason::kInternalError,
              "feature gate " + field::Quote(gate.name) + " with different spec already exists"};
    }
  }
  return {};
}

// Parses the value of --feature-gates, "a=true,b=false", as featureGate.Set in component-base.
Status FeatureGates::Set(std::string_view text) {
  std::map<std::string, bool> values;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (item.empty()) continue;
    const auto equals = item.find('=');
    const std::string name(Trim(item.substr(0, equals)));
    if (equals == std::string_view::npos) return Bad("missing bool value for " + name);
    const std::string word(Trim(item.substr(equals + 1)));
    const auto value = text::ParseBool(word);
    if (!value) {
      std::string message = "invalid value of ";
      message.append(name).append("=").append(word);
      message.append(", err: strconv.ParseBool: parsing ").append(field::Quote(word));
      return Bad(std::move(message.append(": invalid syntax")));
    }
    values[name] = *value;
  }
  return Set(values);
}

Status FeatureGates::Set(const std::map<std::string, bool>& values) {
  // All values are checked before the first is set, so that an error changes nothing.
  for (const auto& [name, value] : values) {
    const auto found = known_.find(name);
    if (found == known_.end()) return Bad("unrecognized feature gate: " + name);
    const FeatureGate& gate = found->second.gate;
    if (!gate.locked || gate.enabled_by_default == value) continue;
    std::string message = "cannot set feature gate " + name + " to ";
    message += Word(value);
    message += ", feature is locked to ";
    message += Word(gate.enabled_by_default);
    return Bad(std::move(message));
  }
  for (const auto& [name, value] : values) {
    Known& known = known_.find(name)->second;
    known.enabled = value;
    known.set_by_name = true;
  }
  // After the gates by name, which the stages must not override.
  for (const auto& [name, value] : values) {
    if (name == kAllAlpha) SetStage(Stage::kAlpha, value);
    if (name == kAllBeta) SetStage(Stage::kBeta, value);
  }
  return {};
}

// Sets the gates of a stage. Those set by name win, wherever the flag names the stage.
void FeatureGates::SetStage(Stage stage, bool enabled) {
  for (auto& [name, known] : known_) {
    if (known.gate.stage != stage || known.set_by_name || known.gate.locked) continue;
    if (!IsStageSwitch(name)) known.enabled = enabled;
  }
}

bool FeatureGates::Enabled(std::string_view name) const {
  const auto found = known_.find(name);
  return found != known_.end() && found->second.enabled;
}

std::vector<FeatureGate> FeatureGates::All() const {
  std::vector<FeatureGate> out;
  for (const auto& [name, known] : known_) {
    if (!IsStageSwitch(name)) out.push_back(known.gate);
  }
  return out;
}

std::vector<std::string> FeatureGates::Help() const {
  std::vector<std::string> out;
  for (const auto& [name, known] : known_) {
    const FeatureGate& gate = known.gate;
    // A gate that users should no longer set is not shown, as in component-base.
    if (gate.stage == Stage::kGa || gate.stage == Stage::kDeprecated) continue;
    std::string line = name + "=true|false (";
    line += StageWord(gate.stage);
    line += " - default=";
    line += Word(gate.enabled_by_default);
    line += ')';
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace apiserver::v0
