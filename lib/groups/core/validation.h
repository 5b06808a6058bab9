#pragma once

#include <cstddef>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Validation of Secrets and ServiceAccounts: k8s.io/kubernetes/pkg/apis/core/validation.
namespace apiserver::inline v0::groups::core {

// Limits the decoded size of all values of a Secret.
inline constexpr std::size_t kSecretBytesMax = 1 << 20;

field::ErrorList ValidateSecret(const runtime::Object& secret);
field::ErrorList ValidateSecretUpdate(const runtime::Object& now, const runtime::Object& before);
field::ErrorList ValidateServiceAccount(const runtime::Object& account);
field::ErrorList ValidateServiceAccountUpdate(const runtime::Object& now,
                                              const runtime::Object& before);

}  // namespace apiserver::inline v0::groups::core
