#include <set>
#include <string>
#include <string_view>

#include "groups/columns.h"
#include "groups/core/node_strategy.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Value;

// "Ready,SchedulingDisabled". Of several conditions of one type the last counts, as in a Go map.
std::string StatusOf(const runtime::Object& node) {
  std::string status = "Unknown";
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].AsString() != "Ready") continue;
    status = condition["status"].AsString() == "True" ? "Ready" : "NotReady";
  }
  if (node["spec"]["unschedulable"].AsBool()) status += ",SchedulingDisabled";
  return status;
}

// Follows findNodeRoles: labels node-role.kubernetes.io/<role>, and the one of before.
std::string RolesOf(const runtime::Object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string_view> roles;
  for (const runtime::Member& label : node.labels().members()) {
    if (label.key.starts_with(kPrefix)) {
      if (label.key.size() > kPrefix.size()) roles.insert(label.key.substr(kPrefix.size()));
    } else if (label.key == "kubernetes.io/role" && label.value.size() != 0) {
      roles.insert(label.value.AsString());
    }
  }
  std::string text;
  for (const std::string_view role : roles) text.append(text.empty() ? "" : ",").append(role);
  return text;
}

std::string_view AddressOf(const runtime::Object& node, std::string_view type) {
  for (const Value& address : node["status"]["addresses"].items()) {
    if (address["type"].AsString() == type) return address["address"].AsString();
  }
  return "<none>";
}

void PrintNode(const runtime::Object& node, Cells& cells) {
  const Value info = node["status"]["nodeInfo"];
  cells.Text(node.name())
      .Text(StatusOf(node))
      .TextOr(RolesOf(node), "<none>")
      .Age(node)
      .Text(info["kubeletVersion"].AsString())
      .Text(AddressOf(node, "InternalIP"))
      .Text(AddressOf(node, "ExternalIP"))
      .TextOr(info["osImage"].AsString(), "<unknown>")
      .TextOr(info["kernelVersion"].AsString(), "<unknown>")
      .TextOr(info["containerRuntimeVersion"].AsString(), "<unknown>");
}

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewNodeColumns(const Clock& clock) {
  return NewColumns({NameColumn(), TextColumn("Status", "Whether it can run pods."),
                     TextColumn("Roles", "What it is for."), AgeColumn(),
                     TextColumn("Version", "The version of its kubelet."),
                     TextColumn("Internal-IP", "Its address within the cluster.", 1),
                     TextColumn("External-IP", "Its address outside of the cluster.", 1),
                     TextColumn("OS-Image", "Its operating system.", 1),
                     TextColumn("Kernel-Version", "The version of its kernel.", 1),
                     TextColumn("Container-Runtime", "What runs its containers.", 1)},
                    &PrintNode, clock);
}

}  // namespace apiserver::v0::groups::core
