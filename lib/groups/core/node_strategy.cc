#include "groups/core/node_strategy.h"

#include <string>
#include <vector>

#include "apiserver/rest/status.h"
#include "groups/core/node_validation.h"
#include "groups/core/pod_defaults.h"
#include "groups/map_edit.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Object;
using runtime::Value;
using Warnings = std::vector<std::string>;

Warnings WarningsOfNode(const Object& node) {
  Warnings warnings;
  if (!node["spec"]["configSource"].is_null()) {
    warnings.emplace_back("spec.configSource: the feature is removed");
  }
  if (node["spec"]["externalID"].size() != 0) {
    warnings.emplace_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  }
  return warnings;
}

class NodeStrategy : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  bool AllowUnconditionalUpdate() const override { return true; }

  // A kubelet registers its node with its status. What is off by default is dropped.
  void PrepareForCreate(const Context& /*ctx*/, Object& node) const override {
    node.Erase("spec", "configSource");
    node.Erase("status", "config");
    node.Erase("status", "declaredFeatures");
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& node, const Object& old) const override {
    rest::KeepStatus(node, old);
    if (old["spec"]["configSource"].is_null()) node.Erase("spec", "configSource");
  }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& node) const override {
    return ValidateNode(node);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& node,
                                  const Object& old) const override {
    field::ErrorList errors = ValidateNode(node);
    errors.Append(ValidateNodeUpdate(node, old));
    return errors;
  }
  Warnings WarningsOnCreate(const Context& /*ctx*/, const Object& node) const override {
    return WarningsOfNode(node);
  }
  Warnings WarningsOnUpdate(const Context& /*ctx*/, const Object& node,
                            const Object& /*old*/) const override {
    return WarningsOfNode(node);
  }
  rest::ResetFields GetResetFields() const override { return {{"v1", {{"status"}}}}; }
};

class NodeStatusStrategy final : public NodeStrategy {
 public:
  void PrepareForUpdate(const Context& /*ctx*/, Object& node, const Object& old) const override {
    if (!(node["spec"] == old["spec"])) node.Edit("spec") = old["spec"];
    if (old["status"]["config"].is_null()) node.Erase("status", "config");
    if (old["status"]["declaredFeatures"].is_null()) node.Erase("status", "declaredFeatures");
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& node,
                                  const Object& old) const override {
    return ValidateNodeUpdate(node, old);
  }
  Warnings WarningsOnUpdate(const Context& /*ctx*/, const Object& /*node*/,
                            const Object& /*old*/) const override {
    return {};
  }
  rest::ResetFields GetResetFields() const override { return {{"v1", {{"spec"}}}}; }
};

// podCIDR is the first of podCIDRs; a podCIDR that differs takes the place of all of them.
void UnitePodCidrs(MapEdit& spec) {
  const Value cidr = spec["podCIDR"];
  const Value first = spec["podCIDRs"].at(0);
  if (cidr.size() == 0) {
    if (first.size() != 0) spec.Set("podCIDR", first);
    return;
  }
  if (first == cidr) return;
  runtime::ListBuilder list(spec.arena());
  list.Add(cidr);
  spec.Set("podCIDRs", list.Build());
}

}  // namespace

void SetNodeDefaults(Object& node) {
  MapEdit root(node.root(), node.arena());
  root.Member("spec", UnitePodCidrs);
  root.Member("status", [](MapEdit& status) {
    if (!status["capacity"].is_null()) status.Default("allocatable", status["capacity"]);
    status.Member("capacity", RoundUpResources);
    status.Member("allocatable", RoundUpResources);
  });
  if (root.changed()) node.SetRoot(root.Build());
}

std::shared_ptr<const rest::Strategy> NewNodeStrategy() { return std::make_shared<NodeStrategy>(); }

std::shared_ptr<const rest::Strategy> NewNodeStatusStrategy() {
  return std::make_shared<NodeStatusStrategy>();
}

}  // namespace apiserver::v0::groups::core
