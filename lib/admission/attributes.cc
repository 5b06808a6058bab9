#include <algorithm>
#include <utility>

#include "apiserver/admission/admission.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"

namespace apiserver::v0::admission {

namespace {

Status Refused(std::string why) { return {Reason::kInvalid, std::move(why)}; }

// Checks as checkKeyFormat of attributes.go does.
Status CheckAnnotationKey(std::string_view key) {
  if (std::ranges::count(key, '/') != 1) {
    return Refused(
        "annotation key has invalid format, the right format is a DNS subdomain prefix and '/' and "
        "key name. (e.g. 'podsecuritypolicy.admission.k8s.io/admit-policy')");
  }
  const meta::Complaints complaints = meta::IsQualifiedName(key);
  if (complaints.empty()) return {};
  std::string all;
  for (const std::string& complaint : complaints) all += (all.empty() ? "" : ",") + complaint;
  return Refused("annotation key has invalid format " + all +
                 ". A qualified name like 'podsecuritypolicy.admission.k8s.io/admit-policy' is "
                 "required.");
}

// Returns the object's name in errors, as Go's extractResourceName does.
std::string ErrorName(const Attributes& attributes) {
  if (!attributes.name.empty()) return attributes.name;
  if (attributes.object == nullptr) return "Unknown";
  // The object's own name: a create may leave it out of the path.
  if (!attributes.object->name().empty()) return std::string(attributes.object->name());
  const std::string_view generate_name = attributes.object->generate_name();
  return generate_name.empty() ? "Unknown" : std::string(generate_name);
}

}  // namespace

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "CREATE";
    case Operation::kUpdate:
      return "UPDATE";
    case Operation::kDelete:
      return "DELETE";
    case Operation::kConnect:
      return "CONNECT";
  }
  return "";
}

// Any thread. An error is for the plugin's log; no request is refused for it.
Status Annotations::Add(std::string_view key, std::string_view value, audit::Level level) {
  if (Status status = CheckAnnotationKey(key); !status.ok()) return status;
  if (level < audit::Level::kMetadata) {
    return Refused(
        "admission annotations are not allowed to be set at audit level lower than Metadata, "
        "key: " +
        field::Quote(key) + ", level: " + std::string(audit::LevelWord(level)));
  }
  Annotation annotation{std::string(key), std::string(value), level};
  auto annotations = annotations_.Lock();
  const auto [at, added] = annotations->try_emplace(annotation.key, annotation);
  // Two plugins may agree, and a plugin that runs twice repeats itself.
  if (added || at->second == annotation) return {};
  return Refused(
      "admission annotations are not allowed to be overwritten, key:" + field::Quote(key) +
      ", old value: " + at->second.value + ", new value: " + annotation.value);
}

std::vector<Annotation> Annotations::All() const {
  std::vector<Annotation> all;
  const auto annotations = annotations_.Lock();
  for (const auto& [key, annotation] : *annotations) all.push_back(annotation);
  return all;
}

// One request has one Reinvocation, so no lock is needed.
Reinvocation::State* Reinvocation::Find(std::string_view plugin) const {
  const auto at = states_.find(plugin);
  return at == states_.end() ? nullptr : at->second.get();
}

Reinvocation::State& Reinvocation::Set(std::string_view plugin, std::unique_ptr<State> state) {
  auto& kept = states_[std::string(plugin)];
  kept = std::move(state);
  return *kept;
}

Status NewForbidden(const Attributes& attributes, std::string_view why) {
  return meta::NewForbidden(attributes.resource.group_resource(), ErrorName(attributes), why);
}

Status NewNotFound(const Attributes& attributes) {
  return meta::NewNotFound(attributes.resource.group_resource(), ErrorName(attributes));
}

}  // namespace apiserver::v0::admission
