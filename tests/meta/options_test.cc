#include "apiserver/meta/options.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/meta/table.h"

namespace apiserver::inline v0::meta {
namespace {

std::string Message(const Status& status) { return std::string(status.message()); }

std::string ListError(const QueryValues& query) {
  const Status status = ParseListOptions(query).status();
  CHECK(status.reason() == Reason::kInvalid);
  CHECK(status.details() != nullptr);
  const std::string prefix = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const std::string message = Message(status);
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

TEST_CASE("meta: list options are read from the query", "[meta]") {
  const ListOptions options = ParseListOptions({{"labelSelector", "a=b"},
                                                {"fieldSelector", "metadata.name=x"},
                                                {"allowWatchBookmarks", "true"},
                                                {"resourceVersion", "12"},
                                                {"resourceVersionMatch", "Exact"},
                                                {"timeoutSeconds", "30"},
                                                {"limit", "500"},
                                                {"unknown", "?"}})
                                  .value();

  CHECK(options.label_selector.ToString() == "a=b");
  CHECK(options.field_selector.ToString() == "metadata.name=x");
  CHECK(options.allow_watch_bookmarks);
  CHECK_FALSE(options.watch);
  CHECK(options.resource_version == "12");
  CHECK(options.resource_version_match == ResourceVersionMatch::kExact);
  CHECK(options.timeout_seconds == 30);
  CHECK(options.limit == 500);
  CHECK(options.continue_token.empty());
  CHECK(options.send_initial_events == std::nullopt);
}

TEST_CASE("meta: a boolean parameter is false only for 0 and false", "[meta]") {
  const auto [text, value] = GENERATE(table<std::string, bool>({{"true", true},
                                                                {"1", true},
                                                                {"", true},
                                                                {"no", true},
                                                                {"00", true},
                                                                {"0", false},
                                                                {"false", false},
                                                                {"FaLsE", false}}));
  CAPTURE(text);

  CHECK(ParseListOptions({{"watch", text}, {"resourceVersion", "1"}})->watch == value);
}

TEST_CASE("meta: the first of a repeated parameter counts", "[meta]") {
  CHECK(ParseListOptions({{"limit", "1"}, {"limit", "2"}})->limit == 1);
}

TEST_CASE("meta: a number that is none is a bad request in Go's words", "[meta]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>(
      {{"x", R"(strconv.ParseInt: parsing "x": invalid syntax)"},
       {"", R"(strconv.ParseInt: parsing "": invalid syntax)"},
       {"1.5", R"(strconv.ParseInt: parsing "1.5": invalid syntax)"},
       {"9223372036854775808",
        R"(strconv.ParseInt: parsing "9223372036854775808": value out of range)"}}));

  const Status status = ParseListOptions({{"limit", text}}).status();

  CHECK(status.reason() == Reason::kBadRequest);
  CHECK(status.message() == message);
  CHECK(ParseListOptions({{"limit", "+5"}})->limit == 5);
}

TEST_CASE("meta: a bad selector in the query is a bad request", "[meta]") {
  const Status label = ParseListOptions({{"labelSelector", "a="}, {"fieldSelector", "x"}}).status();
  CHECK(label.reason() == Reason::kBadRequest);
  CHECK(label.message() == "invalid selector: 'x'; can't understand 'x'");
  CHECK(ParseListOptions({{"labelSelector", "("}}).status().message() ==
        "found '(', expected: !, identifier, or 'end of string'");
}

// TestValidateListOptions
TEST_CASE("meta: list options that contradict each other are invalid", "[meta]") {
  CHECK(ListError({{"resourceVersion", "0"}, {"resourceVersionMatch", "Exact"}}) ==
        R"(resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for )"
        R"(resourceVersion "0")");
  CHECK(ListError({{"resourceVersionMatch", "NotOlderThan"}}) ==
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
        "resourceVersion is provided");
  CHECK(ListError({{"resourceVersion", "0"}, {"resourceVersionMatch", "foo"}}) ==
        R"(resourceVersionMatch: Unsupported value: "foo": supported values: "Exact", )"
        R"("NotOlderThan", "")");
  CHECK(ListError({{"sendInitialEvents", "true"}}) ==
        "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  CHECK(ListError(
            {{"resourceVersion", "1"}, {"resourceVersionMatch", "Exact"}, {"continue", "abc"}}) ==
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
        "provided");
  CHECK(
      ParseListOptions({{"resourceVersion", "0"}, {"resourceVersionMatch", "NotOlderThan"}}).ok());
  CHECK(ParseListOptions({{"resourceVersion", "1"}, {"resourceVersionMatch", "Exact"}}).ok());
}

TEST_CASE("meta: watch options that contradict each other are invalid", "[meta]") {
  CHECK(ListError({{"watch", "1"}, {"resourceVersionMatch", "NotOlderThan"}}) ==
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
        "sendInitialEvents is provided");
  CHECK(ListError({{"watch", "1"}, {"sendInitialEvents", "true"}}) ==
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch "
        "to NotOlderThan");
  CHECK(ListError(
            {{"watch", "1"}, {"sendInitialEvents", "true"}, {"resourceVersionMatch", "Exact"}}) ==
        "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
        "resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "
        R"("Exact": supported values: "NotOlderThan"])");
  CHECK(ListError({{"watch", "1"},
                   {"sendInitialEvents", "true"},
                   {"resourceVersionMatch", "NotOlderThan"},
                   {"continue", "123"}}) ==
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
        "provided");
}

// TestSetListOptionsDefaults
TEST_CASE("meta: a watch from now or from anywhere begins with the initial events", "[meta]") {
  const auto [rv, defaulted] =
      GENERATE(table<std::string, bool>({{"", true}, {"0", true}, {"1", false}}));
  CAPTURE(rv);

  const ListOptions options = ParseListOptions({{"watch", "1"}, {"resourceVersion", rv}}).value();

  CHECK(options.send_initial_events.has_value() == defaulted);
  CHECK((options.resource_version_match == ResourceVersionMatch::kNotOlderThan) == defaulted);
}

TEST_CASE("meta: a watch that says what it wants is not defaulted", "[meta]") {
  const ListOptions options = ParseListOptions({{"watch", "1"},
                                                {"sendInitialEvents", "false"},
                                                {"resourceVersionMatch", "NotOlderThan"}})
                                  .value();

  CHECK(options.send_initial_events == false);
}

TEST_CASE("meta: a watch by its path is judged as the list that its parameters are", "[meta]") {
  const ListOptions options = ParseListOptions({}, true).value();

  CHECK(options.watch);
  CHECK(options.send_initial_events == std::nullopt);
  CHECK_FALSE(ParseListOptions({{"sendInitialEvents", "true"}}, true).ok());
}

TEST_CASE("meta: write options are read from the query", "[meta]") {
  const CreateOptions options = ParseCreateOptions({{"dryRun", "All"},
                                                    {"dryRun", "All"},
                                                    {"fieldManager", "kubectl"},
                                                    {"fieldValidation", "Strict"}})
                                    .value();

  CHECK(options.dry_run);
  CHECK(options.field_manager == "kubectl");
  CHECK(options.field_validation == FieldValidation::kStrict);
  CHECK(ParseCreateOptions({})->field_validation == FieldValidation::kWarn);
  CHECK(ParseUpdateOptions({{"fieldValidation", "Ignore"}})->field_validation ==
        FieldValidation::kIgnore);
}

// TestInvalidDryRun
TEST_CASE("meta: write options that are not supported are invalid", "[meta]") {
  CHECK(Message(ParseCreateOptions({{"dryRun", "All"}, {"dryRun", "False"}}).status()) ==
        R"(CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["All","False"]: )"
        R"(supported values: "All")");
  CHECK(Message(ParseUpdateOptions({{"dryRun", ""}}).status()) ==
        R"(UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported )"
        R"(values: "All")");
  CHECK(Message(ParseCreateOptions({{"fieldValidation", "strict"}}).status()) ==
        R"(CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "strict": )"
        R"(supported values: "", "Ignore", "Strict", "Warn")");
  CHECK(Message(ParseCreateOptions({{"fieldManager", "\n"}}).status()) ==
        R"(CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "\n": invalid )"
        "character U+000A (at position 0)");
}

// TestValidPatchOptions, TestInvalidPatchOptions
TEST_CASE("meta: an apply needs a manager, and only an apply may force", "[meta]") {
  CHECK(ParsePatchOptions({{"force", "true"}, {"fieldManager", "kubectl"}}, true)->force == true);
  CHECK(ParsePatchOptions({{"fieldManager", "kubectl"}}, true)->force == std::nullopt);
  CHECK(ParsePatchOptions({}, false).ok());
  CHECK(Message(ParsePatchOptions({}, true).status()) ==
        R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for )"
        "apply patch");
  CHECK(Message(ParsePatchOptions({{"force", "false"}}, false).status()) ==
        R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for )"
        "non-apply patch");
}

TEST_CASE("meta: delete options are read from the query", "[meta]") {
  const DeleteOptions options = ParseDeleteOptions({{"gracePeriodSeconds", "0"},
                                                    {"propagationPolicy", "Foreground"},
                                                    {"dryRun", "All"},
                                                    {"uid", "u"},
                                                    {"resourceVersion", "7"}})
                                    .value();

  CHECK(options.grace_period_seconds == 0);
  CHECK(options.propagation_policy == DeletionPropagation::kForeground);
  CHECK(options.dry_run);
  CHECK(options.preconditions.uid == "u");
  CHECK(options.preconditions.resource_version == "7");
  CHECK(ParseDeleteOptions({})->propagation_policy == DeletionPropagation::kUnset);
  CHECK(ParseDeleteOptions({{"orphanDependents", "true"}})->orphan_dependents == true);
}

TEST_CASE("meta: delete options that contradict each other are invalid", "[meta]") {
  CHECK(Message(ParseDeleteOptions({{"propagationPolicy", "Sideways"}}).status()) ==
        R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: )"
        R"("Sideways": supported values: "Foreground", "Background", "Orphan", "nil")");
  CHECK(Message(ParseDeleteOptions({{"propagationPolicy", "Orphan"}, {"orphanDependents", "1"}})
                    .status()) ==
        R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": )"
        "orphanDependents and deletionPropagation cannot be both set");
}

TEST_CASE("meta: delete options are read from a body", "[meta]") {
  const runtime::Member preconditions[] = {{"uid", runtime::Value::String("u")}};
  const runtime::Value dry_run[] = {runtime::Value::String("All")};
  const runtime::Member body[] = {
      {"kind", runtime::Value::String("DeleteOptions")},
      {"gracePeriodSeconds", runtime::Value::Int(5)},
      {"preconditions", runtime::Value::Map(preconditions)},
      {"orphanDependents", runtime::Value()},
      {"propagationPolicy", runtime::Value::String("Background")},
      {"dryRun", runtime::Value::List(dry_run)},
  };

  const DeleteOptions options = DeleteOptionsFrom(runtime::Value::Map(body)).value();

  CHECK(options.grace_period_seconds == 5);
  CHECK(options.preconditions.uid == "u");
  CHECK(options.preconditions.resource_version == std::nullopt);
  CHECK(options.orphan_dependents == std::nullopt);
  CHECK(options.propagation_policy == DeletionPropagation::kBackground);
  CHECK(options.dry_run);
}

TEST_CASE("meta: a delete body with a member of another type is refused in Go's words", "[meta]") {
  const auto error_of = [](const char* key, runtime::Value value) {
    const runtime::Member body[] = {{key, value}};
    return Message(DeleteOptionsFrom(runtime::Value::Map(body)).status());
  };

  CHECK(error_of("gracePeriodSeconds", runtime::Value::String("5")) ==
        "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of "
        "type int64");
  CHECK(error_of("gracePeriodSeconds", runtime::Value::Double(1.5)) ==
        "json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds "
        "of type int64");
  CHECK(error_of("dryRun", runtime::Value::String("All")) ==
        "json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type "
        "[]string");
  CHECK(error_of("propagationPolicy", runtime::Value::Bool(true)) ==
        "json: cannot unmarshal bool into Go struct field DeleteOptions.propagationPolicy of type "
        "v1.DeletionPropagation");
}

// TestValidateDeleteOptionsWithIgnoreStoreReadError
TEST_CASE("meta: what cannot be read is deleted without further wishes", "[meta]") {
  const std::string_view option = "ignoreStoreReadErrorWithClusterBreakingPotential";
  const auto error = [option](std::string_view with) {
    return std::string(option) + ": Invalid value: true: cannot be set together with ." +
           std::string(with);
  };
  const auto invalid = [](const std::string& what) {
    return R"(DeleteOptions.meta.k8s.io "" is invalid: )" + what;
  };
  struct Row {
    std::string name;
    std::optional<bool> option;
    std::string_view dry_run;
    std::string_view policy;
    bool orphan;
    bool more;            // gracePeriodSeconds and empty preconditions.
    std::string message;  // Empty: it is accepted.
  };
  const std::vector<Row> rows{
      {"option is nil", {}, "All", "", false, false, ""},
      {"option is false, PropagationPolicy is set", false, "All", "Background", false, true, ""},
      {"option is false, OrphanDependents is set", false, "All", "", true, true, ""},
      {"option is true, PropagationPolicy is set", true, "All", "Background", false, true,
       invalid("[" + error("propagationPolicy") + ", " + error("gracePeriodSeconds") + ", " +
               error("preconditions") + "]")},
      {"option is true, OrphanDependents is set", true, "All", "", true, true,
       invalid("[" + error("orphanDependents") + ", " + error("gracePeriodSeconds") + ", " +
               error("preconditions") + "]")},
      {"option is true, no other option is set", true, "", "", false, false, ""},
      {"option is true, dry-run is set", true, "All", "", false, false, ""},
      {"option is true, dry-run is set to an invalid value", true, "Invalid", "", false, false,
       invalid(R"(dryRun: Unsupported value: ["Invalid"]: supported values: "All")")},
  };
  using runtime::Value;
  for (const Row& row : rows) {
    INFO(row.name);
    const Value dry_run[] = {Value::String(row.dry_run)};
    std::vector<runtime::Member> body;
    if (row.option) body.push_back({option, Value::Bool(*row.option)});
    if (!row.dry_run.empty()) body.push_back({"dryRun", Value::List(dry_run)});
    if (!row.policy.empty()) body.push_back({"propagationPolicy", Value::String(row.policy)});
    if (row.orphan) body.push_back({"orphanDependents", Value::Bool(true)});
    if (row.more) body.push_back({"gracePeriodSeconds", Value::Int(0)});
    if (row.more) body.push_back({"preconditions", Value::Map({})});

    CHECK(Message(DeleteOptionsFrom(Value::Map(body), UnsafeDeletion::kAllowed).status()) ==
          row.message);
  }
  // Without the feature it is as if nobody had asked.
  const DeleteOptions dropped =
      ParseDeleteOptions({{std::string(option), "true"}, {"gracePeriodSeconds", "1"}}).value();
  CHECK_FALSE(dropped.ignore_store_read_error);
  CHECK(ParseDeleteOptions({{std::string(option), "true"}}, UnsafeDeletion::kAllowed)
            ->ignore_store_read_error);
}

TEST_CASE("meta: a resource version is a decimal number", "[meta]") {
  CHECK(ParseResourceVersion("").value() == 0);
  CHECK(ParseResourceVersion("0").value() == 0);
  CHECK(ParseResourceVersion("18446744073709551615").value() == 18446744073709551615U);
  const Status status = ParseResourceVersion("abc").status();
  CHECK(status.reason() == Reason::kBadRequest);
  CHECK(status.message() ==
        R"(invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: )"
        R"(parsing "abc": invalid syntax)");
  CHECK_FALSE(ParseResourceVersion("-1").ok());
  CHECK_FALSE(ParseResourceVersion("+1").ok());
}

TEST_CASE("meta: table options say what of the objects is included", "[meta]") {
  CHECK(ParseTableOptions({})->include_object == IncludeObject::kMetadata);
  CHECK(ParseTableOptions({{"includeObject", ""}})->include_object == IncludeObject::kMetadata);
  CHECK(ParseTableOptions({{"includeObject", "None"}})->include_object == IncludeObject::kNone);
  CHECK(ParseTableOptions({{"includeObject", "Object"}})->include_object == IncludeObject::kObject);
  CHECK(Message(ParseTableOptions({{"includeObject", "x"}}).status()) ==
        R"(Unable to convert to Table as requested: includeObject: Invalid value: "x": must be )"
        "'Metadata', 'Object', 'None', or empty");
}

}  // namespace apiserver::inline v0::meta
