#include "apiserver/meta/options.h"

#include <algorithm>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/table.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "meta/json_text.h"
#include "meta/query_values.h"
#include "runtime/json_type.h"

namespace apiserver::v0::meta {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::string_view kIgnoreStoreReadError =
    "ignoreStoreReadErrorWithClusterBreakingPotential";
constexpr std::string_view kExact = "Exact";
constexpr std::string_view kNotOlderThan = "NotOlderThan";

const std::string* Find(const QueryValues& query, std::string_view key) {
  for (const auto& [name, value] : query) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string Text(const QueryValues& query, std::string_view key) {
  const std::string* value = Find(query, key);
  return value == nullptr ? "" : *value;
}

std::vector<std::string> All(const QueryValues& query, std::string_view key) {
  std::vector<std::string> values;
  for (const auto& [name, value] : query) {
    if (name == key) values.push_back(value);
  }
  return values;
}

std::optional<bool> Bool(const QueryValues& query, std::string_view key) {
  const std::string* value = Find(query, key);
  if (value == nullptr) return std::nullopt;
  return IsTrue(*value);
}

Result<std::optional<std::int64_t>> Int(const QueryValues& query, std::string_view key) {
  const std::string* value = Find(query, key);
  if (value == nullptr) return std::optional<std::int64_t>();
  ASSIGN_OR_RETURN(const std::int64_t number, ParseInt(*value));
  return std::optional<std::int64_t>(number);
}

ResourceVersionMatch MatchOf(std::string_view text) {
  if (text.empty()) return ResourceVersionMatch::kUnset;
  if (text == kExact) return ResourceVersionMatch::kExact;
  if (text == kNotOlderThan) return ResourceVersionMatch::kNotOlderThan;
  return ResourceVersionMatch::kOther;
}

Status Refused(std::string_view kind, const ErrorList& errors) {
  if (errors.empty()) return Status::Ok();
  return NewInvalid({"meta.k8s.io", std::string(kind)}, "", errors);
}

ErrorList ValidateList(const ListOptions& options) {
  ErrorList errors;
  const Path match("resourceVersionMatch");
  if (options.resource_version_match != ResourceVersionMatch::kUnset) {
    if (options.resource_version.empty()) {
      errors.Forbidden(match,
                       "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      errors.Forbidden(match, "resourceVersionMatch is forbidden when continue is provided");
    }
    if (options.resource_version_match == ResourceVersionMatch::kOther) {
      errors.NotSupported(match, options.resource_version_match_text,
                          {std::string(kExact), std::string(kNotOlderThan), ""});
    }
    if (options.resource_version_match == ResourceVersionMatch::kExact &&
        options.resource_version == "0") {
      errors.Forbidden(match,
                       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (options.send_initial_events) {
    errors.Forbidden(Path("sendInitialEvents"), "sendInitialEvents is forbidden for list");
  }
  return errors;
}

ErrorList ValidateWatch(const ListOptions& options) {
  ErrorList errors;
  const Path match("resourceVersionMatch");
  const bool not_older = options.resource_version_match == ResourceVersionMatch::kNotOlderThan;
  if (options.send_initial_events && !not_older) {
    errors.Forbidden(match,
                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (options.resource_version_match == ResourceVersionMatch::kUnset) return errors;
  if (!options.send_initial_events) {
    errors.Forbidden(match,
                     "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                     "provided");
  }
  if (!not_older) {
    errors.NotSupported(match, options.resource_version_match_text, {std::string(kNotOlderThan)});
  }
  if (!options.continue_token.empty()) {
    errors.Forbidden(match, "resourceVersionMatch is forbidden when continue is provided");
  }
  return errors;
}

// As internalversion.SetListOptionsDefaults.
void DefaultWatch(ListOptions& options) {
  const bool legacy = options.resource_version.empty() || options.resource_version == "0";
  if (!options.watch || !legacy || options.send_initial_events ||
      options.resource_version_match != ResourceVersionMatch::kUnset) {
    return;
  }
  options.send_initial_events = true;
  options.resource_version_match = ResourceVersionMatch::kNotOlderThan;
  options.resource_version_match_text = kNotOlderThan;
}

void ValidateDryRun(const std::vector<std::string>& dry_run, ErrorList& errors) {
  if (std::ranges::all_of(dry_run, [](const std::string& value) { return value == "All"; })) {
    return;
  }
  std::vector<Value> values;
  values.reserve(dry_run.size());
  for (const std::string& value : dry_run) values.push_back(Value::String(value));
  errors.Add({field::Error::Type::kNotSupported, "dryRun", JsonText(Value::List(values)),
              "supported values: \"All\""});
}

FieldValidation ParseFieldValidation(const QueryValues& query, ErrorList& errors) {
  const std::string text = Text(query, "fieldValidation");
  if (text.empty() || text == "Warn") return FieldValidation::kWarn;
  if (text == "Ignore") return FieldValidation::kIgnore;
  if (text == "Strict") return FieldValidation::kStrict;
  errors.NotSupported(Path("fieldValidation"), text, {"", "Ignore", "Strict", "Warn"});
  return FieldValidation::kWarn;
}

// Reads the parameters that create, update and patch share.
CreateOptions ParseWriteOptions(const QueryValues& query, ErrorList& errors) {
  CreateOptions options;
  options.field_manager = Text(query, "fieldManager");
  errors.Append(ValidateFieldManager(options.field_manager, Path("fieldManager")));
  const std::vector<std::string> dry_run = All(query, "dryRun");
  ValidateDryRun(dry_run, errors);
  options.dry_run = !dry_run.empty();
  options.field_validation = ParseFieldValidation(query, errors);
  return options;
}

// DeleteOptions before validation.
struct RawDeleteOptions {
  DeleteOptions options;
  std::optional<std::string> propagation_policy;
  std::vector<std::string> dry_run;
  bool preconditions = false;  // Set even if they are empty.
};

// As validation.ValidateIgnoreStoreReadError: an object that cannot be read has no say in its
// deletion.
void ValidateIgnoreStoreReadError(const RawDeleteOptions& raw, ErrorList& errors) {
  if (!raw.options.ignore_store_read_error) return;
  const auto together = [&errors](bool set, std::string_view with) {
    if (!set) return;
    errors.InvalidPrinted(Path(std::string(kIgnoreStoreReadError)), "true",
                          "cannot be set together with ." + std::string(with));
  };
  together(raw.propagation_policy.has_value(), "propagationPolicy");
  together(raw.options.orphan_dependents.has_value(), "orphanDependents");
  together(raw.options.grace_period_seconds.has_value(), "gracePeriodSeconds");
  together(raw.preconditions, "preconditions");
}

Result<DeleteOptions> Judged(RawDeleteOptions raw, UnsafeDeletion unsafe) {
  ErrorList errors;
  DeleteOptions& options = raw.options;
  if (unsafe == UnsafeDeletion::kDropped) options.ignore_store_read_error = false;
  const Path policy("propagationPolicy");
  if (raw.propagation_policy) {
    if (options.orphan_dependents) {
      errors.Invalid(policy, *raw.propagation_policy,
                     "orphanDependents and deletionPropagation cannot be both set");
    }
    if (*raw.propagation_policy == "Orphan") {
      options.propagation_policy = DeletionPropagation::kOrphan;
    } else if (*raw.propagation_policy == "Background") {
      options.propagation_policy = DeletionPropagation::kBackground;
    } else if (*raw.propagation_policy == "Foreground") {
      options.propagation_policy = DeletionPropagation::kForeground;
    } else {
      errors.NotSupported(policy, *raw.propagation_policy,
                          {"Foreground", "Background", "Orphan", "nil"});
    }
  }
  ValidateDryRun(raw.dry_run, errors);
  options.dry_run = !raw.dry_run.empty();
  ValidateIgnoreStoreReadError(raw, errors);
  RETURN_IF_ERROR(Refused("DeleteOptions", errors));
  return std::move(options);
}

// Reads members of a decoded body into their types; a null is as good as absent.
class BodyReader {
 public:
  explicit BodyReader(Value content) : content_(content) {}

  std::optional<std::int64_t> Int(std::string_view key) {
    const Value value = content_[key];
    if (value.is_null()) return std::nullopt;
    if (value.type() != Value::Type::kInt) Mismatch(value, "DeleteOptions", key, "int64");
    return value.AsInt();
  }
  std::optional<bool> Bool(std::string_view key) {
    const Value value = content_[key];
    if (value.is_null()) return std::nullopt;
    if (value.type() != Value::Type::kBool) Mismatch(value, "DeleteOptions", key, "bool");
    return value.AsBool();
  }
  std::optional<std::string> Policy(std::string_view key) {
    return String(content_[key], "DeleteOptions", key, "v1.DeletionPropagation");
  }
  std::vector<std::string> Strings(std::string_view key) {
    const Value list = content_[key];
    if (!list.is_null() && !list.is_list()) Mismatch(list, "DeleteOptions", key, "[]string");
    std::vector<std::string> strings;
    for (const Value item : list.items()) {
      strings.push_back(String(item, "DeleteOptions", key, "string").value_or(""));
    }
    return strings;
  }
  Preconditions ReadPreconditions() {
    const Value value = content_["preconditions"];
    if (!value.is_null() && !value.is_map()) {
      Mismatch(value, "DeleteOptions", "preconditions", "v1.Preconditions");
    }
    Preconditions preconditions;
    preconditions.uid = String(value["uid"], "Preconditions", "preconditions.uid", "types.UID");
    preconditions.resource_version = String(value["resourceVersion"], "Preconditions",
                                            "preconditions.resourceVersion", "string");
    return preconditions;
  }

  // The first mismatch.
  const Status& error() const { return error_; }

 private:
  std::optional<std::string> String(Value value, std::string_view type, std::string_view field,
                                    std::string_view go_type) {
    if (value.is_null()) return std::nullopt;
    if (!value.is_string()) Mismatch(value, type, field, go_type);
    return std::string(value.AsString());
  }
  void Mismatch(Value value, std::string_view type, std::string_view field,
                std::string_view go_type) {
    if (!error_.ok()) return;
    std::string what(runtime::JsonTypeName(value));
    // Go names the number itself if only its type is wrong.
    if (value.type() == Value::Type::kDouble && go_type == "int64") what += " " + JsonText(value);
    error_ = NewBadRequest("json: cannot unmarshal " + what + " into Go struct field " +
                           std::string(type) + "." + std::string(field) + " of type " +
                           std::string(go_type));
  }

  Value content_;
  Status error_;
};

}  // namespace

Result<GetOptions> ParseGetOptions(const QueryValues& query) {
  // As handlers.GetResource: kubectl before 1.18 sends it, and must not take the object for an
  // exported one.
  if (Bool(query, "export").value_or(false)) {
    return NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  return GetOptions{Text(query, "resourceVersion")};
}

Result<ListOptions> ParseListOptions(const QueryValues& query, bool forced_watch) {
  ListOptions options;
  options.watch = Bool(query, "watch").value_or(false);
  options.allow_watch_bookmarks = Bool(query, "allowWatchBookmarks").value_or(false);
  options.resource_version = Text(query, "resourceVersion");
  options.resource_version_match_text = Text(query, "resourceVersionMatch");
  options.resource_version_match = MatchOf(options.resource_version_match_text);
  ASSIGN_OR_RETURN(options.timeout_seconds, Int(query, "timeoutSeconds"));
  ASSIGN_OR_RETURN(const std::optional<std::int64_t> limit, Int(query, "limit"));
  options.limit = limit.value_or(0);
  options.continue_token = Text(query, "continue");
  options.send_initial_events = Bool(query, "sendInitialEvents");
  // After the numbers: Go converts to the internal version, with parsed selectors, last.
  ASSIGN_OR_RETURN(options.label_selector, LabelSelector::Parse(Text(query, "labelSelector")));
  ASSIGN_OR_RETURN(options.field_selector, FieldSelector::Parse(Text(query, "fieldSelector")));

  DefaultWatch(options);
  const ErrorList errors = options.watch ? ValidateWatch(options) : ValidateList(options);
  RETURN_IF_ERROR(Refused("ListOptions", errors));
  options.watch = options.watch || forced_watch;
  return options;
}

Result<CreateOptions> ParseCreateOptions(const QueryValues& query) {
  ErrorList errors;
  CreateOptions options = ParseWriteOptions(query, errors);
  RETURN_IF_ERROR(Refused("CreateOptions", errors));
  return options;
}

Result<UpdateOptions> ParseUpdateOptions(const QueryValues& query) {
  ErrorList errors;
  UpdateOptions options = ParseWriteOptions(query, errors);
  RETURN_IF_ERROR(Refused("UpdateOptions", errors));
  return options;
}

Result<PatchOptions> ParsePatchOptions(const QueryValues& query, bool apply) {
  ErrorList errors;
  PatchOptions options;
  options.force = Bool(query, "force");
  if (apply && Text(query, "fieldManager").empty()) {
    errors.Required(Path("fieldManager"), "is required for apply patch");
  }
  if (!apply && options.force) {
    errors.Forbidden(Path("force"), "may not be specified for non-apply patch");
  }
  CreateOptions common = ParseWriteOptions(query, errors);
  RETURN_IF_ERROR(Refused("PatchOptions", errors));
  options.dry_run = common.dry_run;
  options.field_manager = std::move(common.field_manager);
  options.field_validation = common.field_validation;
  return options;
}

Result<DeleteOptions> ParseDeleteOptions(const QueryValues& query, UnsafeDeletion unsafe) {
  RawDeleteOptions raw;
  ASSIGN_OR_RETURN(raw.options.grace_period_seconds, Int(query, "gracePeriodSeconds"));
  raw.options.orphan_dependents = Bool(query, "orphanDependents");
  if (const std::string* policy = Find(query, "propagationPolicy")) {
    raw.propagation_policy = *policy;
  }
  raw.dry_run = All(query, "dryRun");
  const std::string uid = Text(query, "uid");
  if (!uid.empty()) raw.options.preconditions.uid = uid;
  const std::string resource_version = Text(query, "resourceVersion");
  if (!resource_version.empty()) raw.options.preconditions.resource_version = resource_version;
  raw.preconditions = !uid.empty() || !resource_version.empty();
  raw.options.ignore_store_read_error = Bool(query, kIgnoreStoreReadError).value_or(false);
  return Judged(std::move(raw), unsafe);
}

Result<DeleteOptions> DeleteOptionsFrom(Value content, UnsafeDeletion unsafe) {
  BodyReader body(content);
  RawDeleteOptions raw;
  raw.options.grace_period_seconds = body.Int("gracePeriodSeconds");
  raw.options.preconditions = body.ReadPreconditions();
  raw.options.orphan_dependents = body.Bool("orphanDependents");
  raw.propagation_policy = body.Policy("propagationPolicy");
  raw.dry_run = body.Strings("dryRun");
  raw.preconditions = content["preconditions"].is_map();
  raw.options.ignore_store_read_error = body.Bool(kIgnoreStoreReadError).value_or(false);
  RETURN_IF_ERROR(body.error());
  return Judged(std::move(raw), unsafe);
}

Result<TableOptions> ParseTableOptions(const QueryValues& query) {
  TableOptions options;
  const std::string include = Text(query, "includeObject");
  if (include == "None") {
    options.include_object = IncludeObject::kNone;
  } else if (include == "Object") {
    options.include_object = IncludeObject::kObject;
  } else if (!include.empty() && include != "Metadata") {
    ErrorList errors;
    errors.Invalid(Path("includeObject"), include,
                   "must be 'Metadata', 'Object', 'None', or empty");
    return NewBadRequest("Unable to convert to Table as requested: " + errors.Aggregate());
  }
  return options;
}

Result<std::uint64_t> ParseResourceVersion(std::string_view text) {
  if (text.empty()) return std::uint64_t{0};
  const Result<std::uint64_t> number = ParseUint(text);
  if (number.ok()) return *number;
  ErrorList errors;
  errors.Invalid(Path("resourceVersion"), text, std::string(number.status().message()));
  return NewBadRequest("invalid resource version: " + errors.Aggregate());
}

}  // namespace apiserver::v0::meta
