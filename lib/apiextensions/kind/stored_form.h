#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// The form in which definitions are stored, here as by a Go server: that of v1beta1, which is
// served no more. What all versions have in common stands beside them in it, and some members have
// other names: pkg/apis/apiextensions/{v1,v1beta1}/conversion.go of k8s.io/apiextensions-apiserver.
namespace apiserver::inline v0::apiextensions {

inline constexpr std::string_view kStoredFormVersion = "v1beta1";

// Set the content of a definition in v1 to what is stored of it, and back. Metadata and status are
// the same in both. Back, members may be in any order, and what is no definition at all stays as it
// is, and so do schemas, which the settling at the end of a conversion normalizes.
Status ToStoredForm(runtime::Object& definition);
Status FromStoredForm(runtime::Object& definition);

}  // namespace apiserver::inline v0::apiextensions
