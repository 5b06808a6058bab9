#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/value.h"

// metav1.LabelSelector as an aggregationRule has it.
namespace apiserver::inline v0::groups::rbac {

// k8s.io/apimachinery/pkg/apis/meta/v1/validation.
field::ErrorList ValidateLabelSelector(const runtime::Value& selector, const field::Path& path);

// metav1.LabelSelectorAsSelector of a valid one; an empty one matches everything. kBadRequest: it
// is not valid.
Result<meta::LabelSelector> LabelSelectorOf(const runtime::Value& selector);

}  // namespace apiserver::inline v0::groups::rbac
