#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/value.h"

// metav1.LabelSelector as content, {"matchLabels": {…}, "matchExpressions": […]}:
// k8s.io/apimachinery/pkg/apis/meta/v1/validation and metav1.LabelSelectorAsSelector.
namespace apiserver::inline v0::meta {

// Relaxations for objects that were stored before a rule existed.
struct LabelSelectorValidationOptions {
  bool allow_invalid_label_value = false;  // In matchExpressions.
};
// Checks matchLabels and matchExpressions; a null selector is valid.
field::ErrorList ValidateLabelSelector(runtime::Value selector,
                                       const LabelSelectorValidationOptions& options,
                                       const field::Path& path);

// Converts to a LabelSelector. An empty map selects everything. kInvalid: a key, operator or value
// that no selector can have. (Null selects nothing in Go; a caller that may get null must handle it
// first.)
Result<LabelSelector> LabelSelectorAsSelector(runtime::Value selector);

}  // namespace apiserver::inline v0::meta
