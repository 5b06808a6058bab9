#include "apiextensions/validation/versions.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apiextensions/validation/go_struct_json.h"
#include "apiextensions/validation/names.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "text/quote.h"
#include "text/utf8.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr std::size_t kDeprecationWarningMax = 256;

// Returns the byte at which the first character stands that is not printable. nullopt: there is
// none. A malformed byte counts as U+FFFD, which is printable.
std::optional<std::size_t> FirstUnprintable(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const text::Rune rune = text::FirstRune(text.substr(at));
    if (!text::IsPrint(rune.code)) return at;
    at += rune.text.size();
  }
  return std::nullopt;
}

}  // namespace

void RequireSchemas(const InternalSpec& spec, const Demands& demands, ErrorList& errors) {
  const bool preserves = spec.json()["preserveUnknownFields"].AsBool();
  if (!demands.schema && preserves) return;
  for (std::size_t i = 0; i < spec.versions().size() && !errors.full(); ++i) {
    const Value version = spec.versions().at(i);
    if (!SchemaOf(version).is_null()) continue;
    const Path path = Path("spec.versions").Index(i).Child("schema.openAPIV3Schema");
    if (demands.schema) {
      errors.Required(path);
    } else if (version["served"].AsBool()) {
      errors.Required(path, "because otherwise all fields are pruned");
    }
  }
}

void ValidateVersionName(const Value& version, const Path& path, ErrorList& errors) {
  const std::string_view name = version["name"].AsString();
  AddComplaints(meta::IsDNS1035Label(name), name, "", path.Child("name"), errors);
}

void ValidateDeprecation(const Value& version, const Path& path, ErrorList& errors) {
  const Value* const warning = version.Find("deprecationWarning");
  if (warning == nullptr || warning->is_null()) return;
  const std::string_view text = warning->AsString();
  const Path at = path.Child("deprecationWarning");
  const auto invalid = [&](std::string detail) { errors.Invalid(at, text, std::move(detail)); };
  if (!version["deprecated"].AsBool()) return invalid("can only be set for deprecated versions");
  if (text.size() > kDeprecationWarningMax) invalid("must be <= 256 characters long");
  if (text.empty()) invalid("must not be an empty string");
  // Control characters are not printable either.
  if (const std::optional<std::size_t> bad = FirstUnprintable(text)) {
    invalid(
        "must only contain printable UTF-8 characters; non-printable character found at index " +
        std::to_string(*bad));
  }
}

void ValidateVersionSet(const InternalSpec& spec, ErrorList& errors) {
  std::set<std::string_view> names;
  std::size_t storage = 0;
  for (const Value& version : spec.versions().items()) {
    names.insert(version["name"].AsString());
    if (version["storage"].AsBool()) ++storage;
  }
  const Path path("spec.versions");
  if (names.size() != spec.versions().size()) {
    errors.InvalidPrinted(path, PrintedVersions(spec), "must contain unique version names");
  }
  if (storage != 1) {
    errors.InvalidPrinted(path, PrintedVersions(spec),
                          "must have exactly one version marked as storage version");
  }
  if (spec.versions().size() == 0) return;
  // The name of the first version stands in spec.version too.
  const std::string_view first = spec.versions().at(0)["name"].AsString();
  if (first.empty()) return;
  AddComplaints(meta::IsDNS1035Label(first), first, "", Path("spec.version"), errors);
}

void ValidateStoredVersions(const Object& definition, ErrorList& errors) {
  const Value stored = definition["status"]["storedVersions"];
  const Path path("status.storedVersions");
  std::string printed;
  codec::AppendJson(stored, printed);
  if (stored.size() == 0) {
    return errors.InvalidPrinted(path, printed, "must have at least one stored version");
  }
  std::map<std::string_view, std::size_t> missing;
  for (std::size_t i = 0; i < stored.size(); ++i) missing[stored.at(i).AsString()] = i;
  for (const Value& version : definition["spec"]["versions"].items()) {
    const std::string_view name = version["name"].AsString();
    if (missing.erase(name) == 0 && version["storage"].AsBool()) {
      errors.InvalidPrinted(path, printed, "must have the storage version " + std::string(name));
    }
  }
  for (const auto& [name, index] : missing) {
    const std::string version = field::Shorten(name);
    std::string detail = "missing from spec.versions; ";
    detail += version;
    detail +=
        " was previously a storage version, and must remain in spec.versions until a storage "
        "migration ensures no data remains persisted in ";
    detail += version;
    detail += " and removes ";
    detail += version;
    detail += " from status.storedVersions";
    errors.Invalid(path.Index(index), name, std::move(detail));
  }
}

void ValidateImmutables(const Object& definition, const Object& old, const Demands& demands,
                        ErrorList& errors) {
  const Value spec = definition["spec"];
  const Value before = old["spec"];
  if (demands.immutable_names) {
    errors.Append(meta::ValidateImmutableField(spec["scope"], before["scope"], Path("spec.scope")));
    errors.Append(meta::ValidateImmutableField(spec["names"]["kind"], before["names"]["kind"],
                                               Path("spec.names.kind")));
  }
  errors.Append(meta::ValidateImmutableField(spec["group"], before["group"], Path("spec.group")));
  errors.Append(meta::ValidateImmutableField(spec["names"]["plural"], before["names"]["plural"],
                                             Path("spec.names.plural")));
}

void ValidateApiApproval(const Object& definition, const Object* old, ErrorList& errors) {
  if (!IsProtectedGroup(definition["spec"]["group"].AsString())) return;
  std::string reason;
  std::string unused;
  const ApiApproval approval = ApiApprovalOf(definition, reason);
  if (old != nullptr && ApiApprovalOf(*old, unused) == approval) return;
  constexpr std::string_view kAnnotation = "api-approved.kubernetes.io";
  const Path path = Path("metadata.annotations").Key(kAnnotation);
  if (approval == ApiApproval::kMissing) {
    errors.Required(path, std::move(reason));
  } else if (approval == ApiApproval::kInvalid) {
    errors.Invalid(path, definition.annotations()[kAnnotation].AsString(), std::move(reason));
  }
}

}  // namespace apiserver::v0::apiextensions
