#include "apiserver/authz/escalation.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "apiserver/base/field_path.h"
#include "authz/aggregate.h"
#include "authz/rbac/coverage.h"
#include "authz/rbac/rules.h"
#include "text/quote.h"

namespace apiserver::v0::authz::rbac {
namespace {

// The most text that a message has about missing rules; further ones are only counted.
constexpr std::size_t kDescriptionBytesMax = field::kErrorBytesMax;

std::vector<const PolicyRule*> PointersTo(const std::vector<PolicyRule>& rules) {
  std::vector<const PolicyRule*> pointers;
  pointers.reserve(rules.size());
  for (const PolicyRule& rule : rules) pointers.push_back(&rule);
  return pointers;
}

// Without limits of bytes and steps, and with a context that does not end, it cannot fail.
MissingParts AllMissing(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted,
                        std::size_t parts_max) {
  constexpr std::size_t kNoLimit = std::string::npos;
  const HeldIndex index(PointersTo(held));
  return FindMissing(Context::Background(), index, wanted,
                     {.parts_max = parts_max, .bytes_max = kNoLimit, .steps_max = kNoLimit})
      .value();
}

// Prints a line for each rule; after too many, "and 7 more".
std::string Describe(const MissingParts& missing) {
  std::set<std::string> descriptions;
  for (const PolicyRule& rule : CompactRules(missing.parts)) {
    descriptions.insert(field::Shorten(CompactString(rule)));
  }
  std::string lines;
  std::size_t told = 0;
  for (const std::string& description : descriptions) {
    if (lines.size() > kDescriptionBytesMax) break;
    lines += "\n" + description;
    ++told;
  }
  if (!missing.whole) return lines + "\nand more";
  if (told == descriptions.size()) return lines;
  return lines + "\nand " + std::to_string(descriptions.size() - told) + " more";
}

}  // namespace

// Follows Covers of component-helpers/auth/rbac/validation, with an index instead of a product of
// both sides.
std::vector<PolicyRule> NotCovered(const std::vector<PolicyRule>& held,
                                   const std::vector<PolicyRule>& wanted) {
  return AllMissing(held, wanted, std::string::npos).parts;
}

bool Covers(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted) {
  return AllMissing(held, wanted, 1).parts.empty();
}

// Follows CompactRules of the Go registry: rules that differ only in verbs become one.
std::vector<PolicyRule> CompactRules(const std::vector<PolicyRule>& rules) {
  std::vector<PolicyRule> compact;
  // The index of the rule with this group, resource and names.
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>, std::size_t> simple;
  for (const PolicyRule& rule : rules) {
    if (rule.api_groups.size() == 1 && rule.resources.size() == 1 &&
        rule.resource_names.size() <= 1 && rule.non_resource_urls.empty()) {
      const auto [at, added] = simple.try_emplace(
          {rule.api_groups[0], rule.resources[0], rule.resource_names}, compact.size());
      if (!added) {
        std::vector<std::string>& verbs = compact[at->second].verbs;
        verbs.insert(verbs.end(), rule.verbs.begin(), rule.verbs.end());
        continue;
      }
    }
    compact.push_back(rule);
  }
  return compact;
}

// Follows ConfirmNoEscalation of pkg/registry/rbac/validation, including its message.
Status ConfirmNoEscalation(const Context& ctx, const RbacAuthorizer& authorizer,
                           const auth::UserInfo& user, std::string_view namespace_,
                           const std::vector<PolicyRule>& rules) {
  const HeldRulesView held = authorizer.ViewHeldBy(user, namespace_);
  const Result<MissingParts> missing = FindMissing(ctx, HeldIndex(held.rules), rules);
  if (missing.ok() && missing->parts.empty()) return {};
  if (!missing.ok() && missing.status().reason() != Reason::kForbidden) return missing.status();
  std::string message = "user " + field::QuoteShort(user.name) +
                        " (groups=" + field::Shorten(text::QuoteAll(user.groups)) +
                        ") is attempting to grant RBAC permissions not currently held:";
  message += missing.ok() ? Describe(*missing) : "\n" + std::string(missing.status().message());
  if (!held.errors.empty()) {
    message += "; resolution errors: [" + field::Shorten(Aggregate(held.errors)) + "]";
  }
  return Status(Reason::kForbidden, std::move(message));
}

}  // namespace apiserver::v0::authz::rbac
