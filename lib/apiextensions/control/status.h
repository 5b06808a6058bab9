#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "apiextensions/control/name_index.h"
#include "apiextensions/control/structure.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/runtime/object.h"

// The changes that the controllers make to the status of a definition. Each returns whether it has
// changed anything.
namespace apiserver::inline v0::apiextensions {

using Now = std::chrono::system_clock::time_point;

// Sets a condition unless status, reason and message are these already.
bool SetIfOther(runtime::Object& definition, const Condition& condition, Now now);

// Sets the accepted names, NamesAccepted, and Established where it is not decided yet.
bool SetNames(runtime::Object& definition, const NameIndex::Verdict& verdict, Now now);
// Sets Established if the names are accepted: to False while the CA bundle of a conversion webhook
// is invalid.
bool SetEstablished(runtime::Object& definition, Now now);
// Sets NonStructuralSchema to what is wrong with the schemas, or removes it.
bool SetStructure(runtime::Object& definition, const Structure& structure, Now now);
// Sets KubernetesAPIApprovalPolicyConformant if the group is Kubernetes' own.
bool SetApproval(runtime::Object& definition, Now now);

// Prepares a definition for its deletion: the finalizer for its objects, and the condition
// Terminating.
void MarkForDeletion(runtime::Object& definition, Now now);
// Sets Terminating to what has become of the objects.
bool SetTerminating(runtime::Object& definition, bool status, std::string_view reason,
                    std::string_view message, Now now);
// Removes the finalizer for the objects.
bool RemoveCleanup(runtime::Object& definition);

}  // namespace apiserver::inline v0::apiextensions
