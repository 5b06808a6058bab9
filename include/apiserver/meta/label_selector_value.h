#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/value.h"

// metav1.LabelSelector as content, {"matchLabels": {…}, "matchExpressions": […]}:
// k8s.io/apimachinery/pkg/apis/meta/v1/validation and metav1.LabelSelectorAsSelector.
namespace apiserver::inline v0::meta {

struct LabelSelectorValidationOptions {
  bool allow_invalid_label_value = false;  // In matchExpressions.
};
field::ErrorList ValidateLabelSelector(runtime::Value selector,
                                       const LabelSelectorValidationOptions& options,
                                       const field::Path& path);

// An empty map selects everything. kInvalid: a key, operator or value that no selector can have.
// (Null selects nothing in Go; whoever may meet it asks before.)
Result<LabelSelector> LabelSelectorAsSelector(runtime::Value selector);

}  // namespace apiserver::inline v0::meta
