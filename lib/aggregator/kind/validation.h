#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Follows pkg/apis/apiregistration/validation of k8s.io/kube-aggregator.
namespace apiserver::inline v0::aggregator {

// Validates a new APIService.
field::ErrorList ValidateAPIService(const runtime::Object& api_service);
// Validates the replacement of `old`.
field::ErrorList ValidateAPIServiceUpdate(const runtime::Object& api_service,
                                          const runtime::Object& old);
// Validates a write of the status.
field::ErrorList ValidateAPIServiceStatusUpdate(const runtime::Object& api_service,
                                                const runtime::Object& old);

}  // namespace apiserver::inline v0::aggregator
