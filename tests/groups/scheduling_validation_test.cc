// Where a pod may run: rows of TestValidatePod, TestValidateTopologySpreadConstraints,
// TestValidateSchedulingGates and TestNumericTolerationsWithFeatureGate (apis/core/validation).
#include "groups/core/scheduling_validation.h"

#include "groups/value_rows.h"

namespace scheduling_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::CheckValueRows;
using testing::ValueRow;

}  // namespace

TEST_CASE("groups: terms of node affinity", "[groups]") {
  const ValueRow rows[] = {
      {"every operator with as many values as it takes",
       R"([{"matchExpressions":[{"key":"key2","operator":"In","values":["value1","value2"]},
            {"key":"k","operator":"NotIn","values":["v"]},{"key":"k","operator":"Exists"},
            {"key":"k","operator":"DoesNotExist"},{"key":"k","operator":"Gt","values":["1"]},
            {"key":"k","operator":"Lt","values":["1"]}],
           "matchFields":[{"key":"metadata.name","operator":"In","values":["host1"]}]}])"},
      {"a term that asks for nothing", "[{}]"},
      {"no term", "[]", "Required f.nodeSelectorTerms"},
      {"an operator that is none",
       R"([{"matchExpressions":[{"key":"k","operator":"Equals","values":["v"]}]}])",
       "Invalid f.nodeSelectorTerms[0].matchExpressions[0].operator"},
      {"no operator", R"([{"matchExpressions":[{"key":"k"}]}])",
       "Invalid f.nodeSelectorTerms[0].matchExpressions[0].operator"},
      {"a key that is no label's",
       R"([{"matchExpressions":[{"key":"invalid key ___@#","operator":"Exists"}]}])",
       "Invalid f.nodeSelectorTerms[0].matchExpressions[0].key"},
      {"a value that is no label's",
       R"([{"matchExpressions":[{"key":"k","operator":"In","values":["-1","v"]}]}])",
       "Invalid f.nodeSelectorTerms[0].matchExpressions[0].values[0]"},
      {"no values", R"([{},{"matchExpressions":[{"key":"k","operator":"In"}]}])",
       "Required f.nodeSelectorTerms[1].matchExpressions[0].values"},
      {"values where none may be",
       R"([{"matchExpressions":[{"key":"k","operator":"Exists","values":["v"]}]}])",
       "Forbidden f.nodeSelectorTerms[0].matchExpressions[0].values"},
      {"two numbers to compare with",
       R"([{"matchExpressions":[{"key":"k","operator":"Gt","values":["1","2"]}]}])",
       "Required f.nodeSelectorTerms[0].matchExpressions[0].values"},
      {"a field that is none of a node",
       R"([{"matchFields":[{"key":"metadata.namespace","operator":"In","values":["ns1"]}]}])",
       "Invalid f.nodeSelectorTerms[0].matchFields[0].key"},
      {"an operator that fields do not have",
       R"([{"matchFields":[{"key":"metadata.name","operator":"Exists"}]}])",
       "Invalid f.nodeSelectorTerms[0].matchFields[0].operator"},
      {"several names",
       R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["a","b"]}]}])",
       "Required f.nodeSelectorTerms[0].matchFields[0].values"},
      {"a name that no node has",
       R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["A_b"]}]}])",
       "Invalid f.nodeSelectorTerms[0].matchFields[0].values[0]"}};
  // The rows have the terms alone, and the findings the path behind the long word.
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  for (const ValueRow& row : rows) {
    const std::string json = R"({"nodeAffinity":{")" + required + R"(":{"nodeSelectorTerms":)" +
                             std::string(row.json) + "}}}";
    std::string findings = row.findings;
    for (std::size_t at = 0; (at = findings.find(" f.", at)) != std::string::npos;) {
      findings.replace(at, 3, " f.nodeAffinity." + required + ".");
      at += required.size();
    }
    const ValueRow whole[] = {{row.what, json.c_str(), findings.c_str()}};
    CheckValueRows(whole, &groups::core::CheckAffinity);
  }
}

TEST_CASE("groups: preferences are weighed from 1 to 100", "[groups]") {
  const ValueRow rows[] = {
      {"the bounds",
       R"({"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":1,"preference":{"matchExpressions":[{"key":"k","operator":"Exists"}]}},
           {"weight":100,"preference":{"matchExpressions":[{"key":"k","operator":"Exists"}]}}]}})"},
      {"below and above",
       R"({"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":0,"preference":{}},{"weight":101,"preference":{}}]}})",
       "Invalid f.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight, "
       "Invalid f.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].weight"},
      // Values of a preference are no label's values for upstream either.
      {"a value that is no label's",
       R"({"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,
           "preference":{"matchExpressions":[{"key":"k","operator":"In","values":["-1"]}]}}]}})"},
      {"a key that is no label's",
       R"({"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,
           "preference":{"matchExpressions":[{"key":"-","operator":"Exists"}]}}]}})",
       "Invalid f.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
       "matchExpressions[0].key"},
      {"of pods",
       R"({"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":109,"podAffinityTerm":{"topologyKey":"zone"}}]}})",
       "Invalid f.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"}};
  CheckValueRows(rows, &groups::core::CheckAffinity);
}

TEST_CASE("groups: terms of affinity between pods", "[groups]") {
  const ValueRow rows[] = {
      {"all there is",
       R"({"labelSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]},
           "topologyKey":"zone","namespaces":["ns"],"namespaceSelector":{"matchLabels":{"a":"b"}},
           "matchLabelKeys":["app"],"mismatchLabelKeys":["tenant"]})"},
      {"no topology", R"({"labelSelector":{}})",
       "Required topologyKey, Invalid topologyKey, Invalid topologyKey"},
      {"a topology that is no label", R"({"topologyKey":"a b"})", "Invalid topologyKey"},
      {"a namespace that is none", R"({"topologyKey":"zone","namespaces":["ok","INVALID"]})",
       "Invalid namespace"},
      {"a selector with values for Exists",
       R"({"topologyKey":"zone","labelSelector":{"matchExpressions":[
           {"key":"k","operator":"Exists","values":["v"]}]}})",
       "Forbidden labelSelector.matchExpressions[0].values"},
      {"a selector of namespaces without values for In",
       R"({"topologyKey":"zone","namespaceSelector":{"matchExpressions":[
           {"key":"k","operator":"In"}]}})",
       "Required namespaceSelector.matchExpressions[0].values"},
      {"a selector with a label that is none",
       R"({"topologyKey":"zone","labelSelector":{"matchLabels":{"a b":"c"}}})",
       "Invalid labelSelector.matchLabels"},
      {"keys without a selector", R"({"topologyKey":"zone","matchLabelKeys":["a"]})",
       "Forbidden matchLabelKeys"},
      {"other keys without a selector", R"({"topologyKey":"zone","mismatchLabelKeys":["a"]})",
       "Forbidden mismatchLabelKeys"},
      {"keys that are no labels",
       R"({"topologyKey":"zone","labelSelector":{},"matchLabelKeys":["ok","/simple"],
           "mismatchLabelKeys":["/simple"]})",
       "Invalid matchLabelKeys[1], Invalid mismatchLabelKeys[0], Invalid matchLabelKeys[1]"},
      {"one key that must match and must not",
       R"({"topologyKey":"zone","labelSelector":{},"matchLabelKeys":["a","b"],
           "mismatchLabelKeys":["b"]})",
       "Invalid matchLabelKeys[1]"},
      {"a key that the selector asks for, too",
       R"({"topologyKey":"zone","matchLabelKeys":["foo"],"labelSelector":{"matchExpressions":[
           {"key":"foo","operator":"In","values":["v1"]},
           {"key":"foo","operator":"In","values":["v2"]}]}})",
       "Invalid [0]"}};
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  const char* const kind = GENERATE("podAffinity", "podAntiAffinity");
  for (const ValueRow& row : rows) {
    const std::string json = std::string("{\"") + kind + "\":{\"" + required +
                             R"(":[{"topologyKey":"zone"},)" + row.json + "]}}";
    const std::string path = std::string("f.") + kind + "." + required + "[1]";
    std::string findings;
    for (std::string_view rest = row.findings; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(", "));
      rest.remove_prefix(std::min(rest.size(), one.size() + 2));
      const std::size_t blank = one.find(' ');
      const std::string_view field = one.substr(blank + 1);
      findings += (findings.empty() ? "" : ", ") + std::string(one.substr(0, blank + 1)) + path +
                  (field.starts_with('[') ? "" : ".") + std::string(field);
    }
    const ValueRow whole[] = {{row.what, json.c_str(), findings.c_str()}};
    CheckValueRows(whole, &groups::core::CheckAffinity);
  }
}

TEST_CASE("groups: tolerations", "[groups]") {
  const ValueRow rows[] = {
      {"each operator",
       R"([{"key":"foo","operator":"Equal","value":"bar","effect":"NoSchedule"},
           {"key":"foo","value":"bar"},{"key":"foo","operator":"Exists","effect":"NoExecute",
            "tolerationSeconds":60},{"operator":"Exists"},
           {"key":"foo","operator":"Exists","effect":"NoExecute","tolerationSeconds":-2},
           {"key":"foo","operator":"Exists","effect":"PreferNoSchedule"}])"},
      {"a key that is no label's", R"([{"key":"nospecialchars^=@","operator":"Equal"}])",
       "Invalid f[0].key"},
      {"no key, but a value", R"([{"operator":"Equal","value":"bar"}])", "Invalid f[0].operator"},
      {"neither key nor operator", R"([{"operator":"Exists"},{"effect":"NoSchedule"}])",
       "Invalid f[1].operator"},
      {"an operator that is none", R"([{"key":"foo","operator":"In","value":"bar"}])",
       "NotSupported f[0].operator"},
      // The feature gate TaintTolerationComparisonOperators is off in 1.35.
      {"comparisons", R"([{"key":"foo","operator":"Gt","value":"1"}])",
       "NotSupported f[0].operator"},
      {"a value for Exists", R"([{"key":"foo","operator":"Exists","value":"bar"}])",
       "Invalid f[0].operator"},
      {"a value that is no label's", R"([{"key":"foo","value":"a b"}])", "Invalid f[0].operator"},
      {"an effect that is none", R"([{"key":"foo","operator":"Exists","effect":"TakeOver"}])",
       "NotSupported f[0].effect"},
      {"seconds for another effect",
       R"([{"key":"foo","operator":"Exists","effect":"NoSchedule","tolerationSeconds":20}])",
       "Invalid f[0].effect"},
      {"seconds without an effect", R"([{"key":"foo","operator":"Exists","tolerationSeconds":20}])",
       "Invalid f[0].effect"}};
  CheckValueRows(rows, &groups::core::CheckTolerations);
}

TEST_CASE("groups: constraints that spread pods", "[groups]") {
  const ValueRow rows[] = {
      {"all required fields ok",
       R"([{"maxSkew":1,"topologyKey":"k8s.io/zone","whenUnsatisfiable":"DoNotSchedule",
            "minDomains":3}])"},
      {"missing MaxSkew", R"([{"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
       "Invalid f[0].maxSkew"},
      {"negative MaxSkew",
       R"([{"maxSkew":-1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
       "Invalid f[0].maxSkew"},
      {"ScheduleAnyway without MinDomains",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}])"},
      {"negative minDomains is invalid",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","minDomains":-1}])",
       "Invalid f[0].minDomains"},
      {"cannot use non-nil MinDomains with ScheduleAnyway",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","minDomains":10}])",
       "Invalid f[0].minDomains"},
      {"use negative MinDomains with ScheduleAnyway(invalid)",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","minDomains":-1}])",
       "Invalid f[0].minDomains, Invalid f[0].minDomains"},
      {"missing TopologyKey", R"([{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}])",
       "Required f[0].topologyKey"},
      {"missing scheduling mode", R"([{"maxSkew":1,"topologyKey":"z"}])",
       "NotSupported f[0].whenUnsatisfiable"},
      {"unsupported scheduling mode",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"N/A"}])",
       "NotSupported f[0].whenUnsatisfiable"},
      {"multiple constraints ok with all required fields",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},
           {"maxSkew":2,"topologyKey":"n","whenUnsatisfiable":"ScheduleAnyway"},
           {"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}])"},
      {"multiple constraints missing TopologyKey on partial ones",
       R"([{"maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"},
           {"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
       "Required f[0].topologyKey"},
      {"duplicate constraints",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},
           {"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
       "Duplicate f[0].{topologyKey, whenUnsatisfiable}"},
      {"supported policy name set on NodeAffinityPolicy and NodeTaintsPolicy",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "nodeAffinityPolicy":"Honor","nodeTaintsPolicy":"Ignore"}])"},
      {"unsupported policy names",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "nodeAffinityPolicy":"Unknown","nodeTaintsPolicy":"Unknown"}])",
       "NotSupported f[0].nodeAffinityPolicy, NotSupported f[0].nodeTaintsPolicy"},
      {"key in MatchLabelKeys isn't correctly defined",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "labelSelector":{},"matchLabelKeys":["/simple"]}])",
       "Invalid f[0].matchLabelKeys[0]"},
      {"key exists in both MatchLabelKeys and LabelSelector",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "matchLabelKeys":["foo"],"labelSelector":{"matchExpressions":[
            {"key":"foo","operator":"In","values":["value1"]},
            {"key":"foo","operator":"In","values":["value2","value3"]}]}}])",
       "Invalid f[0][0]"},
      {"key in MatchLabelKeys is forbidden to be specified when LabelSelector is not set",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "matchLabelKeys":["foo"]}])",
       "Forbidden f[0].matchLabelKeys"},
      {"invalid MatchLabels set on LabelSelector",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "labelSelector":{"matchLabels":{"NoUppercaseOrSpecialCharsLike=Equals":"foo"}}}])",
       "Invalid f[0].labelSelector.matchLabels"},
      {"valid MatchLabels set on LabelSelector",
       R"([{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
            "labelSelector":{"matchLabels":{"foo":"foo"}}}])"}};
  CheckValueRows(rows, &groups::core::CheckSpreadConstraints);
}

// TestValidateSchedulingGates.
TEST_CASE("groups: gates have names of their own", "[groups]") {
  const ValueRow rows[] = {
      {"nil gates", "null"},
      {"empty string in gates", R"([{"name":"foo"},{"name":""}])", "Invalid f[1], Invalid f[1]"},
      {"legal gates", R"([{"name":"foo"},{"name":"bar"},{"name":"example.com/bar"}])"},
      {"illegal gates", R"([{"name":"foo"},{"name":"\nbar"}])", "Invalid f[1]"},
      {"duplicated gates", R"([{"name":"foo"},{"name":"bar"},{"name":"bar"}])", "Duplicate f[2]"}};
  CheckValueRows(rows, &groups::core::CheckSchedulingGates);
}

TEST_CASE("groups: effects of taints", "[groups]") {
  const bool needed = GENERATE(false, true);
  const auto check = [needed](runtime::Value effect, const field::Path& path,
                              field::ErrorList& errors) {
    groups::core::CheckTaintEffect(effect, needed, path, errors);
  };
  const ValueRow rows[] = {{"known", R"("NoSchedule")"},
                           {"known", R"("PreferNoSchedule")"},
                           {"known", R"("NoExecute")"},
                           {"another case", R"("noschedule")", "NotSupported f"},
                           {"none", R"("")", needed ? "Required f" : "NotSupported f"}};
  CheckValueRows(rows, check);
}

}  // namespace scheduling_rows_test
