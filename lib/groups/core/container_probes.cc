#include <cstdint>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/container_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kRestartRulesMax = 20;
constexpr std::size_t kExitCodesMax = 255;

void CheckHttpGet(Value get, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, get, "path");
  CheckPortOrName(errors, path.Child("port"), get["port"]);
  CheckWord(errors, path.Child("scheme"), get["scheme"].AsString(), {"HTTP", "HTTPS"});
  for (const Value& header : get["httpHeaders"].items()) {
    const std::string_view name = header["name"].AsString();
    AddComplaints(errors, path.Child("httpHeaders"), name, IsHttpHeaderName(name));
  }
}

void CheckSleep(const PodScope& pod, Value sleep, const Path& path, ErrorList& errors) {
  const std::int64_t seconds = sleep["seconds"].AsInt();
  if (!pod.grace_seconds || (seconds >= 0 && seconds <= *pod.grace_seconds)) return;
  InvalidNumber(errors, path, seconds,
                "must be non-negative and less than terminationGracePeriodSeconds (" +
                    std::to_string(*pod.grace_seconds) + ")");
}

// Checks what one handler does; `type` is the name of the member.
void CheckAction(const PodScope& pod, std::string_view type, Value action, const Path& path,
                 ErrorList& errors) {
  if (type == "exec") {
    CheckPresent(errors, path, action, "command");
  } else if (type == "httpGet") {
    CheckHttpGet(action, path, errors);
  } else if (type == "sleep") {
    CheckSleep(pod, action, path, errors);
  } else {  // tcpSocket and grpc.
    CheckPortOrName(errors, path.Child("port"), action["port"]);
  }
}

// Follows validateHandler. Members that neither a probe nor a lifecycle has are not there.
void CheckHandler(const PodScope& pod, Value handler, const Path& path, ErrorList& errors) {
  bool found = false;
  for (const char* const type : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Value action = handler[type];
    if (action.is_null()) continue;
    if (found) {
      errors.Forbidden(path.Child(type), "may not specify more than 1 handler type");
    } else {
      CheckAction(pod, type, action, path.Child(type), errors);
    }
    found = true;
  }
  if (!found) errors.Required(path, "must specify a handler type");
}

void CheckProbe(const PodScope& pod, Value probe, const Path& path, ErrorList& errors) {
  CheckHandler(pod, probe, path, errors);
  for (const char* const number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                   "successThreshold", "failureThreshold"}) {
    if (probe[number].AsInt() < 0) {
      CheckNotNegative(errors, path.Child(number), probe[number].AsInt());
    }
  }
  const Value grace = probe["terminationGracePeriodSeconds"];
  if (!grace.is_null() && grace.AsInt() <= 0) {
    InvalidNumber(errors, path.Child("terminationGracePeriodSeconds"), grace.AsInt(),
                  "must be greater than 0");
  }
}

// Liveness and startup: one success is enough, and more have no meaning.
void CheckOneSuccess(Value probe, const Path& path, ErrorList& errors) {
  const std::int64_t successes = probe["successThreshold"].AsInt();
  if (successes == 1) return;
  InvalidNumber(errors, path.Child("successThreshold"), successes, "must be 1");
}

void CheckRestartRule(Value rule, const Path& path, ErrorList& errors) {
  CheckWord(errors, path.Child("action"), rule["action"].AsString(), {"Restart"});
  const Value codes = rule["exitCodes"];
  const Path at = path.Child("exitCodes");
  if (codes.is_null()) return errors.Required(at, "must be specified");
  CheckWord(errors, at.Child("operator"), codes["operator"].AsString(), {"In", "NotIn"});
  if (codes["values"].items().size() > kExitCodesMax) {
    errors.TooLong(at.Child("values"), static_cast<long>(kExitCodesMax));
  }
}

}  // namespace

void CheckLifecycle(const PodScope& pod, Value container, const Path& path, ErrorList& errors) {
  const Value lifecycle = container["lifecycle"];
  for (const char* const hook : {"postStart", "preStop"}) {
    if (lifecycle[hook].is_null()) continue;
    CheckHandler(pod, lifecycle[hook], path.Child("lifecycle").Child(hook), errors);
  }
}

void CheckProbes(const PodScope& pod, Value container, const Path& path, ErrorList& errors) {
  if (const Value liveness = container["livenessProbe"]; !liveness.is_null()) {
    const Path at = path.Child("livenessProbe");
    CheckProbe(pod, liveness, at, errors);
    CheckOneSuccess(liveness, at, errors);
  }
  if (const Value readiness = container["readinessProbe"]; !readiness.is_null()) {
    const Path at = path.Child("readinessProbe");
    CheckProbe(pod, readiness, at, errors);
    const Value grace = readiness["terminationGracePeriodSeconds"];
    if (!grace.is_null()) {
      InvalidNumber(errors, at.Child("terminationGracePeriodSeconds"), grace.AsInt(),
                    "must not be set for readinessProbes");
    }
  }
  if (const Value startup = container["startupProbe"]; !startup.is_null()) {
    const Path at = path.Child("startupProbe");
    CheckProbe(pod, startup, at, errors);
    CheckOneSuccess(startup, at, errors);
  }
}

void CheckRestartRules(Value container, const Path& path, ErrorList& errors) {
  const Value policy = container["restartPolicy"];
  const Value rules = container["restartPolicyRules"];
  if (policy.is_null()) {
    if (rules.size() == 0) return;
    errors.Required(path.Child("restartPolicy"),
                    "must specify restartPolicy when restart rules are used");
  } else {
    CheckWord(errors, path.Child("restartPolicy"), policy.AsString(),
              {"Always", "Never", "OnFailure"});
  }
  const Path at = path.Child("restartPolicyRules");
  if (rules.items().size() > kRestartRulesMax) {
    errors.TooLong(at, static_cast<long>(kRestartRulesMax));
  }
  std::size_t i = 0;
  for (const Value& rule : rules.items()) CheckRestartRule(rule, at.Index(i++), errors);
}

}  // namespace apiserver::v0::groups::core
