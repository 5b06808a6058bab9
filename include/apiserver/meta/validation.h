#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// What names, labels and metadata must look like, in Kubernetes' words:
// k8s.io/apimachinery/pkg/util/validation and pkg/api/validation.
namespace apiserver::inline v0::meta {

// What is wrong with a text, each as a sentence without subject; empty: nothing.
using Complaints = std::vector<std::string>;

Complaints IsDNS1123Label(std::string_view value);
Complaints IsDNS1123Subdomain(std::string_view value);
Complaints IsDNS1035Label(std::string_view value);
// A label key: `[prefix/]name`.
Complaints IsQualifiedName(std::string_view value);
Complaints IsValidLabelValue(std::string_view value);
// Whether a name can stand in a URL path; "" and long ones pass.
Complaints IsPathSegmentName(std::string_view value);
Complaints IsPathSegmentPrefix(std::string_view value);

// A subdomain, a slash and what a URL's path may hold: "acme.io/foo".
field::ErrorList IsDomainPrefixedPath(const field::Path& path, std::string_view value);

// The rules for the names of one kind. `prefix`: the name is a generateName, something is appended.
using NameValidator = std::function<Complaints(std::string_view name, bool prefix)>;
Complaints NameIsDNSSubdomain(std::string_view name, bool prefix);
Complaints NameIsDNSLabel(std::string_view name, bool prefix);
Complaints NameIsDNS1035Label(std::string_view name, bool prefix);
Complaints ValidatePathSegmentName(std::string_view name, bool prefix);

inline constexpr std::size_t kFieldManagerBytesMax = 128;
inline constexpr std::size_t kTotalAnnotationBytesMax = 256 << 10;
inline constexpr std::string_view kFieldImmutable = "field is immutable";
inline constexpr std::string_view kFinalizerOrphanDependents = "orphan";
inline constexpr std::string_view kFinalizerDeleteDependents = "foregroundDeletion";

// The parts of metadata; each takes its field's value, null if it is absent.
field::ErrorList ValidateLabels(runtime::Value labels, const field::Path& path);
field::ErrorList ValidateLabelName(std::string_view name, const field::Path& path);
field::ErrorList ValidateAnnotations(runtime::Value annotations, const field::Path& path);
field::ErrorList ValidateOwnerReferences(runtime::Value references, const field::Path& path);
field::ErrorList ValidateFinalizers(runtime::Value finalizers, const field::Path& path);
field::ErrorList ValidateNoNewFinalizers(runtime::Value now, runtime::Value before,
                                         const field::Path& path);
field::ErrorList ValidateManagedFields(runtime::Value entries, const field::Path& path);
field::ErrorList ValidateFieldManager(std::string_view manager, const field::Path& path);
// The field manager of a client that names none: what stands before the first '/' of its
// User-Agent, without what cannot be printed, at most kFieldManagerBytesMax bytes.
std::string FieldManagerOf(std::string_view user_agent);
field::ErrorList ValidateNonnegativeField(std::int64_t value, const field::Path& path);
// Whether two values are the same; the finding shows the new one.
field::ErrorList ValidateImmutableField(runtime::Value now, runtime::Value before,
                                        const field::Path& path);

// metadata of an object that is to be created; names are generated already.
field::ErrorList ValidateObjectMeta(runtime::Value metadata, bool namespaced,
                                    const NameValidator& validate_name, const field::Path& path);
// metadata of an object that is to replace one with `before`.
field::ErrorList ValidateObjectMetaUpdate(runtime::Value now, runtime::Value before,
                                          const field::Path& path);

}  // namespace apiserver::inline v0::meta
