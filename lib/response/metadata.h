#pragma once

#include <string>
#include <string_view>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::response {

// Appends `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":` … `}`, copied
// from the object's own encoding.
void AppendPartialObjectMetadata(const runtime::Encoding& encoding, std::string_view meta_version,
                                 std::string& json);

// Returns the body with another resourceVersion, as a DELETED event has it.
std::string BodyWithResourceVersion(const runtime::Encoding& encoding,
                                    std::string_view resource_version);
// Appends the value of metadata in the same way; an empty `resource_version` leaves it unchanged.
void AppendMetadataWithResourceVersion(const runtime::Encoding& encoding,
                                       std::string_view resource_version, std::string& json);

}  // namespace apiserver::inline v0::response
