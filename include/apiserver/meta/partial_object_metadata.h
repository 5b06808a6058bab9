#pragma once

#include <memory>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// meta/v1 PartialObjectMetadata: an object reduced to its metadata.
namespace apiserver::inline v0::meta {

// The kind of meta.k8s.io, versions v1 and v1beta1; its list is PartialObjectMetadataList. Shared.
const runtime::KindPtr& PartialObjectMetadataKind();

// Returns the metadata of `object`, copied, as a PartialObjectMetadata v1.
std::unique_ptr<runtime::Object> PartialObjectMetadataOf(const runtime::Object& object);

}  // namespace apiserver::inline v0::meta
