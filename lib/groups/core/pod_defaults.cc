#include "groups/core/pod_defaults.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/runtime/quantity.h"
#include "groups/core/image_reference.h"
#include "groups/core/resource_list.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Arena;
using runtime::Value;

constexpr std::int64_t kFileMode = 0644;
constexpr std::int64_t kGracePeriodSeconds = 30;
constexpr std::int64_t kTokenSeconds = 3600;
constexpr int kMilliScale = -3;
constexpr std::array<const char*, 3> kContainerLists = {"containers", "initContainers",
                                                        "ephemeralContainers"};
// Sources of volumes whose files have a mode.
constexpr std::array<const char*, 4> kFileSources = {"secret", "configMap", "downwardAPI",
                                                     "projected"};
constexpr std::array<const char*, 4> kInitAnnotations = {
    "pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses"};

std::string_view PullPolicyOf(std::string_view image) {
  return ImageTag(image) == "latest" ? "Always" : "IfNotPresent";
}

// Reports whether a canonical quantity may be finer than a thousandth.
bool IsFine(std::string_view quantity) {
  return quantity.ends_with('n') || quantity.ends_with('u') ||
         quantity.find("e-") != std::string_view::npos;
}

void DefaultResources(MapEdit& owner, const char* key = "resources") {
  owner.Member(key, [](MapEdit& resources) {
    resources.Member("limits", RoundUpResources);
    resources.Member("requests", RoundUpResources);
  });
}

void DefaultHandler(MapEdit& handler) {
  handler.Member("httpGet", [](MapEdit& get) {
    get.DefaultText("path", "/");
    get.DefaultText("scheme", "HTTP");
  });
}

void DefaultProbe(MapEdit& probe) {
  DefaultHandler(probe);
  probe.DefaultNumber("timeoutSeconds", 1);
  probe.DefaultNumber("periodSeconds", 10);
  probe.DefaultNumber("successThreshold", 1);
  probe.DefaultNumber("failureThreshold", 3);
}

void DefaultFieldRef(MapEdit& owner) {
  owner.Member("fieldRef", [](MapEdit& ref) { ref.DefaultText("apiVersion", "v1"); });
}

void DefaultContainer(MapEdit& container) {
  container.DefaultText("imagePullPolicy", PullPolicyOf(container["image"].AsString()));
  container.DefaultText("terminationMessagePath", "/dev/termination-log");
  container.DefaultText("terminationMessagePolicy", "File");
  container.Items("env", [](MapEdit& variable) { variable.Member("valueFrom", DefaultFieldRef); });
  DefaultResources(container);
  for (const char* const probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    container.Member(probe, DefaultProbe);
  }
  container.Member("lifecycle", [](MapEdit& lifecycle) {
    lifecycle.Member("postStart", DefaultHandler);
    lifecycle.Member("preStop", DefaultHandler);
  });
}

void DefaultProjection(MapEdit& source) {
  source.Member("downwardAPI", [](MapEdit& files) { files.Items("items", DefaultFieldRef); });
  source.Member("serviceAccountToken", [](MapEdit& token) {
    token.Default("expirationSeconds", Value::Int(kTokenSeconds));
  });
}

void DefaultClaimTemplate(MapEdit& source) {
  source.Member("volumeClaimTemplate", [](MapEdit& claim) {
    claim.Member("spec", [](MapEdit& spec) {
      spec.Default("volumeMode", Value::String("Filesystem"));
      DefaultResources(spec);
    });
  });
}

void DefaultVolume(MapEdit& volume) {
  const Value present = volume.Build();
  if (present.size() == (present.Find("name") != nullptr ? 1 : 0)) {
    volume.Set("emptyDir", Value::Map({}));
    return;
  }
  for (const char* const source : kFileSources) {
    volume.Member(source,
                  [](MapEdit& files) { files.Default("defaultMode", Value::Int(kFileMode)); });
  }
  volume.Member("downwardAPI", [](MapEdit& files) { files.Items("items", DefaultFieldRef); });
  volume.Member("projected", [](MapEdit& files) { files.Items("sources", DefaultProjection); });
  volume.Member("hostPath", [](MapEdit& path) { path.Default("type", Value::String("")); });
  volume.Member("ephemeral", DefaultClaimTemplate);
  volume.Member("image", [](MapEdit& image) {
    image.DefaultText("pullPolicy", PullPolicyOf(image["reference"].AsString()));
  });
}

// Sets requests that are missing to the limits.
void RequestLimits(MapEdit& container) {
  container.Member("resources", [](MapEdit& resources) {
    MapEdit requests(resources["requests"], resources.arena());
    for (const runtime::Member& limit : resources["limits"].members()) {
      requests.Default(limit.key, limit.value);
    }
    if (requests.changed()) resources.Set("requests", requests.Build());
  });
}

Value TextOf(const runtime::Quantity& quantity, Arena& arena) {
  return Value::String(arena.Copy(quantity.ToString()));
}

// Follows defaultHugePagePodLimits.
void DefaultPodLimits(MapEdit& spec, MapEdit& resources) {
  if (resources["limits"].size() == 0 && resources["requests"].size() == 0) return;
  MapEdit limits(resources["limits"], spec.arena());
  for (const auto& [name, quantity] : AggregateResources(spec.Build(), "limits")) {
    if (!IsHugePages(name) || !resources["requests"][name].is_null()) continue;
    limits.Default(spec.arena().Copy(name), TextOf(quantity, spec.arena()));
  }
  if (limits.changed()) resources.Set("limits", limits.Build());
}

// Follows defaultPodRequests.
void DefaultPodRequests(MapEdit& spec, MapEdit& resources) {
  if (resources["limits"].size() == 0) return;
  MapEdit requests(resources["requests"], spec.arena());
  for (const auto& [name, quantity] : AggregateResources(spec.Build(), "requests")) {
    if (!IsPodLevelResource(name) || !IsOvercommitAllowed(name)) continue;
    requests.Default(spec.arena().Copy(name), TextOf(quantity, spec.arena()));
  }
  for (const runtime::Member& limit : resources["limits"].members()) {
    if (IsPodLevelResource(limit.key)) requests.Default(limit.key, limit.value);
  }
  if (requests.changed()) resources.Set("requests", requests.Build());
}

void DefaultHostPorts(MapEdit& container) {
  container.Items("ports", [](MapEdit& port) {
    port.DefaultNumber("hostPort", port["containerPort"].AsInt());
  });
}

// Follows SetDefaults_Pod, which runs before the defaults of the spec.
void DefaultPod(MapEdit& spec) {
  spec.Items("containers", RequestLimits);
  spec.Items("initContainers", RequestLimits);
  spec.Member("resources", [&spec](MapEdit& resources) {
    DefaultPodLimits(spec, resources);
    DefaultPodRequests(spec, resources);
  });
  spec.Default("enableServiceLinks", Value::Bool(true));
  if (spec["hostNetwork"].AsBool()) {
    spec.Items("containers", DefaultHostPorts);
    spec.Items("initContainers", DefaultHostPorts);
  }
  if (spec["terminationGracePeriodSeconds"].AsInt() < 0) {
    spec.Set("terminationGracePeriodSeconds", Value::Int(1));
  }
}

// podIP is the first of podIPs; a podIP that differs takes the place of all of them.
void UnitePodIps(MapEdit& status) {
  const Value ip = status["podIP"];
  const Value first = status["podIPs"].at(0)["ip"];
  if (ip.size() == 0) {
    if (first.size() != 0) status.Set("podIP", first);
    return;
  }
  if (status["podIPs"].size() != 0 && first == ip) return;
  runtime::MapBuilder address(status.arena());
  address.Add("ip", ip);
  runtime::ListBuilder list(status.arena());
  list.Add(address.Build());
  status.Set("podIPs", list.Build());
}

void DefaultStatus(MapEdit& status) {
  UnitePodIps(status);
  for (const char* const list :
       {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"}) {
    status.Items(list, [](MapEdit& container) {
      container.Member("allocatedResources", RoundUpResources);
      DefaultResources(container);
    });
  }
  status.Member("allocatedResources", RoundUpResources);
  DefaultResources(status);
}

void DropInitAnnotations(MapEdit& metadata) {
  metadata.Member("annotations", [](MapEdit& annotations) {
    for (const char* const key : kInitAnnotations) {
      if (!annotations[key].is_null()) annotations.Erase(key);
    }
  });
}

}  // namespace

void RoundUpResources(MapEdit& resources) {
  for (const runtime::Member& member : resources.Build().members()) {
    if (!IsFine(member.value.AsString())) continue;
    const auto quantity = runtime::Quantity::Parse(member.value.AsString());
    if (!quantity.ok()) continue;
    const runtime::Quantity rounded(quantity->MilliValue(), kMilliScale, quantity->format());
    resources.Set(member.key, TextOf(rounded, resources.arena()));
  }
}

void SetPodSpecDefaults(MapEdit& spec) {
  spec.DefaultText("dnsPolicy", "ClusterFirst");
  spec.DefaultText("restartPolicy", "Always");
  spec.Default("securityContext", Value::Map({}));
  spec.Default("terminationGracePeriodSeconds", Value::Int(kGracePeriodSeconds));
  spec.DefaultText("schedulerName", "default-scheduler");
  spec.Items("volumes", DefaultVolume);
  for (const char* const list : kContainerLists) spec.Items(list, DefaultContainer);
  spec.Member("overhead", RoundUpResources);
  DefaultResources(spec);
  // Two spellings of one field, of which the newer counts.
  if (spec["serviceAccountName"].size() == 0 && spec["serviceAccount"].size() != 0) {
    spec.Set("serviceAccountName", spec["serviceAccount"]);
  }
  if (!(spec["serviceAccountName"] == spec["serviceAccount"])) {
    spec.Set("serviceAccount", spec["serviceAccountName"]);
  }
}

void SetPodDefaults(runtime::Object& pod) {
  MapEdit root(pod.root(), pod.arena());
  root.Member("metadata", DropInitAnnotations);
  root.Member("spec", [](MapEdit& spec) {
    DefaultPod(spec);
    SetPodSpecDefaults(spec);
  });
  root.Member("status", DefaultStatus);
  if (root.changed()) pod.SetRoot(root.Build());
}

}  // namespace apiserver::v0::groups::core
