#pragma once

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Strategic merge patch: Kubernetes' merge patch that knows lists whose elements have keys, as
// k8s.io/apimachinery/pkg/util/strategicpatch applies it.
namespace apiserver::inline v0::patch {

// Limits of one patch.
struct StrategicMergePatchLimits {
  // The most members and elements that may be visited. An object of 1.5 MiB and a patch of 3 MiB
  // whose elements have four bytes each need half of that; a patch that needs more merges the same
  // lists over and over. It is refused with kRequestEntityTooLarge.
  std::size_t visits_max = 2'000'000;
};

// The outcome of a strategic merge.
struct StrategicMerge {
  runtime::Value object;   // The patched document.
  runtime::Value patch;    // The patch without the directives that were obeyed, for messages.
  std::size_t visits = 0;  // See StrategicMergePatchLimits.
};

// Merges `patch` into `document` by the patch strategies and merge keys of `schema`, the struct
// that `document` is an instance of; kind and apiVersion may be in it too. Obeys `$patch`,
// `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`; null removes.
// Members keep their order, new ones are appended. The result lives in `arena` and shares what it
// can with both, which must outlive it.
//
// kBadRequest: `patch` or `document` is no map, or a directive has the wrong form ("invalid patch
// format of retainKeys"). kInvalid (422): a list of lists. kUnknown (500, Go's habit): the patch
// merges into a field that the schema does not have, an element lacks its merge key, lists mix
// types; the message is Go's. Where members are merged in an order that Go leaves to chance, it is
// that of the patch.
Result<StrategicMerge> ApplyStrategicMergePatch(runtime::Value document, runtime::Value patch,
                                                const runtime::Schema& schema,
                                                runtime::Arena& arena,
                                                const StrategicMergePatchLimits& limits = {});

}  // namespace apiserver::inline v0::patch
