#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// The syntax of names, labels and metadata, with Kubernetes' messages:
// k8s.io/apimachinery/pkg/util/validation and pkg/api/validation.
namespace apiserver::inline v0::meta {

// The faults of a text, each as a sentence without subject. Empty: the text is valid.
using Complaints = std::vector<std::string>;

// At most 63 bytes of lower-case letters, digits and '-': "my-name", "123-abc".
Complaints IsDNS1123Label(std::string_view value);
// At most 253 bytes: DNS-1123 labels with dots between them, "example.com".
Complaints IsDNS1123Subdomain(std::string_view value);
// As a DNS-1123 label, but it begins with a letter: "abc-123".
Complaints IsDNS1035Label(std::string_view value);
// The key of a label or annotation: `[prefix/]name`.
Complaints IsQualifiedName(std::string_view value);
// At most 63 bytes of letters, digits, '-', '_' and '.', which begins and ends with a letter or
// digit; or "".
Complaints IsValidLabelValue(std::string_view value);
// A name that can stand in a URL path; "" and long ones pass.
Complaints IsPathSegmentName(std::string_view value);
// The same for a prefix, to which more is appended: "." and ".." pass.
Complaints IsPathSegmentPrefix(std::string_view value);

// A subdomain, a slash and a valid URL path: "acme.io/foo".
field::ErrorList IsDomainPrefixedPath(const field::Path& path, std::string_view value);
// Checks a domain name with two segments or more; a dot may end it. At most one finding.
field::ErrorList IsFullyQualifiedDomainName(const field::Path& path, std::string_view name);

// The rules for the names of one kind. `prefix`: the name is a generateName, to which something is
// appended. Called on the thread that validates; must not block.
using NameValidator = std::function<Complaints(std::string_view name, bool prefix)>;
// IsDNS1123Subdomain() for names.
Complaints NameIsDNSSubdomain(std::string_view name, bool prefix);
// IsDNS1123Label() for names.
Complaints NameIsDNSLabel(std::string_view name, bool prefix);
// IsDNS1035Label() for names.
Complaints NameIsDNS1035Label(std::string_view name, bool prefix);
// IsPathSegmentName() or IsPathSegmentPrefix() for names.
Complaints ValidatePathSegmentName(std::string_view name, bool prefix);

inline constexpr std::size_t kFieldManagerBytesMax = 128;
inline constexpr std::size_t kTotalAnnotationBytesMax = 256 << 10;
inline constexpr std::string_view kFieldImmutable = "field is immutable";
inline constexpr std::string_view kFinalizerOrphanDependents = "orphan";
inline constexpr std::string_view kFinalizerDeleteDependents = "foregroundDeletion";

// Validates one part of metadata; each of these takes the value of its field, null if it is absent.
// Keys and values of labels:
field::ErrorList ValidateLabels(runtime::Value labels, const field::Path& path);
// A label's key.
field::ErrorList ValidateLabelName(std::string_view name, const field::Path& path);
// Keys of annotations, in any case, and at most kTotalAnnotationBytesMax of keys and values
// together.
field::ErrorList ValidateAnnotations(runtime::Value annotations, const field::Path& path);
// References with all their fields, and at most one controller among them.
field::ErrorList ValidateOwnerReferences(runtime::Value references, const field::Path& path);
// Qualified names, and not both of kFinalizerOrphanDependents and kFinalizerDeleteDependents.
field::ErrorList ValidateFinalizers(runtime::Value finalizers, const field::Path& path);
// Forbids finalizers in `now` that `before` lacks, for an object that is being deleted.
field::ErrorList ValidateNoNewFinalizers(runtime::Value now, runtime::Value before,
                                         const field::Path& path);
// Entries of metadata.managedFields: operation, fieldsType and manager.
field::ErrorList ValidateManagedFields(runtime::Value entries, const field::Path& path);
// At most kFieldManagerBytesMax bytes of printable characters.
field::ErrorList ValidateFieldManager(std::string_view manager, const field::Path& path);
// Returns the field manager of a client that names none: the part of its User-Agent before the
// first '/', without unprintable characters, at most kFieldManagerBytesMax bytes.
std::string FieldManagerOf(std::string_view user_agent);
// A number that must not be negative.
field::ErrorList ValidateNonnegativeField(std::int64_t value, const field::Path& path);
// Requires two values to be equal; the finding shows the new one.
field::ErrorList ValidateImmutableField(runtime::Value now, runtime::Value before,
                                        const field::Path& path);

// Validates the metadata of an object to be created, whose name is generated already.
field::ErrorList ValidateObjectMeta(runtime::Value metadata, bool namespaced,
                                    const NameValidator& validate_name, const field::Path& path);
// Validates the metadata of an object that is to replace one with `before`.
field::ErrorList ValidateObjectMetaUpdate(runtime::Value now, runtime::Value before,
                                          const field::Path& path);
// The first part of that, which compares the two. It is all of it for metadata in which
// ValidateObjectMeta() has found nothing.
field::ErrorList ValidateObjectMetaChange(runtime::Value now, runtime::Value before,
                                          const field::Path& path);

}  // namespace apiserver::inline v0::meta
