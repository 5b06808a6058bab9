#pragma once

#include "apiserver/runtime/object.h"

// The defaults of definitions: pkg/apis/apiextensions/{v1,v1beta1}/defaults.go of
// k8s.io/apiextensions-apiserver.
namespace apiserver::inline v0::apiextensions {

// Sets the defaults of a definition in v1, and normalizes its schemas.
void SetDefinitionDefaults(runtime::Object& definition);
// Sets the defaults of a stored definition (stored_form.h). One that has been served has them all.
void SetStoredDefaults(runtime::Object& definition);

}  // namespace apiserver::inline v0::apiextensions
