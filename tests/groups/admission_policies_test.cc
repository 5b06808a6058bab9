// pkg/apis/admissionregistration/validation/validation_test.go, the tables of policies and
// bindings, and strategy_test.go of pkg/registry/admissionregistration.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/groups/admissionregistration.h"
#include "groups/admissionregistration/policy_validation.h"
#include "groups/validation_rows.h"

namespace {

namespace group = apiserver::groups::admissionregistration;
namespace policy = apiserver::admission::policy;
using apiserver::Context;
using apiserver::field::ErrorList;
using apiserver::runtime::Object;

// Notes the expressions that it is asked about; texts that contain "bad" are errors.
class ExpressionRecorder final : public policy::ExpressionChecker {
 public:
  void Check(const policy::Expression& expression, const apiserver::field::Path& path,
             ErrorList& errors) override {
    lines.push_back(std::to_string(static_cast<int>(expression.use)) + " " + path.text() + " [" +
                    std::string(expression.text) + "]" +
                    (expression.name.empty() ? "" : " as " + std::string(expression.name)) +
                    (expression.has_params ? " params" : "") +
                    (expression.stored ? " stored" : ""));
    if (expression.text.find("bad") == std::string_view::npos) return;
    errors.Invalid(path, expression.bad_value, "compilation failed: bad");
  }

  std::vector<std::string> lines;
};

// Members of a spec, by name; later ones replace earlier ones.
struct PolicySpec {
  std::vector<std::pair<std::string, std::string>> members;

  PolicySpec With(const std::string& name, const std::string& value) const {
    PolicySpec changed;
    for (const auto& member : members) {
      if (member.first != name) changed.members.push_back(member);
    }
    if (!value.empty()) changed.members.emplace_back(name, value);
    return changed;
  }
  std::string Json(const std::string& name = "config") const {
    std::string text = R"({"metadata":{"name":")" + name + R"("},"spec":{)";
    for (const auto& [key, value] : members) {
      if (text.back() != '{') text += ",";
      text += "\"" + key + "\":" + value;
    }
    return text + "}}";
  }
};

const std::string kPolicyRule =
    R"({"operations":["CREATE"],"apiGroups":["a"],"apiVersions":["a"],"resources":["a"]})";
std::string MatchJson(const std::string& rules, const std::string& more = "") {
  return R"({"resourceRules":[)" + rules + "]" + more + "}";
}

const PolicySpec kValidating{{{"matchConstraints", MatchJson(kPolicyRule)},
                              {"validations", R"([{"expression":"object.x < 100"}])"}}};
const PolicySpec kMutating{
    {{"matchConstraints", MatchJson(kPolicyRule)},
     {"mutations",
      R"([{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}])"},
     {"reinvocationPolicy", R"("Never")"}}};
const PolicySpec kValidatingBinding{
    {{"policyName", R"("x")"}, {"validationActions", R"(["Deny"])"}}};
const PolicySpec kMutatingBinding{{{"policyName", R"("x")"}}};

std::unique_ptr<Object> ParsePolicy(const std::string& kind, const std::string& json) {
  return apiserver::testing::ParseRow(group::PolicyKinds(), kind, json);
}

std::string ErrorsOf(const ErrorList& errors) { return errors.empty() ? "" : errors.Aggregate(); }

std::string PolicyErrors(const std::string& kind, const std::string& json) {
  ExpressionRecorder recorder;
  return ErrorsOf(group::ValidatePolicy(*ParsePolicy(kind, json), nullptr, recorder));
}

struct PolicyRow {
  std::string name;
  std::string object;
  std::string error;  // Everything that is wrong; empty: nothing is.
};

void CheckPolicyRows(const std::string& kind, const std::vector<PolicyRow>& rows) {
  for (const PolicyRow& row : rows) {
    INFO(row.name << ": " << row.object);
    const bool binding = kind.ends_with("Binding");
    CHECK((binding ? ErrorsOf(group::ValidatePolicyBinding(*ParsePolicy(kind, row.object)))
                   : PolicyErrors(kind, row.object)) == row.error);
  }
}

std::string RulesJson(const std::string& operations, const std::string& resources) {
  return MatchJson(R"({"operations":[)" + operations +
                   R"(],"apiGroups":["a"],"apiVersions":["a"],"resources":[)" + resources + "]}");
}

std::string ManyItems(int count, const std::string& before, const std::string& after) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += (list.empty() ? "" : ",") + before + std::to_string(i) + after;
  }
  return "[" + list + "]";
}

}  // namespace

// TestValidateValidatingAdmissionPolicy
TEST_CASE("policies: matched requests are validated as upstream", "[groups]") {
  const auto with = [](const std::string& match) {
    return kValidating.With("matchConstraints", match).Json();
  };
  CheckPolicyRows(
      "ValidatingAdmissionPolicy",
      {{"valid", kValidating.Json(), ""},
       {"metadata.name validation", kValidating.Json("!!!!"),
        "metadata.name: Invalid value: \"!!!!\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
       {"failure policy validation", kValidating.With("failurePolicy", "\"other\"").Json(),
        "spec.failurePolicy: Unsupported value: \"other\": supported values: \"Fail\", "
        "\"Ignore\""},
       {"no match constraints", with(""), "spec.matchConstraints: Required value"},
       {"matchConstraints.resourceRules is required", with("{}"),
        "spec.matchConstraints.resourceRules: Required value"},
       {"resourceNames check",
        with(MatchJson(R"({"resourceNames":["/./."],)" + kPolicyRule.substr(1))),
        "spec.matchConstraints.resourceRules[0].resourceNames[0]: Invalid value: \"/./.\": may not "
        "contain '/'"},
       {"resourceNames cannot duplicate",
        with(MatchJson(R"({"resourceNames":["test","test"],)" + kPolicyRule.substr(1))),
        "spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: \"test\""},
       {"matchPolicy", with(MatchJson(kPolicyRule, R"(,"matchPolicy":"other")")),
        "spec.matchConstraints.matchPolicy: Unsupported value: \"other\": supported values: "
        "\"Equivalent\", \"Exact\""},
       {"operation must be either create/update", with(RulesJson("\"PATCH\"", "\"a\"")),
        "spec.matchConstraints.resourceRules[0].operations[0]: Unsupported value: \"PATCH\": "
        "supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\""},
       {"resource a/* cannot mix with a/x", with(RulesJson("\"CREATE\"", R"("a/*","a/x")")),
        "spec.matchConstraints.resourceRules[0].resources[1]: Invalid value: \"a/x\": if 'a/*' is "
        "present, must not specify a/x"},
       {"exclude rules too",
        with(MatchJson(kPolicyRule,
                       R"(,"excludeResourceRules":[{"operations":["CREATE"],"apiGroups":["a"],)"
                       R"("resources":["a"]}])")),
        "spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value"},
       {"selector", with(MatchJson(kPolicyRule, R"(,"objectSelector":{"matchLabels":{"a":"-"}})")),
        "spec.matchConstraints.objectSelector.matchLabels: Invalid value: \"-\": a valid label "
        "must "
        "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
        "regex "
        "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}});
}

TEST_CASE("policies: paramKind is validated as upstream", "[groups]") {
  const auto with = [](const std::string& version, const std::string& kind) {
    return kValidating
        .With("paramKind", R"({"apiVersion":")" + version + R"(","kind":")" + kind + "\"}")
        .Json();
  };
  const std::string label =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
      "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
      "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  CheckPolicyRows(
      "ValidatingAdmissionPolicy",
      {{"valid", with("example.com/v1", "FooBar"), ""},
       {"legacy group", with("v1", "ConfigMap"), ""},
       {"both empty", with("", ""),
        "[spec.paramKind.apiVersion: Required value, spec.paramKind.kind: Required value]"},
       {"too many slashes", with("a/b/c", "Foo"),
        "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: "
        "a/b/c"},
       {"no version", with("example.com/", "Foo"),
        "spec.paramKind.apiVersion: Invalid value: \"example.com/\": version must be "
        "specified"},
       {"odd version", with("example.com/1v", "Foo"),
        "spec.paramKind.apiVersion: Invalid value: \"1v\": " + label},
       {"odd kind", with("v1", "Foo!"),
        "spec.paramKind.kind: Invalid value: \"Foo!\": may have mixed case, but should "
        "otherwise match: " +
            label}});
}

TEST_CASE("policies: validations and messages are validated as upstream", "[groups]") {
  const auto with = [](const std::string& validation) {
    return kValidating.With("validations", "[" + validation + "]").Json();
  };
  CheckPolicyRows(
      "ValidatingAdmissionPolicy",
      {{"nothing to do", kValidating.With("validations", "").Json(),
        "[spec.validations: Required value: validations or auditAnnotations must contain at least "
        "one item, spec.auditAnnotations: Required value: validations or auditAnnotations must "
        "contain at least one item]"},
       {"expression is required", with(R"({"expression":" \n"})"),
        "spec.validations[0].expression: Required value: expression is not specified"},
       {"invalid expression", with(R"({"expression":" bad "})"),
        "spec.validations[0].expression: Invalid value: \" bad \": compilation failed: bad"},
       {"invalid messageExpression", with(R"({"expression":"a","messageExpression":"bad"})"),
        "spec.validations[0].messageExpression: Invalid value: \"bad\": compilation failed: bad"},
       {"blank messageExpression", with(R"({"expression":"a","messageExpression":" "})"),
        "spec.validations[0].messageExpression: Invalid value: \" \": must be non-empty if "
        "specified"},
       {"blank message", with(R"({"expression":"a","message":" "})"),
        "spec.validations[0].message: Invalid value: \" \": must be non-empty if specified"},
       {"message of two lines", with(R"({"expression":"a","message":"b\nc"})"),
        "spec.validations[0].message: Invalid value: \"b\\nc\": must not contain line breaks"},
       {"line break at the end", with(R"({"expression":"a","message":"b\n"})"), ""},
       {"unknown reason", with(R"({"expression":"a","reason":"Unauthorized"})"),
        "spec.validations[0].reason: Unsupported value: \"Unauthorized\": supported values: "
        "\"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\""}});
}

TEST_CASE("policies: conditions, variables and annotations are validated as upstream", "[groups]") {
  const auto annotated = [](const std::string& annotations, const std::string& name = "config") {
    return kValidating.With("validations", "").With("auditAnnotations", annotations).Json(name);
  };
  const std::string part =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const std::string one = R"({"name":"a","expression":"true"})";
  CheckPolicyRows(
      "ValidatingAdmissionPolicy",
      {{"single match condition must have a name",
        kValidating.With("matchConditions", R"([{"expression":"true"}])").Json(),
        "spec.matchConditions[0].name: Required value"},
       {"condition without expression",
        kValidating.With("matchConditions", R"([{"name":"a","expression":" "}])").Json(),
        "spec.matchConditions[0].expression: Required value"},
       {"conditions of one name",
        kValidating.With("matchConditions", "[" + one + "," + one + "]").Json(),
        "spec.matchConditions[1].name: Duplicate value: \"a\""},
       {"65 conditions",
        kValidating
            .With("matchConditions", ManyItems(65, R"({"name":"a)", R"(","expression":"a"})"))
            .Json(),
        "spec.matchConditions: Too many: 65: must have at most 64 items"},
       {"variable composition empty name",
        kValidating.With("variables", R"([{"name":" ","expression":"true"}])").Json(),
        "spec.variables[0].name: Required value: name is not specified"},
       {"variable composition name is not a valid identifier",
        kValidating.With("variables", R"([{"name":"4ever","expression":"true"}])").Json(),
        "spec.variables[0].name: Invalid value: \"4ever\": must be a valid CEL identifier"},
       {"reserved word",
        kValidating.With("variables", R"([{"name":"package","expression":"true"}])").Json(),
        "spec.variables[0].name: Invalid value: \"package\": must be a valid CEL identifier"},
       {"variable without expression",
        kValidating.With("variables", R"([{"name":"a","expression":""}])").Json(),
        "spec.variables[0].expression: Required value: expression is not specified"},
       {"invalid auditAnnotations key due to key name",
        annotated(R"([{"key":"@","valueExpression":"value"}])"),
        "spec.auditAnnotations[0].key: Invalid value: \"config/@\": " + part},
       {"auditAnnotations keys must be unique",
        annotated(R"([{"key":"a","valueExpression":"'1'"},{"key":"a","valueExpression":"'2'"}])"),
        "spec.auditAnnotations[1].key: Duplicate value: \"a\""},
       {"no value", annotated(R"([{"key":"a","valueExpression":" "}])"),
        "spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not "
        "specified"},
       {"value of 5121 bytes",
        annotated(R"([{"key":"a","valueExpression":")" + std::string(5121, 'x') + "\"}]"),
        "spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in "
        "length"}});
  const std::string many =
      PolicyErrors("ValidatingAdmissionPolicy",
                   annotated(ManyItems(21, R"({"key":"a)", R"(","valueExpression":"'b'"})")));
  CHECK(many.starts_with(R"(spec.auditAnnotations: Invalid value: [{"Key":"a0","ValueExpression":)"
                         R"("'b'"},{"Key":"a1",)"));
  CHECK(many.ends_with("must not have more than 20 auditAnnotations"));
}

// TestValidateMutatingAdmissionPolicy
TEST_CASE("policies: mutations are validated as upstream", "[groups]") {
  const auto with = [](const std::string& mutation) {
    return kMutating.With("mutations", "[" + mutation + "]").Json();
  };
  const std::string both =
      R"("applyConfiguration":{"expression":"Object{}"},"jsonPatch":{"expression":"[]"})";
  CheckPolicyRows(
      "MutatingAdmissionPolicy",
      {{"valid", kMutating.Json(), ""},
       {"no mutations", kMutating.With("mutations", "").Json(),
        "spec.mutations: Required value: mutations must contain at least one item"},
       {"no patch type", with(R"({})"), "spec.mutations[0].patchType: Required value"},
       {"unknown patch type", with(R"({"patchType":"Merge"})"),
        "spec.mutations[0].patchType: Unsupported value: \"Merge\": supported values: "
        "\"ApplyConfiguration\", \"JSONPatch\""},
       {"no JSON Patch", with(R"({"patchType":"JSONPatch"})"),
        "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is "
        "JSONPatch"},
       {"no apply configuration", with(R"({"patchType":"ApplyConfiguration"})"),
        "spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is "
        "ApplyConfiguration"},
       {"both, as JSON Patch", with(R"({"patchType":"JSONPatch",)" + both + "}"),
        "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not "
        "be "
        "specified when patchType is JSONPatch"},
       {"both, as apply configuration", with(R"({"patchType":"ApplyConfiguration",)" + both + "}"),
        "spec.mutations[0].jsonPatch: Invalid value: \"{jsonPatch}\": must not be specified when "
        "patchType is ApplyConfiguration"},
       {"blank expression", with(R"({"patchType":"JSONPatch","jsonPatch":{"expression":" "}})"),
        "spec.mutations[0].jsonPatch.expression: Required value"},
       {"no reinvocation policy", kMutating.With("reinvocationPolicy", "").Json(),
        "spec.reinvocationPolicy: Required value"},
       {"unknown reinvocation policy", kMutating.With("reinvocationPolicy", "\"Always\"").Json(),
        "spec.reinvocationPolicy: Unsupported value: \"Always\": supported values: \"IfNeeded\", "
        "\"Never\""},
       {"DELETE", kMutating.With("matchConstraints", RulesJson("\"DELETE\"", "\"a\"")).Json(),
        "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported "
        "values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\""}});
}

// TestValidateValidatingAdmissionPolicyBinding, TestValidateMutatingAdmissionPolicyBinding
TEST_CASE("policies: bindings are validated as upstream", "[groups]") {
  const auto actions = [](const std::string& list) {
    return kValidatingBinding.With("validationActions", list).Json();
  };
  const auto param = [](const std::string& ref) {
    return kValidatingBinding.With("paramRef", ref).Json();
  };
  CheckPolicyRows(
      "ValidatingAdmissionPolicyBinding",
      {{"valid", kValidatingBinding.Json(), ""},
       {"no policy", kValidatingBinding.With("policyName", "").Json(),
        "spec.policyName: Required value"},
       {"no actions", actions(""),
        "spec.validationActions: Required value: at least one validation action is required"},
       {"unknown action", actions(R"(["illegal"])"),
        "spec.validationActions[0]: Unsupported value: \"illegal\": supported values: \"Audit\", "
        "\"Deny\", \"Warn\""},
       {"duplicate", actions(R"(["Deny","Deny"])"),
        "spec.validationActions[1]: Duplicate value: \"Deny\""},
       {"validationActions must not contain both Deny and Warn", actions(R"(["Deny","Warn"])"),
        "spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not contain both Deny "
        "and "
        "Warn (repeating the same validation failure information in the API response and headers "
        "serves no purpose)"},
       {"paramRef of a name", param(R"({"name":"a","parameterNotFoundAction":"Deny"})"), ""},
       {"paramRef of a selector", param(R"({"selector":{},"parameterNotFoundAction":"Allow"})"),
        ""},
       {"neither", param(R"({"parameterNotFoundAction":"Deny"})"),
        "spec.paramRef: Required value: one of name or selector must be specified"},
       {"both", param(R"({"name":"a","selector":{},"parameterNotFoundAction":"Deny"})"),
        "[spec.paramRef.name: Forbidden: name and selector are mutually exclusive, "
        "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive]"},
       {"no action", param(R"({"name":"a"})"),
        "spec.paramRef.parameterNotFoundAction: Required value"},
       {"unknown action if there is none",
        param(R"({"name":"a","parameterNotFoundAction":"Skip"})"),
        "spec.paramRef.parameterNotFoundAction: Unsupported value: \"Skip\": supported values: "
        "\"Deny\", \"Allow\""}});
  CheckPolicyRows(
      "MutatingAdmissionPolicyBinding",
      {{"valid", kMutatingBinding.Json(), ""},
       {"rules are optional", kMutatingBinding.With("matchResources", "{}").Json(), ""},
       {"DELETE", kMutatingBinding.With("matchResources", RulesJson("\"DELETE\"", "\"a\"")).Json(),
        "spec.matchResources.resourceRules.operations: Unsupported value: \"DELETE\": "
        "supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\""}});
}

TEST_CASE("policies: each expression is checked for its use", "[groups]") {
  const PolicySpec spec =
      kValidating.With("paramKind", R"({"apiVersion":"v1","kind":"ConfigMap"})")
          .With("matchConditions", R"([{"name":"c","expression":" cond "}])")
          .With("variables", R"([{"name":"v","expression":" var "}])")
          .With("validations", R"([{"expression":" val ","messageExpression":" msg "}])")
          .With("auditAnnotations", R"([{"key":"k","valueExpression":" audit "}])");
  ExpressionRecorder created;
  const auto object = ParsePolicy("ValidatingAdmissionPolicy", spec.Json());
  CHECK(ErrorsOf(group::ValidatePolicy(*object, nullptr, created)) == "");
  CHECK(created.lines ==
        std::vector<std::string>{"0 spec.matchConditions[0].expression [cond] params",
                                 "1 spec.variables[0].expression [ var ] as v params",
                                 "2 spec.validations[0].expression [ val ] params",
                                 "3 spec.validations[0].messageExpression [ msg ] params",
                                 "4 spec.auditAnnotations[0].valueExpression [audit] params"});
  // TestValidateValidatingAdmissionPolicyUpdate: what is stored may use what was allowed then.
  ExpressionRecorder updated;
  const auto now =
      ParsePolicy("ValidatingAdmissionPolicy",
                  spec.With("paramKind", "").With("failurePolicy", "\"Ignore\"").Json());
  CHECK(ErrorsOf(group::ValidatePolicy(*now, object.get(), updated)) == "");
  CHECK(updated.lines ==
        std::vector<std::string>{"0 spec.matchConditions[0].expression [cond]",
                                 "1 spec.variables[0].expression [ var ] as v",
                                 "2 spec.validations[0].expression [ val ] stored",
                                 "3 spec.validations[0].messageExpression [ msg ] stored",
                                 "4 spec.auditAnnotations[0].valueExpression [audit] stored"});
  // MatchJson conditions that did not change are not checked again.
  ExpressionRecorder same;
  CHECK(ErrorsOf(group::ValidatePolicy(*object, object.get(), same)) == "");
  CHECK(same.lines.size() == 4);
  CHECK(same.lines.front().starts_with("1 spec.variables[0]"));
}

TEST_CASE("policies: both forms of a mutation are compiled", "[groups]") {
  const PolicySpec spec = kMutating.With(
      "mutations",
      R"([{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":" Object{} "}},)"
      R"({"patchType":"JSONPatch","jsonPatch":{"expression":" [] bad "}}])");
  ExpressionRecorder recorder;
  const auto object = ParsePolicy("MutatingAdmissionPolicy", spec.Json());
  CHECK(ErrorsOf(group::ValidatePolicy(*object, object.get(), recorder)) ==
        "spec.mutations[1].jsonPatch.expression: Invalid value: \"[] bad\": compilation failed: "
        "bad");
  CHECK(recorder.lines == std::vector<std::string>{
                              "5 spec.mutations[0].applyConfiguration.expression [Object{}] stored",
                              "6 spec.mutations[1].jsonPatch.expression [[] bad]"});
}

// TestValidateValidatingAdmissionPolicyStatus
TEST_CASE("policies: a status is validated as upstream", "[groups]") {
  const auto errors = [](const std::string& status) {
    return ErrorsOf(group::ValidatePolicyStatus(*ParsePolicy(
        "ValidatingAdmissionPolicy", R"({"metadata":{"name":"a"},"status":)" + status + "}")));
  };
  const auto warned = [&](const std::string& ref, const std::string& warning) {
    return errors(R"({"typeChecking":{"expressionWarnings":[{"fieldRef":")" + ref +
                  R"(","warning":")" + warning + "\"}]}}");
  };
  const std::string path = "status.typeChecking.expressionWarnings[0].";
  CHECK(errors("{}") == "");
  CHECK(warned("spec.validations[0].expression", "x") == "");
  CHECK(warned("spec.validations['a'][*][1:2].expression", "x") == "");
  CHECK(warned("", "") ==
        "[" + path + "warning: Required value, " + path + "fieldRef: Required value]");
  CHECK(warned("spec.foo[", "x") == path +
                                        "fieldRef: Invalid value: \"spec.foo[\": invalid JSONPath: "
                                        "unterminated array");
  CHECK(warned("spec[x]", "x") == path +
                                      "fieldRef: Invalid value: \"spec[x]\": invalid JSONPath: "
                                      "invalid array index x");
  CHECK(warned("spec!", "x") == path +
                                    "fieldRef: Invalid value: \"spec!\": invalid JSONPath: "
                                    "unrecognized character in action: U+0021 '!'");
  const std::string condition =
      R"({"type":"a","status":"True","reason":"Good","lastTransitionTime":"2024-01-01T00:00:00Z"})";
  CHECK(errors(R"({"conditions":[)" + condition + "]}") == "");
  CHECK(errors(R"({"conditions":[)" + condition + "," + condition + "]}") ==
        "status.conditions[1].type: Duplicate value: \"a\"");
  CHECK(errors(R"({"conditions":[{"type":"a","status":"Yes"}]})") ==
        "[status.conditions[0].status: Unsupported value: \"Yes\": supported values: \"False\", "
        "\"True\", \"Unknown\", status.conditions[0].lastTransitionTime: Required value, "
        "status.conditions[0].reason: Required value]");
}
