#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/server/install.h"

// The kind APIService of apiregistration.k8s.io/v1, as of Kubernetes 1.35:
// k8s.io/kube-aggregator/pkg/apis/apiregistration.
namespace apiserver::inline v0::aggregator {

// The type of the condition that says whether a server answers.
inline constexpr std::string_view kAvailable = "Available";

// Returns the kind, the same one for each call. Its objects read as JSON does:
// object["spec"]["groupPriorityMinimum"].
runtime::KindPtr APIServiceKind();

// Returns the resource apiservices with its strategies and columns. `clock` must outlive it.
server::Resource APIServiceResource(const Clock& clock = RealClock());

// A condition to be set.
struct Condition {
  std::string type;
  std::string status;  // "True", "False" or "Unknown".
  std::string reason = {};
  std::string message = {};
};

// Returns the condition of an APIService that this server serves itself.
Condition LocalAvailableCondition();

// Returns the condition of a type. Null: there is none.
runtime::Value FindCondition(const runtime::Object& api_service, std::string_view type);
// Tells if there is a condition of the type, and it is True.
bool IsConditionTrue(const runtime::Object& api_service, std::string_view type);
// Sets a condition, in place of that of the same type or behind all others. The time of its last
// transition becomes `now` if the status differs.
void SetCondition(runtime::Object& api_service, const Condition& condition,
                  std::chrono::system_clock::time_point now);

}  // namespace apiserver::inline v0::aggregator
