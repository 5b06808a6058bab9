#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/server/install.h"

// The kind CustomResourceDefinition of apiextensions.k8s.io/v1, as of Kubernetes 1.36.
namespace apiserver::inline v0::apiextensions {

// The finalizer that keeps a definition until its objects are deleted.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// Types of conditions.
inline constexpr std::string_view kEstablished = "Established";
inline constexpr std::string_view kNamesAccepted = "NamesAccepted";
inline constexpr std::string_view kNonStructuralSchema = "NonStructuralSchema";
inline constexpr std::string_view kTerminating = "Terminating";
inline constexpr std::string_view kApiApproval = "KubernetesAPIApprovalPolicyConformant";

// Returns the kind, the same one for each call. Its objects read as JSON does:
// object["spec"]["names"]["plural"]. A schema, at spec.versions[].schema.openAPIV3Schema, has the
// members of JSONSchemaProps alone, none of them zero or null.
runtime::KindPtr DefinitionKind();

// Returns the resource customresourcedefinitions with its strategies and columns.
server::Resource DefinitionResource();

// Returns the version `name` of a definition, as it is in spec.versions. Null: there is none.
runtime::Value FindVersion(const runtime::Object& definition, std::string_view name);
// Returns the name of the storage version. Empty: there is none.
std::string_view StorageVersionOf(const runtime::Object& definition);
// Returns the schema of an entry of spec.versions. Null: it has none.
runtime::Value SchemaOf(const runtime::Value& version);

// A condition to be set.
struct Condition {
  std::string_view type;
  bool status = false;
  std::string_view reason;
  std::string_view message;
  bool unknown = false;  // The status is Unknown, whatever `status` says.

  // Returns the status as objects have it.
  std::string_view status_text() const { return unknown ? "Unknown" : status ? "True" : "False"; }
};

// Returns the condition of a type. Null: there is none.
runtime::Value FindCondition(const runtime::Object& definition, std::string_view type);
// Tells if there is a condition of the type, and it is True.
bool IsConditionTrue(const runtime::Object& definition, std::string_view type);
// Sets a condition, in place of that of the same type or behind all others. The time of its last
// transition becomes `now` if the status differs.
void SetCondition(runtime::Object& definition, const Condition& condition,
                  std::chrono::system_clock::time_point now);
// Removes a condition if it is there.
void RemoveCondition(runtime::Object& definition, std::string_view type);

// The states of the annotation api-approved.kubernetes.io.
enum class ApiApproval : std::uint8_t { kInvalid, kApproved, kBypassed, kMissing };

// Tells if a group belongs to Kubernetes, so that its definitions must be approved: k8s.io,
// kubernetes.io and all below them.
bool IsProtectedGroup(std::string_view group);
// Returns the state of a definition's annotation. `reason` becomes Kubernetes' text about it.
ApiApproval ApiApprovalOf(const runtime::Object& definition, std::string& reason);

}  // namespace apiserver::inline v0::apiextensions
