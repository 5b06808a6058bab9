#pragma once

#include <string>
#include <string_view>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::response {

// `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":` … `}`, spliced from
// the object's own encoding. `version` is the one whose encoding is at hand.
void AppendPartialObjectMetadata(const runtime::Encoding& encoding, std::string_view meta_version,
                                 std::string& json);

// The body with another resourceVersion, as a DELETED event carries it.
std::string BodyWithResourceVersion(const runtime::Encoding& encoding,
                                    std::string_view resource_version);
// Appends the value of metadata, likewise; an empty `resource_version` leaves it as it is.
void AppendMetadataWithResourceVersion(const runtime::Encoding& encoding,
                                       std::string_view resource_version, std::string& json);

}  // namespace apiserver::inline v0::response
