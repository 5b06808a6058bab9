#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/runtime/time.h"
#include "groups/columns.h"
#include "groups/core/pod_strategy.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Value;

// Follows isRestartableInitContainer: one that keeps running beside the containers.
bool KeepsRunning(Value container) { return container["restartPolicy"].AsString() == "Always"; }

bool HasTrueCondition(Value status, std::string_view type) {
  return std::ranges::any_of(status["conditions"].items(), [&](const Value& condition) {
    return condition["type"].AsString() == type && condition["status"].AsString() == "True";
  });
}

// Counts restarts, and finds when the last of them was.
struct Restarts {
  std::int64_t count = 0;
  Value last;  // A meta/v1 Time; null: not known.

  void Add(Value container) {
    count += container["restartCount"].AsInt();
    const Value finished = container["lastState"]["terminated"]["finishedAt"];
    // Times are written in one zone and to the second, so that their texts compare.
    if (finished.AsString() > last.AsString()) last = finished;
  }
};

// "Error", "Signal:9" or "ExitCode:1".
std::string WhyTerminated(Value terminated) {
  if (terminated["reason"].size() != 0) return std::string(terminated["reason"].AsString());
  if (const std::int64_t signal = terminated["signal"].AsInt(); signal != 0) {
    return "Signal:" + std::to_string(signal);
  }
  return "ExitCode:" + std::to_string(terminated["exitCode"].AsInt());
}

// The facts of a pod that printPod of pkg/printers/internalversion prints.
class PodSummary {
 public:
  explicit PodSummary(const runtime::Object& pod) : spec_(pod["spec"]), status_(pod["status"]) {
    const std::string_view phase = status_["phase"].AsString();
    reason_ = status_["reason"].size() != 0 ? status_["reason"].AsString() : phase;
    for (const Value& condition : status_["conditions"].items()) {
      const bool gated = condition["type"].AsString() == "PodScheduled" &&
                         condition["reason"].AsString() == "SchedulingGated";
      if (gated) reason_ = "SchedulingGated";
    }
    total_ =
        spec_["containers"].items().size() + static_cast<std::size_t>(std::ranges::count_if(
                                                 spec_["initContainers"].items(), KeepsRunning));
    if (!LookAtInitContainers() || HasTrueCondition(status_, "Initialized")) LookAtContainers();
    if (!pod.deleting()) return;
    if (status_["reason"].AsString() == "NodeLost") {
      reason_ = "Unknown";
    } else if (phase != "Failed" && phase != "Succeeded") {
      reason_ = "Terminating";
    }
  }

  const std::string& reason() const { return reason_; }
  std::string Ready() const { return std::to_string(ready_) + "/" + std::to_string(total_); }
  const Restarts& restarts() const { return restarts_; }

 private:
  // Returns the names of the init containers that keep running.
  std::set<std::string_view> KeptContainers() const {
    std::set<std::string_view> names;
    for (const Value& container : spec_["initContainers"].items()) {
      if (KeepsRunning(container)) names.insert(container["name"].AsString());
    }
    return names;
  }

  // Looks at the first init container that has not done its work. Returns true if there is one.
  bool LookAtInitContainers() {
    const std::set<std::string_view> kept = KeptContainers();
    std::size_t index = 0;
    for (const Value& container : status_["initContainerStatuses"].items()) {
      const bool keeps = kept.contains(container["name"].AsString());
      restarts_.Add(container);
      if (keeps) kept_restarts_.Add(container);
      const Value terminated = container["state"]["terminated"];
      const bool done = !terminated.is_null() && terminated["exitCode"].AsInt() == 0;
      const bool started = keeps && container["started"].AsBool();
      if (!done && !started) {
        reason_ = "Init:" + WhyWaiting(container, index);
        return true;
      }
      if (!done && container["ready"].AsBool()) ++ready_;
      ++index;
    }
    return false;
  }

  std::string WhyWaiting(Value container, std::size_t index) const {
    const Value terminated = container["state"]["terminated"];
    if (!terminated.is_null()) return WhyTerminated(terminated);
    const std::string_view waiting = container["state"]["waiting"]["reason"].AsString();
    if (!waiting.empty() && waiting != "PodInitializing") return std::string(waiting);
    return std::to_string(index) + "/" + std::to_string(spec_["initContainers"].items().size());
  }

  // Looks at the containers from the last to the first, of which the first one counts most.
  void LookAtContainers() {
    restarts_ = kept_restarts_;
    bool running = false;
    std::string error;
    const auto containers = status_["containerStatuses"].items();
    for (auto container = containers.rbegin(); container != containers.rend(); ++container) {
      restarts_.Add(*container);
      const Value state = (*container)["state"];
      if (state["waiting"]["reason"].size() != 0) {
        reason_ = state["waiting"]["reason"].AsString();
      } else if (const Value terminated = state["terminated"]; !terminated.is_null()) {
        reason_ = WhyTerminated(terminated);
        if (terminated["exitCode"].AsInt() != 0) error = reason_;
      } else if ((*container)["ready"].AsBool() && !state["running"].is_null()) {
        running = true;
        ++ready_;
      }
    }
    if (reason_ != "Completed") return;
    if (running && HasTrueCondition(status_, "Ready")) {
      reason_ = "Running";
    } else if (!error.empty()) {
      reason_ = error;
    } else if (running) {
      reason_ = "NotReady";
    }
  }

  const Value spec_;
  const Value status_;
  std::string reason_;
  std::size_t total_ = 0;
  std::size_t ready_ = 0;
  Restarts restarts_;
  Restarts kept_restarts_;  // Of init containers that keep running.
};

// "1/2": of how many readiness gates the condition is true.
std::string ReadinessGates(const runtime::Object& pod) {
  const Value gates = pod["spec"]["readinessGates"];
  if (gates.size() == 0) return "<none>";
  std::size_t met = 0;
  for (const Value& gate : gates.items()) {
    for (const Value& condition : pod["status"]["conditions"].items()) {
      if (condition["type"].AsString() != gate["conditionType"].AsString()) continue;
      if (condition["status"].AsString() == "True") ++met;
      break;  // Of several conditions of one type the first counts.
    }
  }
  return std::to_string(met) + "/" + std::to_string(gates.size());
}

void PrintPod(const runtime::Object& pod, Cells& cells) {
  const PodSummary summary(pod);
  const Restarts& restarts = summary.restarts();
  std::string restarted = std::to_string(restarts.count);
  if (restarts.count != 0 && restarts.last.size() != 0) {
    restarted += " (" + cells.Since(restarts.last) + " ago)";
  }
  cells.Text(pod.name()).Text(summary.Ready()).Text(summary.reason()).Text(restarted).Age(pod);
  const Value status = pod["status"];
  cells.TextOr(status["podIPs"].at(0)["ip"].AsString(), "<none>")
      .TextOr(pod["spec"]["nodeName"].AsString(), "<none>")
      .TextOr(status["nominatedNodeName"].AsString(), "<none>")
      .Text(ReadinessGates(pod));
  const std::string_view phase = status["phase"].AsString();
  if (phase == "Succeeded") {
    cells.Condition("Completed", phase, "The pod has completed successfully.");
  } else if (phase == "Failed") {
    cells.Condition("Completed", phase, "The pod failed.");
  }
}

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewPodColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("Ready", "How many of its containers are ready."),
       TextColumn("Status", "What its containers are doing."),
       TextColumn("Restarts", "How often containers were restarted, and when last."), AgeColumn(),
       TextColumn("IP", "Its address.", 1), TextColumn("Node", "The node that it is on.", 1),
       TextColumn("Nominated Node", "The node that is being cleared for it.", 1),
       TextColumn("Readiness Gates", "How many of its readiness gates are met.", 1)},
      &PrintPod, clock);
}

}  // namespace apiserver::v0::groups::core
