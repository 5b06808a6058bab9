#include "groups/flowcontrol/validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "flowcontrol/shuffle_sharding.h"
#include "groups/flowcontrol/convert.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;
using Words = std::vector<std::string>;

constexpr int kPrecedenceMax = 10000;
constexpr int kQueuesMax = 10'000'000;

// The order is that of the error text, which is Go's sorted set.
const Words& Verbs() {
  static const Words verbs{"create", "delete", "deletecollection", "get",  "list",
                           "patch",  "proxy",  "update",           "watch"};
  return verbs;
}

std::string Printed(const Value& value) {
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

bool Has(const Value& list, std::string_view word) {
  return std::ranges::any_of(list.items(),
                             [word](const Value& each) { return each.AsString() == word; });
}

// Checks that "*" is the only element of a list that has it.
void CheckAlone(const Value& list, const Path& path, const std::string& what, ErrorList& errors) {
  if (list.size() > 1 && Has(list, "*")) {
    errors.InvalidPrinted(path, Printed(list), "if '*' is present, must not specify other " + what);
  }
}

void CheckVerbs(const Value& verbs, const Path& path, ErrorList& errors) {
  if (verbs.size() == 0) return errors.Required(path, "verbs must contain at least one value");
  if (Has(verbs, "*")) return CheckAlone(verbs, path, "verbs", errors);
  const bool known = std::ranges::all_of(verbs.items(), [](const Value& verb) {
    return std::ranges::find(Verbs(), verb.AsString()) != Verbs().end();
  });
  // One error for the whole list, as upstream.
  if (!known) errors.NotSupportedPrinted(path, Printed(verbs), Verbs());
}

void CheckUrl(std::string_view url, const Path& path, ErrorList& errors) {
  const auto wrong = [&](const char* why) { errors.Invalid(path, url, why); };
  // A path may end in "/*", but a wildcard elsewhere would never match.
  if (url.empty()) return wrong("must not be empty");
  if (url == "/") return;
  if (url[0] != '/') return wrong("must start with slash");
  if (url.find(' ') != std::string_view::npos) return wrong("must not contain white-space");
  if (url.find("//") != std::string_view::npos) return wrong("must not contain double slash");
  const auto stars = std::ranges::count(url, '*');
  if (stars > 1 || (stars == 1 && !url.ends_with("/*"))) {
    wrong("wildcard can only do suffix matching");
  }
}

void CheckNonResourceRule(const Value& rule, const Path& path, ErrorList& errors) {
  CheckVerbs(rule["verbs"], path.Child("verbs"), errors);
  const Value urls = rule["nonResourceURLs"];
  const Path at = path.Child("nonResourceURLs");
  if (urls.size() == 0) {
    return errors.Required(at, "nonResourceURLs must contain at least one value");
  }
  if (Has(urls, "*")) return CheckAlone(urls, at, "non-resource URLs", errors);
  std::size_t index = 0;
  for (const Value& url : urls.items()) {
    if (errors.full()) break;
    CheckUrl(url.AsString(), at.Index(index++), errors);
  }
}

void CheckNamespaces(const Value& rule, const Path& at, ErrorList& errors) {
  const Value namespaces = rule["namespaces"];
  // A rule without namespaces matches only requests without one, so it must say so.
  if (namespaces.size() == 0 && !rule["clusterScope"].AsBool()) {
    return errors.Required(
        at, "resource rules that are not cluster scoped must supply at least one namespace");
  }
  if (Has(namespaces, "*")) return CheckAlone(namespaces, at, "namespaces", errors);
  std::size_t index = 0;
  for (const Value& each : namespaces.items()) {
    if (errors.full()) break;
    const Path path = at.Index(index++);
    for (const std::string& complaint : meta::NameIsDNSLabel(each.AsString(), false)) {
      errors.Invalid(path, each.AsString(),
                     "each member of this list must be '*' or a DNS-1123 label; " + complaint);
    }
  }
}

void CheckResourceRule(const Value& rule, const Path& path, ErrorList& errors) {
  CheckVerbs(rule["verbs"], path.Child("verbs"), errors);
  if (rule["apiGroups"].size() == 0) {
    errors.Required(path.Child("apiGroups"), "resource rules must supply at least one api group");
  }
  CheckAlone(rule["apiGroups"], path.Child("apiGroups"), "api groups", errors);
  if (rule["resources"].size() == 0) {
    errors.Required(path.Child("resources"), "resource rules must supply at least one resource");
  }
  CheckAlone(rule["resources"], path.Child("resources"), "resources", errors);
  CheckNamespaces(rule, path.Child("namespaces"), errors);
}

void CheckServiceAccount(const Value& account, const Path& path, ErrorList& errors) {
  const std::string_view name = account["name"].AsString();
  // "*" stands for all accounts of the namespace, but there is no wildcard for namespaces.
  if (name.empty()) {
    errors.Required(path.Child("name"));
  } else if (name != "*") {
    for (const std::string& complaint : meta::NameIsDNSSubdomain(name, false)) {
      errors.Invalid(path.Child("name"), name, complaint);
    }
  }
  const std::string_view owner = account["namespace"].AsString();
  if (owner.empty()) {
    return errors.Required(path.Child("namespace"), "must specify namespace for service account");
  }
  for (const std::string& complaint : meta::NameIsDNSLabel(owner, false)) {
    errors.Invalid(path.Child("namespace"), owner, complaint);
  }
}

// The kinds of a subject and the field of each.
struct Union {
  const char* kind;
  const char* field;
};
constexpr Union kSubjects[] = {
    {"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}};

void CheckSubject(const Value& subject, const Path& path, ErrorList& errors) {
  const std::string_view kind = subject["kind"].AsString();
  const auto is = [kind](const Union& each) { return kind == each.kind; };
  if (std::ranges::none_of(kSubjects, is)) {
    // Without a known kind there is no field to check further.
    return errors.NotSupported(path.Child("kind"), kind, {"Group", "ServiceAccount", "User"});
  }
  for (const Union& each : kSubjects) {
    const std::string field = each.field;
    // The fields of the other kinds must be absent: the object would not mean what it shows.
    const Value value = subject[field];
    if (!is(each)) {
      if (value.is_null()) continue;
      errors.Forbidden(path.Child(field),
                       field + " is forbidden when subject kind is not '" + each.kind + "'");
    } else if (value.is_null()) {
      errors.Required(path.Child(field),
                      field + " is required when subject kind is '" + each.kind + "'");
    } else if (field == "serviceAccount") {
      CheckServiceAccount(value, path.Child(field), errors);
    } else if (value["name"].size() == 0) {
      errors.Required(path.Child(field).Child("name"));
    }
  }
}

void CheckRule(const Value& rule, const Path& path, ErrorList& errors) {
  if (rule["subjects"].size() == 0) {
    errors.Required(path.Child("subjects"), "subjects must contain at least one value");
  }
  std::size_t index = 0;
  for (const Value& subject : rule["subjects"].items()) {
    if (errors.full()) break;
    CheckSubject(subject, path.Child("subjects").Index(index++), errors);
  }
  if (rule["resourceRules"].size() + rule["nonResourceRules"].size() == 0) {
    errors.Required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  index = 0;
  for (const Value& each : rule["resourceRules"].items()) {
    if (errors.full()) break;
    CheckResourceRule(each, path.Child("resourceRules").Index(index++), errors);
  }
  index = 0;
  for (const Value& each : rule["nonResourceRules"].items()) {
    if (errors.full()) break;
    CheckNonResourceRule(each, path.Child("nonResourceRules").Index(index++), errors);
  }
}

void CheckPrecedence(const runtime::Object& schema, const Path& path, ErrorList& errors) {
  const std::int64_t precedence = schema["spec"]["matchingPrecedence"].AsInt();
  const auto wrong = [&](const std::string& why) {
    errors.InvalidPrinted(path, std::to_string(precedence), why);
  };
  if (precedence <= 0) wrong("must be a positive value");
  if (precedence > kPrecedenceMax) {
    wrong("must not be greater than " + std::to_string(kPrecedenceMax));
  }
  // Nothing may come before the mandatory schema of system:masters.
  if (precedence == 1 && schema.name() != config::kExempt) {
    wrong("only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

void CheckQueuing(const Value& queuing, const Path& path, ErrorList& errors) {
  const std::int64_t queues = queuing["queues"].AsInt();
  const std::int64_t hand = queuing["handSize"].AsInt();
  const auto wrong = [&](const char* field, const std::string& why) {
    errors.InvalidPrinted(path.Child(field), std::to_string(queuing[field].AsInt()), why);
  };
  if (queuing["queueLengthLimit"].AsInt() <= 0) wrong("queueLengthLimit", "must be positive");
  if (queues <= 0) wrong("queues", "must be positive");
  if (queues > kQueuesMax) {
    wrong("queues", "must not be greater than " + std::to_string(kQueuesMax));
  }
  // The checks below need a positive hand that the deck has.
  if (hand <= 0) return wrong("handSize", "must be positive");
  if (hand > queues) {
    return wrong("handSize", "should not be greater than queues (" + std::to_string(queues) + ")");
  }
  // Dealing uses one hash for the whole hand, so the deck must not need more bits than it has.
  const int bits = config::RequiredEntropyBits(static_cast<int>(queues), static_cast<int>(hand));
  if (bits > config::kHashBitsMax) {
    wrong("handSize", "required entropy bits of deckSize " + std::to_string(queues) +
                          " and handSize " + std::to_string(hand) + " should not be greater than " +
                          std::to_string(config::kHashBitsMax));
  }
}

void CheckLimitResponse(const Value& response, const Path& path, ErrorList& errors) {
  const std::string_view type = response["type"].AsString();
  const Value queuing = response["queuing"];
  if (type == "Reject") {
    if (queuing.is_null()) return;
    return errors.Forbidden(path.Child("queuing"),
                            "must be nil if limited.limitResponse.type is not Limited");
  }
  if (type != "Queue") {
    return errors.NotSupported(path.Child("type"), type, {"Queue", "Reject"});
  }
  if (queuing.is_null()) {
    return errors.Required(path.Child("queuing"),
                           "must not be empty if limited.limitResponse.type is Limited");
  }
  CheckQueuing(queuing, path.Child("queuing"), errors);
}

// Checks the fields that limited and exempt levels share.
void CheckShares(const Value& of, const Path& path, ErrorList& errors) {
  const auto wrong = [&](const char* field, const char* why) {
    errors.InvalidPrinted(path.Child(field), std::to_string(of[field].AsInt()), why);
  };
  if (of["nominalConcurrencyShares"].AsInt() < 0) {
    wrong("nominalConcurrencyShares", "must be a non-negative integer");
  }
  const std::int64_t lendable = of["lendablePercent"].AsInt();
  if (lendable < 0 || lendable > 100) {
    wrong("lendablePercent", "must be between 0 and 100, inclusive");
  }
  if (of["borrowingLimitPercent"].AsInt() < 0) {
    wrong("borrowingLimitPercent", "if specified, must be a non-negative integer");
  }
}

void CheckLevelSpec(const runtime::Object& level, const Path& path, ErrorList& errors) {
  const Value spec = level["spec"];
  const std::string_view type = spec["type"].AsString();
  const Value limited = spec["limited"];
  const Value exempt = spec["exempt"];
  // The server relies on this name for the level that never waits.
  if ((level.name() == config::kExempt) != (type == "Exempt")) {
    errors.Invalid(path.Child("type"), type, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  if (type == "Exempt") {
    if (!limited.is_null()) {
      errors.Forbidden(path.Child("limited"), "must be nil if the type is not Limited");
    }
    if (!exempt.is_null()) CheckShares(exempt, path.Child("exempt"), errors);
  } else if (type == "Limited") {
    if (!exempt.is_null()) {
      errors.Forbidden(path.Child("exempt"), "must be nil if the type is Limited");
    }
    const Path at = path.Child("limited");
    if (limited.is_null()) return errors.Required(at, "must not be empty when type is Limited");
    CheckShares(limited, at, errors);
    CheckLimitResponse(limited["limitResponse"], at.Child("limitResponse"), errors);
  } else {
    errors.NotSupported(path.Child("type"), type, {"Exempt", "Limited"});
  }
}

}  // namespace

ErrorList ValidateFlowSchema(const runtime::Object& schema) {
  ErrorList errors = meta::ValidateObjectMeta(schema.metadata(), /*namespaced=*/false,
                                              meta::NameIsDNSSubdomain, Path("metadata"));
  const Path path("spec");
  const Value spec = schema["spec"];
  CheckPrecedence(schema, path.Child("matchingPrecedence"), errors);
  const Value method = spec["distinguisherMethod"];
  const std::string_view type = method["type"].AsString();
  if (!method.is_null() && type != "ByUser" && type != "ByNamespace") {
    errors.NotSupportedPrinted(path.Child("distinguisherMethod").Child("type"), Printed(method),
                               {"ByNamespace", "ByUser"});
  }
  const std::string_view level = spec["priorityLevelConfiguration"]["name"].AsString();
  const Path at = path.Child("priorityLevelConfiguration").Child("name");
  if (level.empty()) {
    errors.Required(at, "must reference a priority level");
  } else {
    for (const std::string& complaint : meta::NameIsDNSSubdomain(level, false)) {
      errors.Invalid(at, level, complaint);
    }
  }
  std::size_t index = 0;
  for (const Value& rule : spec["rules"].items()) {
    if (errors.full()) break;
    CheckRule(rule, path.Child("rules").Index(index++), errors);
  }
  // The mandatory schemas may exist as objects, but not differ.
  for (const config::FlowSchema& fixed : config::MandatoryConfiguration().flow_schemas) {
    if (fixed.name != schema.name()) continue;
    config::FlowSchema given = SchemaOf(schema);
    given.uid.clear();
    if (given == fixed) continue;
    errors.InvalidPrinted(path, Printed(spec),
                          "spec of '" + fixed.name + "' must equal the fixed value");
  }
  errors.Append(ValidateStatus(schema));
  return errors;
}

ErrorList ValidatePriorityLevel(const runtime::Object& level) {
  ErrorList errors = meta::ValidateObjectMeta(level.metadata(), /*namespaced=*/false,
                                              meta::NameIsDNSSubdomain, Path("metadata"));
  const Path path("spec");
  CheckLevelSpec(level, path, errors);
  for (const auto& fixed : config::MandatoryConfiguration().priority_levels) {
    if (fixed.name != level.name()) continue;
    config::PriorityLevelConfiguration given = LevelOf(level);
    given.uid.clear();
    // LevelOf() reads only the exempt part, so the other one is looked at here.
    const bool limited_too = fixed.exempt && !level["spec"]["limited"].is_null();
    if (fixed.exempt) {
      // The shares of the exempt level may be changed.
      given.nominal_concurrency_shares = fixed.nominal_concurrency_shares;
      given.lendable_percent = fixed.lendable_percent;
    }
    if (given == fixed && !limited_too) continue;
    errors.InvalidPrinted(path, Printed(level["spec"]),
                          "spec of '" + fixed.name + "' " +
                              (fixed.exempt ? "except the 'spec.exempt' field " : "") +
                              "must equal the fixed value");
  }
  errors.Append(ValidateStatus(level));
  return errors;
}

// Conditions are a map by type in server-side apply, so that types must be unique.
ErrorList ValidateStatus(const runtime::Object& object) {
  ErrorList errors;
  std::set<std::string_view> types;
  std::size_t index = 0;
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (errors.full()) break;
    const Path path = Path("status").Child("conditions").Index(index++).Child("type");
    const std::string_view type = condition["type"].AsString();
    if (!types.insert(type).second) errors.Duplicate(path, type);
    if (type.empty()) errors.Required(path, "must not be empty");
  }
  return errors;
}

}  // namespace apiserver::v0::groups::flowcontrol
