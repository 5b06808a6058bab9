#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/runtime/quantity.h"
#include "groups/core/checks.h"
#include "groups/core/container_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::string_view kSizes =
    "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported "
    "with the ";
constexpr std::array<std::string_view, 13> kSizeDivisors = {
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};

// A path with a key: "metadata.labels['app']".
struct Subscripted {
  std::string_view path;
  std::string_view subscript;
};

// Follows SplitMaybeSubscriptedPath.
std::optional<Subscripted> SplitSubscript(std::string_view text) {
  if (!text.ends_with("']")) return std::nullopt;
  text.remove_suffix(2);
  const std::size_t bracket = text.find("['");
  if (bracket == std::string_view::npos || bracket == 0) return std::nullopt;
  return Subscripted{text.substr(0, bracket), text.substr(bracket + 2)};
}

bool IsPodField(std::string_view label) {
  return IsOneOf(label,
                 {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
                  "metadata.uid", "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName",
                  "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs",
                  "status.podIP", "status.podIPs", "spec.host"});
}

// Follows ConvertDownwardAPIFieldLabel. Returns why the field cannot be meant; empty: it can.
std::string WhyNoPodField(std::string_view version, std::string_view label) {
  if (version != "v1") return "unsupported pod version: " + std::string(version);
  if (const auto split = SplitSubscript(label)) {
    if (IsOneOf(split->path, {"metadata.annotations", "metadata.labels"})) return "";
    return "field label does not support subscript: " + std::string(label);
  }
  return IsPodField(label) ? "" : "field label not supported: " + std::string(label);
}

void CheckDivisor(Value ref, const Path& path, ErrorList& errors) {
  const auto divisor = runtime::Quantity::Parse(ref["divisor"].AsString());
  if (ref["divisor"].is_null() || !divisor.ok() || divisor->is_zero()) return;
  const std::string_view resource = ref["resource"].AsString();
  const std::string text = divisor->ToString();
  const bool size = std::ranges::find(kSizeDivisors, text) != kSizeDivisors.end();
  const auto refuse = [&](const std::string& why) {
    errors.Invalid(path.Child("divisor"), resource, why);
  };
  if (IsOneOf(resource, {"limits.cpu", "requests.cpu"})) {
    if (text == "1m" || text == "1") return;
    return refuse("only divisor's values 1m and 1 are supported with the cpu resource");
  }
  if (size) return;
  if (IsOneOf(resource, {"limits.memory", "requests.memory"})) {
    refuse(std::string(kSizes) + "memory resource");
  } else if (IsOneOf(resource, {"limits.ephemeral-storage", "requests.ephemeral-storage"})) {
    refuse(std::string(kSizes) + "local ephemeral storage resource");
  } else if (resource.starts_with("requests.hugepages-") ||
             resource.starts_with("limits.hugepages-")) {
    refuse(std::string(kSizes) + "hugepages resource");
  }
}

// A reference to a key of a ConfigMap or Secret.
void CheckKeyRef(Value ref, const Path& path, ErrorList& errors) {
  CheckDnsSubdomain(errors, path.Child("name"), ref["name"].AsString());
  if (CheckPresent(errors, path, ref, "key")) {
    const std::string_view key = ref["key"].AsString();
    AddComplaints(errors, path.Child("key"), key, IsConfigMapKey(key));
  }
}

void CheckFileKeyRef(Value ref, const Path& path, ErrorList& errors) {
  if (CheckPresent(errors, path, ref, "key")) {
    const std::string_view key = ref["key"].AsString();
    AddComplaints(errors, path.Child("key"), key, IsRelaxedEnvVarName(key));
  }
  if (CheckPresent(errors, path, ref, "volumeName")) {
    CheckDnsLabel(errors, path.Child("volumeName"), ref["volumeName"].AsString());
  }
  if (CheckPresent(errors, path, ref, "path")) {
    CheckNoBacksteps(errors, path.Child("path"), ref["path"].AsString());
  }
}

// Calls `check` for a source that is there. Returns how many are.
template <class Check>
int CheckSource(Value owner, const char* key, const Path& path, ErrorList& errors, Check check) {
  if (owner[key].is_null()) return 0;
  check(owner[key], path.Child(key), errors);
  return 1;
}

void CheckValueFrom(Value variable, const Path& path, ErrorList& errors) {
  const Value from = variable["valueFrom"];
  const auto field_ref = [](Value ref, const Path& at, ErrorList& into) {
    CheckFieldRef(ref, false, at, into);
  };
  const auto resource_ref = [](Value ref, const Path& at, ErrorList& into) {
    CheckResourceFieldRef(ref, false, at, into);
  };
  const int sources = CheckSource(from, "fieldRef", path, errors, field_ref) +
                      CheckSource(from, "resourceFieldRef", path, errors, resource_ref) +
                      CheckSource(from, "configMapKeyRef", path, errors, CheckKeyRef) +
                      CheckSource(from, "secretKeyRef", path, errors, CheckKeyRef) +
                      CheckSource(from, "fileKeyRef", path, errors, CheckFileKeyRef);
  if (sources == 0) {
    errors.Invalid(path, "",
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                   "`secretKeyRef` or `fileKeyRef`");
  } else if (variable["value"].size() != 0) {
    errors.Invalid(path, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    errors.Invalid(path, "", "may not have more than one field specified at a time");
  }
}

// A source that names nothing, or two things, is a fault of the list, as upstream has it.
void CheckEnvFrom(Value source, const Path& list, std::size_t index, ErrorList& errors) {
  const Path path = list.Index(index);
  const std::string_view prefix = source["prefix"].AsString();
  if (!prefix.empty()) {
    AddComplaints(errors, path.Child("prefix"), prefix, IsRelaxedEnvVarName(prefix));
  }
  const auto check = [](Value ref, const Path& at, ErrorList& into) {
    if (!CheckPresent(into, at, ref, "name")) return;
    const std::string_view name = ref["name"].AsString();
    AddComplaints(into, at.Child("name"), name, meta::NameIsDNSSubdomain(name, true));
  };
  const int sources = CheckSource(source, "configMapRef", path, errors, check) +
                      CheckSource(source, "secretRef", path, errors, check);
  if (sources == 0) {
    errors.Invalid(list, "", "must specify one of: `configMapRef` or `secretRef`");
  } else if (sources > 1) {
    errors.Invalid(list, "", "may not have more than one field specified at a time");
  }
}

}  // namespace

void CheckFieldRef(Value ref, bool file, const Path& path, ErrorList& errors) {
  if (!CheckPresent(errors, path, ref, "apiVersion")) return;
  if (!CheckPresent(errors, path, ref, "fieldPath")) return;
  std::string_view label = ref["fieldPath"].AsString();
  if (const std::string why = WhyNoPodField(ref["apiVersion"].AsString(), label); !why.empty()) {
    return errors.Invalid(path.Child("fieldPath"), label, "error converting fieldPath: " + why);
  }
  if (const auto split = SplitSubscript(label)) {
    // Keys of annotations may have capitals, which are compared as if they were none.
    const bool label_key = split->path == "metadata.labels";
    return CheckQualifiedName(
        errors, path, label_key ? std::string(split->subscript) : LowerCase(split->subscript));
  }
  if (label == "spec.host") label = "spec.nodeName";
  if (file) {
    CheckWord(errors, path.Child("fieldPath"), label,
              {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
               "metadata.uid"});
    return;
  }
  CheckWord(errors, path.Child("fieldPath"), label,
            {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
             "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
             "status.podIPs"});
}

void CheckResourceFieldRef(Value ref, bool file, const Path& path, ErrorList& errors) {
  const std::string_view resource = ref["resource"].AsString();
  if (file && ref["containerName"].size() == 0) {
    errors.Required(path.Child("containerName"));
  } else if (resource.empty()) {
    errors.Required(path.Child("resource"));
  } else if (!resource.starts_with("requests.hugepages-") &&
             !resource.starts_with("limits.hugepages-")) {
    CheckWord(errors, path.Child("resource"), resource,
              {"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
               "requests.ephemeral-storage", "requests.memory"});
  }
  CheckDivisor(ref, path, errors);
}

void CheckEnvironment(Value container, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& variable : container["env"].items()) {
    if (errors.full()) return;
    const Path at = path.Child("env").Index(i++);
    if (CheckPresent(errors, at, variable, "name")) {
      const std::string_view name = variable["name"].AsString();
      AddComplaints(errors, at.Child("name"), name, IsRelaxedEnvVarName(name));
    }
    if (!variable["valueFrom"].is_null()) CheckValueFrom(variable, at.Child("valueFrom"), errors);
  }
  i = 0;
  for (const Value& source : container["envFrom"].items()) {
    if (errors.full()) return;
    CheckEnvFrom(source, path.Child("envFrom"), i++, errors);
  }
}

}  // namespace apiserver::v0::groups::core
