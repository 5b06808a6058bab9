#include "aggregator/kind/validation.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/validation.h"
#include "text/base64.h"

namespace apiserver::v0::aggregator {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr std::int64_t kGroupPriorityMax = 20'000;
constexpr std::int64_t kVersionPriorityMax = 1'000;
constexpr std::int64_t kPortMax = 65'535;

std::size_t BytesIn(const Value& value) {
  if (value.type() == Value::Type::kBytes) return value.AsString().size();
  return text::DecodeBase64(value.AsString()).value_or("").size();
}

// The texts say "less than" of bounds that are allowed, as upstream's do.
void CheckPriority(const Value& priority, std::int64_t max, const Path& path, ErrorList& errors) {
  const std::int64_t number = priority.AsInt();
  if (number > 0 && number <= max) return;
  errors.InvalidPrinted(path, std::to_string(number),
                        "must be positive and less than " + std::to_string(max));
}

void CheckLocal(const Value& spec, ErrorList& errors) {
  if (const std::size_t bytes = BytesIn(spec["caBundle"]); bytes != 0) {
    errors.Invalid(Path("spec.caBundle"), std::to_string(bytes) + " bytes",
                   "local APIServices may not have a caBundle");
  }
  if (spec["insecureSkipTLSVerify"].AsBool()) {
    errors.InvalidPrinted(Path("spec.insecureSkipTLSVerify"), "true",
                          "local APIServices may not have insecureSkipTLSVerify");
  }
}

void CheckService(const Value& spec, ErrorList& errors) {
  const Value service = spec["service"];
  const Path path("spec.service");
  if (service["namespace"].size() == 0) errors.Required(path.Child("namespace"));
  if (service["name"].size() == 0) errors.Required(path.Child("name"));
  const std::int64_t port = service["port"].AsInt();
  if (port < 1 || port > kPortMax) {
    errors.InvalidPrinted(path.Child("port"), std::to_string(port),
                          "port is not valid: must be between 1 and 65535, inclusive");
  }
  if (spec["insecureSkipTLSVerify"].AsBool() && BytesIn(spec["caBundle"]) != 0) {
    errors.InvalidPrinted(Path("spec.insecureSkipTLSVerify"), "true",
                          "may not be true if caBundle is present");
  }
}

}  // namespace

ErrorList ValidateAPIService(const Object& api_service) {
  const Value spec = api_service["spec"];
  const std::string_view group = spec["group"].AsString();
  const std::string_view version = spec["version"].AsString();
  const std::string required = std::string(version) + "." + std::string(group);
  const auto check_name = [&required](std::string_view name, bool /*prefix*/) {
    meta::Complaints complaints = meta::IsPathSegmentName(name);
    if (complaints.empty() && name != required) {
      complaints.push_back("must be `spec.version+\".\"+spec.group`: " +
                           field::QuoteShort(required));
    }
    return complaints;
  };
  ErrorList errors = meta::ValidateObjectMeta(api_service.metadata(), /*namespaced=*/false,
                                              check_name, Path("metadata"));
  if (group.empty() && version != "v1") {
    errors.Required(Path("spec.group"),
                    "only v1 may have an empty group and it better be legacy kube");
  }
  if (!group.empty()) {
    for (std::string& complaint : meta::IsDNS1123Subdomain(group)) {
      errors.Invalid(Path("spec.group"), group, std::move(complaint));
    }
  }
  for (std::string& complaint : meta::IsDNS1035Label(version)) {
    errors.Invalid(Path("spec.version"), version, std::move(complaint));
  }
  CheckPriority(spec["groupPriorityMinimum"], kGroupPriorityMax, Path("spec.groupPriorityMinimum"),
                errors);
  CheckPriority(spec["versionPriority"], kVersionPriorityMax, Path("spec.versionPriority"), errors);
  if (spec["service"].is_null()) {
    CheckLocal(spec, errors);
  } else {
    CheckService(spec, errors);
  }
  return errors;
}

ErrorList ValidateAPIServiceUpdate(const Object& api_service, const Object& old) {
  ErrorList errors =
      meta::ValidateObjectMetaUpdate(api_service.metadata(), old.metadata(), Path("metadata"));
  errors.Append(ValidateAPIService(api_service));
  return errors;
}

ErrorList ValidateAPIServiceStatusUpdate(const Object& api_service, const Object& old) {
  ErrorList errors =
      meta::ValidateObjectMetaUpdate(api_service.metadata(), old.metadata(), Path("metadata"));
  const Value conditions = api_service["status"]["conditions"];
  for (std::size_t i = 0; i < conditions.size() && !errors.full(); ++i) {
    const std::string_view status = conditions.at(i)["status"].AsString();
    if (status == "True" || status == "False" || status == "Unknown") continue;
    errors.NotSupported(Path("status.conditions").Index(i).Child("status"), status,
                        {"True", "False", "Unknown"});
  }
  return errors;
}

}  // namespace apiserver::v0::aggregator
