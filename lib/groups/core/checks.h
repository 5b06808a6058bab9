#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/meta/validation.h"
#include "apiserver/runtime/value.h"

// Checks of single values that many rules of core/v1 are made of: k8s.io/apimachinery/pkg/util/
// validation and the small functions of k8s.io/kubernetes/pkg/apis/core/validation. Each adds its
// findings to `errors`.
namespace apiserver::inline v0::groups::core {

inline constexpr std::int64_t kPortMax = 65535;
inline constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

// Adds each complaint about `value` as an invalid value.
void AddComplaints(field::ErrorList& errors, const field::Path& path, std::string_view value,
                   const meta::Complaints& complaints);
void CheckDnsLabel(field::ErrorList& errors, const field::Path& path, std::string_view value);
void CheckDnsSubdomain(field::ErrorList& errors, const field::Path& path, std::string_view value);
void CheckQualifiedName(field::ErrorList& errors, const field::Path& path, std::string_view value);
// A qualified name, which has a prefix unless it is one of Kubernetes' own finalizers.
void CheckFinalizer(field::ErrorList& errors, const field::Path& path, std::string_view name);

// The syntax of texts; see meta/validation.h.
meta::Complaints IsConfigMapKey(std::string_view key);
meta::Complaints IsPortName(std::string_view name);
meta::Complaints IsRelaxedEnvVarName(std::string_view name);
meta::Complaints IsHttpHeaderName(std::string_view name);
meta::Complaints IsSubdomainWithUnderscore(std::string_view value);

void InvalidNumber(field::ErrorList& errors, const field::Path& path, std::int64_t number,
                   std::string detail);
// A number from `least` to `most`: "must be between 1 and 65535, inclusive".
void CheckRange(field::ErrorList& errors, const field::Path& path, std::int64_t number,
                std::int64_t least, std::int64_t most);
void CheckPort(field::ErrorList& errors, const field::Path& path, std::int64_t port);
// A number of a port, or its name.
void CheckPortOrName(field::ErrorList& errors, const field::Path& path, runtime::Value port);
void CheckNotNegative(field::ErrorList& errors, const field::Path& path, std::int64_t number);
void CheckPositive(field::ErrorList& errors, const field::Path& path, std::int64_t number);
// Modes of files: 0 to 0777. Null passes.
void CheckFileMode(field::ErrorList& errors, const field::Path& path, runtime::Value mode);

// Requires the member `key` of `owner` to have a text. Returns true if it has.
bool CheckPresent(field::ErrorList& errors, const field::Path& path, runtime::Value owner,
                  std::string_view key);
// Requires one of `words`, which is how messages list them. Returns true if it is.
bool CheckWord(field::ErrorList& errors, const field::Path& path, std::string_view word,
               std::initializer_list<const char*> words);
// The same; an empty word is a missing one.
void CheckNeededWord(field::ErrorList& errors, const field::Path& path, std::string_view word,
                     std::initializer_list<const char*> words);
bool IsOneOf(std::string_view word, std::initializer_list<const char*> words);

// Refuses ".." in a path.
void CheckNoBacksteps(field::ErrorList& errors, const field::Path& path, std::string_view text);
// The same, and absolute paths.
void CheckDescendingPath(field::ErrorList& errors, const field::Path& path, std::string_view text);
// The same, and paths that begin with "..", which the kubelet keeps for itself.
void CheckNotReservedPath(field::ErrorList& errors, const field::Path& path, std::string_view text);

// Addresses and networks of fields that are older than strict validation. Values in `kept`, those
// of the stored object, pass.
void CheckLegacyIp(field::ErrorList& errors, const field::Path& path, std::string_view ip,
                   const std::vector<std::string_view>& kept = {});
void CheckLegacyCidr(field::ErrorList& errors, const field::Path& path, std::string_view cidr,
                     const std::vector<std::string_view>& kept = {});

// Return an ASCII text in lower case, and a text without white space around it.
std::string LowerCase(std::string_view text);
std::string_view TrimSpace(std::string_view text);

// Prints a value as JSON, as messages show lists and structs.
std::string Printed(runtime::Value value);

// Validates metadata as ValidateObjectMeta and ValidateObjectMetaUpdate of core do: as meta's
// functions, and finalizers without a domain must be Kubernetes' own.
field::ErrorList ValidateCoreMeta(runtime::Value metadata, bool namespaced,
                                  const meta::NameValidator& validate_name);
field::ErrorList ValidateCoreMetaUpdate(runtime::Value now, runtime::Value before);

}  // namespace apiserver::inline v0::groups::core
