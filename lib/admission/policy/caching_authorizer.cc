#include "admission/policy/caching_authorizer.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace apiserver::v0::admission::policy {

namespace {

// Appends a text with its length, so that no two lists of texts give the same key.
void Append(std::string_view text, std::string& key) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

void AppendSorted(std::vector<std::string> texts, std::string& key) {
  std::ranges::sort(texts);
  key += std::to_string(texts.size());
  key += '[';
  for (const std::string& text : texts) Append(text, key);
}

std::string KeyOf(const auth::Attributes& attributes) {
  std::string key(attributes.resource_request ? "r" : "p");
  for (const std::string_view part :
       {attributes.verb, attributes.group, attributes.version, attributes.resource,
        attributes.subresource, attributes.namespace_, attributes.name, attributes.path,
        attributes.field_selector, attributes.label_selector}) {
    Append(part, key);
  }
  if (!attributes.user) return key;
  const auth::UserInfo& user = *attributes.user;
  Append(user.name, key);
  Append(user.uid, key);
  // The order of groups and values does not matter to a decision.
  AppendSorted(user.groups, key);
  for (const auto& [name, values] : user.extra) {
    Append(name, key);
    AppendSorted(values, key);
  }
  return key;
}

}  // namespace

Result<auth::Verdict> CachingAuthorizer::Authorize(const Context& ctx,
                                                   const auth::Attributes& attributes) const {
  std::string key = KeyOf(attributes);
  {
    const auto decisions = decisions_.Lock();
    if (const auto at = decisions->find(key); at != decisions->end()) return at->second;
  }
  Result<auth::Verdict> verdict = authorizer_.Authorize(ctx, attributes);
  // No answer: the step is repeated on a thread that may wait.
  if (!verdict.ok() && verdict.status().reason() == Reason::kWouldBlock) return verdict;
  decisions_.Lock()->emplace(std::move(key), verdict);
  return verdict;
}

}  // namespace apiserver::v0::admission::policy
