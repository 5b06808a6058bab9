#include <utility>

#include "apiserver/audit/policy.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "codec/config_reader.h"

namespace apiserver::v0::audit {

namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::string_view kStagesAllowed =
    "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic";

// Prints a list of strings as Go does, for the value of an error.
std::string PrintedList(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) {
    if (text.size() > 1) text += ',';
    text += field::Quote(value);
  }
  return text + "]";
}

// Reads and validates one policy: policy/reader.go and apis/audit/validation.
class PolicyReader {
 public:
  explicit PolicyReader(std::string_view text) : reader_(text) {}

  Result<Policy> Read() {
    ASSIGN_OR_RETURN(const Value root, reader_.Parse("Policy", {"audit.k8s.io/v1"}));
    const Path top;
    reader_.CheckFields(
        top, root, {"apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"});
    Policy policy;
    policy.omit_stages = OmitStages(top.Child("omitStages"), root["omitStages"]);
    policy.omit_managed_fields =
        reader_.Bool(top.Child("omitManagedFields"), root["omitManagedFields"]).value_or(false);
    for (const auto& item : reader_.Items(top.Child("rules"), root["rules"])) {
      policy.rules.push_back(Rule(item.path, item.value));
    }
    reader_.Wrong(errors_);
    RETURN_IF_ERROR(reader_.Outcome());
    // Go refuses a policy without rules as well.
    if (policy.rules.empty()) {
      return Status(Reason::kInvalid,
                    "rules is empty, so nothing would be recorded; give at least one rule, such as "
                    "`- level: Metadata`");
    }
    return policy;
  }

 private:
  PolicyRule Rule(const Path& path, Value value) {
    PolicyRule rule;
    // An empty element of the list is reported as a rule without level, as by Go's validation.
    if (!reader_.IsMap(path, value)) {
      if (value.is_null()) errors_.Required(path.Child("level"));
      return rule;
    }
    reader_.CheckFields(path, value,
                        {"level", "users", "userGroups", "verbs", "resources", "namespaces",
                         "nonResourceURLs", "omitStages", "omitManagedFields"});
    rule.level = LevelAt(path.Child("level"), value["level"]);
    rule.users = reader_.Texts(path.Child("users"), value["users"]);
    rule.user_groups = reader_.Texts(path.Child("userGroups"), value["userGroups"]);
    rule.verbs = reader_.Texts(path.Child("verbs"), value["verbs"]);
    rule.namespaces = reader_.Texts(path.Child("namespaces"), value["namespaces"]);
    rule.non_resource_urls = NonResourceURLs(path.Child("nonResourceURLs"), value);
    for (const auto& item : reader_.Items(path.Child("resources"), value["resources"])) {
      rule.resources.push_back(Resources(item.path, item.value));
    }
    rule.omit_stages = OmitStages(path.Child("omitStages"), value["omitStages"]);
    rule.omit_managed_fields =
        reader_.Bool(path.Child("omitManagedFields"), value["omitManagedFields"]);
    if (!rule.non_resource_urls.empty() && !(rule.resources.empty() && rule.namespaces.empty())) {
      errors_.InvalidPrinted(path.Child("nonResourceURLs"), PrintedList(rule.non_resource_urls),
                             "rules cannot apply to both regular resources and non-resource URLs");
    }
    return rule;
  }

  Level LevelAt(const Path& path, Value value) {
    const std::string word = reader_.Text(path, value);
    if (const auto level = LevelFromWord(word)) return *level;
    if (word.empty()) {
      errors_.Required(path, "use None, Metadata, Request or RequestResponse");
    } else {
      errors_.NotSupported(path, word, {"None", "Metadata", "Request", "RequestResponse"});
    }
    return Level::kNone;
  }

  // Follows validateNonResourceURLs of apis/audit/validation.
  std::vector<std::string> NonResourceURLs(const Path& path, Value rule) {
    std::vector<std::string> urls = reader_.Texts(path, rule["nonResourceURLs"]);
    for (std::size_t i = 0; i < urls.size(); ++i) {
      const std::string& url = urls[i];
      if (url == "*") continue;
      if (!url.starts_with('/')) {
        errors_.Invalid(path.Index(i), url,
                        "non-resource URL rules must begin with a '/' character");
      }
      if (!url.empty() && url.find('*') < url.size() - 1) {
        errors_.Invalid(path.Index(i), url,
                        "non-resource URL wildcards '*' must be the final character of the rule");
      }
    }
    return urls;
  }

  // Follows validateResources, with the same messages.
  GroupResources Resources(const Path& path, Value value) {
    GroupResources resources;
    if (!reader_.IsMap(path, value)) return resources;
    reader_.CheckFields(path, value, {"group", "resources", "resourceNames"});
    resources.group = reader_.Text(path.Child("group"), value["group"]);
    resources.resources = reader_.Texts(path.Child("resources"), value["resources"]);
    resources.resource_names = reader_.Texts(path.Child("resourceNames"), value["resourceNames"]);
    if (!resources.group.empty() && resources.group != "*") {
      std::string why;
      for (const std::string& each : meta::NameIsDNSSubdomain(resources.group, false)) {
        why += (why.empty() ? "" : ",") + each;
      }
      if (!why.empty()) errors_.Invalid(path.Child("group"), resources.group, std::move(why));
    }
    if (!resources.resource_names.empty() && resources.resources.empty()) {
      errors_.InvalidPrinted(path.Child("resourceNames"), PrintedList(resources.resource_names),
                             "using resourceNames requires at least one resource");
    }
    return resources;
  }

  OmittedStages OmitStages(const Path& path, Value value) {
    OmittedStages omitted = {};
    for (const auto& item : reader_.Items(path, value)) {
      const std::string word = reader_.Text(item.path, item.value);
      if (const auto stage = StageFromWord(word)) {
        omitted[static_cast<std::size_t>(*stage)] = true;
      } else {
        errors_.Invalid(item.path, word, std::string(kStagesAllowed));
      }
    }
    return omitted;
  }

  codec::ConfigReader reader_;
  ErrorList errors_;
};

}  // namespace

Result<Policy> ParsePolicy(std::string_view text) { return PolicyReader(text).Read(); }

Result<Policy> LoadPolicyFile(const FileSystem& files, const std::string& path) {
  const Result<std::string> text = files.Read(path);
  if (!text.ok()) {
    return Status(Reason::kInvalid, "audit policy: " + std::string(text.status().message()));
  }
  Result<Policy> policy = ParsePolicy(*text);
  if (policy.ok()) return policy;
  return Status(Reason::kInvalid,
                "audit policy " + path + ": " + std::string(policy.status().message()));
}

}  // namespace apiserver::v0::audit
