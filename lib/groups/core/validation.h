#pragma once

#include <cstddef>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// What Secrets and ServiceAccounts may say: k8s.io/kubernetes/pkg/apis/core/validation.
namespace apiserver::inline v0::groups::core {

// Of all values of a Secret, decoded.
inline constexpr std::size_t kSecretBytesMax = 1 << 20;

field::ErrorList ValidateSecret(const runtime::Object& secret);
field::ErrorList ValidateSecretUpdate(const runtime::Object& now, const runtime::Object& before);
field::ErrorList ValidateServiceAccount(const runtime::Object& account);
field::ErrorList ValidateServiceAccountUpdate(const runtime::Object& now,
                                              const runtime::Object& before);

}  // namespace apiserver::inline v0::groups::core
