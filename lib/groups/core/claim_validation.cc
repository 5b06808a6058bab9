#include "groups/core/claim_validation.h"

#include <string>
#include <string_view>

#include "apiserver/meta/label_selector_value.h"
#include "apiserver/runtime/quantity.h"
#include "groups/core/checks.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

void CheckAccessModes(Value modes, const Path& path, ErrorList& errors) {
  if (modes.size() == 0) errors.Required(path, "at least 1 access mode is required");
  bool one_pod = false;
  bool others = false;
  for (const Value& mode : modes.items()) {
    const bool known =
        CheckWord(errors, path, mode.AsString(),
                  {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    const bool alone = mode.AsString() == "ReadWriteOncePod";
    one_pod |= alone;
    others |= known && !alone;
  }
  if (one_pod && others) {
    errors.Forbidden(path, "may not use ReadWriteOncePod with other access modes");
  }
}

void CheckStorage(Value requests, const Path& path, ErrorList& errors) {
  const Path at = path.Key("storage");
  const Value* const storage = requests.Find("storage");
  if (storage == nullptr) return errors.Required(at);
  const auto quantity = runtime::Quantity::Parse(storage->AsString());
  if (!quantity.ok() || quantity->sign() > 0) return;
  errors.Invalid(at, quantity->ToString(), "must be greater than zero");
}

void CheckOptionalName(Value spec, const char* key, const Path& path, ErrorList& errors) {
  if (spec[key].size() != 0) CheckDnsSubdomain(errors, path.Child(key), spec[key].AsString());
}

void CheckClaimSpec(Value spec, const Path& path, ErrorList& errors) {
  const Path modes = path.Child("accessModes");
  ErrorList found;
  CheckAccessModes(spec["accessModes"], modes, found);
  errors.Append(std::move(found));
  if (!spec["selector"].is_null()) {
    errors.Append(meta::ValidateLabelSelector(spec["selector"], {}, path.Child("selector")));
  }
  CheckStorage(spec["resources"]["requests"], path.Child("resources"), errors);
  CheckOptionalName(spec, "storageClassName", path, errors);
  if (!spec["volumeMode"].is_null()) {
    CheckWord(errors, path.Child("volumeMode"), spec["volumeMode"].AsString(),
              {"Block", "Filesystem"});
  }
  CheckOptionalName(spec, "volumeAttributesClassName", path, errors);
}

}  // namespace

void CheckClaimTemplate(Value claim, const Path& path, ErrorList& errors) {
  const Value metadata = claim["metadata"];
  const Path at = path.Child("metadata");
  errors.Append(meta::ValidateAnnotations(metadata["annotations"], at.Child("annotations")));
  errors.Append(meta::ValidateLabels(metadata["labels"], at.Child("labels")));
  for (const char* const key :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences",
        "finalizers", "managedFields"}) {
    if (metadata[key].is_null() || metadata[key] == Value::String("")) continue;
    // The error has Go's name of the field.
    errors.Forbidden(at.Child(std::string_view(key) == "uid" ? "uID" : key), "cannot be set");
  }
  CheckClaimSpec(claim["spec"], path.Child("spec"), errors);
}

}  // namespace apiserver::v0::groups::core
