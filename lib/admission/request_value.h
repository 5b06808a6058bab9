#pragma once

#include "apiserver/admission/admission.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// The parts of an AdmissionRequest of admission.k8s.io, for reviews and for expressions. Texts are
// borrowed from the arguments.
namespace apiserver::inline v0::admission {

// Returns the content of an object with its kind and apiVersion. Null: null.
runtime::Value ObjectValue(const runtime::Object* object, runtime::Arena& arena);
// Adds the members from `kind` to `userInfo`. `resource` and `kind` are those that were matched.
void AddRequestHead(runtime::MapBuilder& map, const Attributes& attributes,
                    const runtime::GroupVersionResource& resource,
                    const runtime::GroupVersionKind& kind, runtime::Arena& arena);
// Adds `dryRun` and `options`.
void AddRequestTail(runtime::MapBuilder& map, const Attributes& attributes, runtime::Arena& arena);

}  // namespace apiserver::inline v0::admission
