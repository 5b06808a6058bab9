#include <algorithm>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/field_path.h"
#include "authz/rbac/rules.h"
#include "text/quote.h"

namespace apiserver::v0::authz::rbac {
namespace {

void AppendTexts(std::string_view name, const std::vector<std::string>& texts, std::string& out) {
  if (texts.empty()) return;
  if (out.size() > 1) out += ", ";
  out.append(name).append(":").append(text::QuoteAll(texts));
}

}  // namespace

bool HasText(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

bool HasTextOrAll(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::any_of(texts,
                             [&](const std::string& one) { return one == kAll || one == text; });
}

// Go trims all trailing stars: "/a**" has the prefix "/a".
std::string_view UrlPrefix(std::string_view url) {
  while (url.ends_with('*')) url.remove_suffix(1);
  return url;
}

bool UrlCovers(std::string_view url, std::string_view path) {
  return url == path || (url.ends_with('*') && path.starts_with(UrlPrefix(url)));
}

// A star is no wildcard for names: a rule allows all names by listing none.
bool AllowsBesideResource(const auth::Attributes& asked, const PolicyRule& rule) {
  return HasTextOrAll(rule.verbs, asked.verb) && HasTextOrAll(rule.api_groups, asked.group) &&
         (rule.resource_names.empty() || HasText(rule.resource_names, asked.name));
}

// Follows RuleAllows of plugin/pkg/auth/authorizer/rbac; RoleIndex does the same with an index.
bool RuleAllows(const auth::Attributes& asked, const PolicyRule& rule) {
  if (!asked.resource_request) {
    return HasTextOrAll(rule.verbs, asked.verb) &&
           std::ranges::any_of(rule.non_resource_urls,
                               [&](const std::string& url) { return UrlCovers(url, asked.path); });
  }
  const std::string sub = asked.subresource.empty() ? "" : "/" + std::string(asked.subresource);
  const std::string resource = std::string(asked.resource) + sub;
  const bool resource_matches = HasTextOrAll(rule.resources, resource) ||
                                (!sub.empty() && HasText(rule.resources, "*" + sub));
  return resource_matches && AllowsBesideResource(asked, rule);
}

// Follows CompactString of pkg/apis/rbac/v1, which upstream's messages contain.
std::string CompactString(const PolicyRule& rule) {
  std::string text = "{";
  AppendTexts("APIGroups", rule.api_groups, text);
  AppendTexts("Resources", rule.resources, text);
  AppendTexts("NonResourceURLs", rule.non_resource_urls, text);
  AppendTexts("ResourceNames", rule.resource_names, text);
  AppendTexts("Verbs", rule.verbs, text);
  return text + "}";
}

}  // namespace apiserver::v0::authz::rbac
