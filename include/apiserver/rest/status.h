#pragma once

#include <memory>

#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// What strategies of resources with a status subresource have in common: the resource keeps the
// status it has, its status subresource keeps everything else.
namespace apiserver::inline v0::rest {

// For PrepareForUpdate of the resource: `object` gets the status of `old`, or none.
void KeepStatus(runtime::Object& object, const runtime::Object& old);

// For PrepareForUpdate of the status subresource: `object` becomes `old` but for its own status (or
// none) and managedFields. The resourceVersion has been compared by then. statusStrategy of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
void KeepAllButStatus(runtime::Object& object, const runtime::Object& old);

// For GetResetFields of the two: the status in every version of `kind`, and all but the status.
ResetFields StatusFields(const runtime::Kind& kind);
ResetFields AllButStatusFields(const runtime::Kind& kind);

// The same of metadata alone, for status strategies that keep the rest their own way: labels,
// annotations, finalizers, ownerReferences, generation, deletionTimestamp and selfLink become those
// of `old`. k8s.io/apimachinery/pkg/apis/meta/v1.ResetObjectMetaForStatus.
void ResetObjectMetaForStatus(runtime::Object& object, const runtime::Object& old);

// The strategy that most status subresources of `kind` need: KeepAllButStatus (and its reset
// fields), then `main`'s ValidateUpdate, warnings and Canonicalize. Never creates.
std::shared_ptr<const Strategy> NewStatusStrategy(std::shared_ptr<const Strategy> main,
                                                  const runtime::KindPtr& kind);

}  // namespace apiserver::inline v0::rest
