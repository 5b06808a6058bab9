#pragma once

#include <memory>

#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// The common steps of strategies with a status subresource: an update of the resource keeps the
// stored status, an update of the subresource keeps everything else.
namespace apiserver::inline v0::rest {

// Gives `object` the status of `old`, or none; for PrepareForUpdate of the resource.
void KeepStatus(runtime::Object& object, const runtime::Object& old);

// Sets everything in `object` to `old` except status (which may be absent) and managedFields; for
// PrepareForUpdate of the status subresource. The resourceVersion has been compared by then.
// statusStrategy of k8s.io/apiextensions-apiserver/pkg/registry/customresource.
void KeepAllButStatus(runtime::Object& object, const runtime::Object& old);

// Return the reset fields of the resource (the status, in every version of `kind`) and of the
// status subresource (everything except the status).
ResetFields StatusFields(const runtime::Kind& kind);
ResetFields AllButStatusFields(const runtime::Kind& kind);

// Resets only metadata, for status strategies with their own rules for the rest: labels,
// annotations, finalizers, ownerReferences, generation, deletionTimestamp and selfLink become those
// of `old`. k8s.io/apimachinery/pkg/apis/meta/v1.ResetObjectMetaForStatus.
void ResetObjectMetaForStatus(runtime::Object& object, const runtime::Object& old);

// Makes the usual strategy of a status subresource of `kind`: KeepAllButStatus (and its reset
// fields), then `main`'s ValidateUpdate, warnings and Canonicalize. Never creates.
std::shared_ptr<const Strategy> NewStatusStrategy(std::shared_ptr<const Strategy> main,
                                                  const runtime::KindPtr& kind);

}  // namespace apiserver::inline v0::rest
