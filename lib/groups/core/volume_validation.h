#pragma once

#include <map>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of the volumes of pods.
namespace apiserver::inline v0::groups::core {

// Checks spec.volumes. Returns those that are valid, by name: containers may only name these.
// `pod_name`: the name of the pod; empty for a template.
std::map<std::string_view, runtime::Value> CheckVolumes(runtime::Value volumes,
                                                        std::string_view pod_name,
                                                        const field::Path& path,
                                                        field::ErrorList& errors);

// Check one source of a volume. Each is the value of the member of that name.
void CheckProjectedSource(runtime::Value projected, const field::Path& path,
                          field::ErrorList& errors);
void CheckDownwardFiles(runtime::Value files, const field::Path& path, field::ErrorList& errors);
void CheckKeyToPath(runtime::Value item, const field::Path& path, field::ErrorList& errors);
// Check a source of a vendor or of a storage system. Returns false if `type` is none of these.
bool CheckStorageSource(std::string_view type, runtime::Value source, const field::Path& path,
                        field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
