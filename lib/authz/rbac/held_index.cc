#include <algorithm>

#include "authz/rbac/coverage.h"
#include "authz/rbac/rules.h"

namespace apiserver::v0::authz::rbac {
namespace {

// A list may contain a text twice.
// `places` ascends, since rules are added in their order: the last element tells whether it is
// there.
void Append(HeldIndex::Places& places, std::uint32_t place) {
  if (places.empty() || places.back() != place) places.push_back(place);
}

}  // namespace

HeldIndex::HeldIndex(const std::vector<const PolicyRule*>& held) {
  for (std::uint32_t place = 0; place < held.size(); ++place) {
    const PolicyRule& rule = *held[place];
    all_.push_back(place);
    if (rule.resource_names.empty()) unnamed_.push_back(place);
    Add(verbs_, rule.verbs, place);
    Add(groups_, rule.api_groups, place);
    Add(resources_, rule.resources, place);
    // A star as a resource name does not stand for others.
    for (const std::string& name : rule.resource_names) Append(names_.by_text[name], place);
    AddUrls(rule.non_resource_urls, place);
  }
  names_.star = unnamed_;
}

// A text beside a star adds nothing, so the rule is only kept under the star.
void HeldIndex::Add(Table& table, const std::vector<std::string>& texts, std::uint32_t place) {
  if (HasText(texts, kAll)) return table.star.push_back(place);
  for (const std::string& text : texts) Append(table.by_text[text], place);
}

// A URL with a star is also kept as text: it covers the equal pattern of a wanted rule.
void HeldIndex::AddUrls(const std::vector<std::string>& urls, std::uint32_t place) {
  for (const std::string& url : urls) {
    Append(urls_.by_text[url], place);
    if (!url.ends_with('*')) continue;
    const std::string_view prefix = UrlPrefix(url);
    Append(url_prefixes_.by_text[prefix], place);
    prefix_sizes_.insert(prefix.size());
  }
}

const HeldIndex::Table& HeldIndex::TableOf(Sort sort) const {
  switch (sort) {
    case Sort::kVerb:
      return verbs_;
    case Sort::kGroup:
      return groups_;
    case Sort::kResource:
      return resources_;
    case Sort::kName:
      return names_;
    case Sort::kUrl:
      break;
  }
  return urls_;
}

// Returns lists that may overlap; the caller merges them. At most three for a text that is no URL.
std::vector<const HeldIndex::Places*> HeldIndex::Covering(Sort sort, std::string_view text) const {
  std::vector<const Places*> lists;
  const auto look_up = [&lists](const Table& table, std::string_view key) {
    const auto found = table.by_text.find(key);
    if (found != table.by_text.end()) lists.push_back(&found->second);
  };
  const Table& table = TableOf(sort);
  if (!table.star.empty()) lists.push_back(&table.star);
  look_up(table, text);
  // "*/scale" covers the subresource of any resource; a star alone covers both.
  const std::size_t slash = sort == Sort::kResource ? text.find('/') : std::string_view::npos;
  if (slash != std::string_view::npos) {
    look_up(table, std::string(kAll) + std::string(text.substr(slash)));
  }
  if (sort != Sort::kUrl) return lists;
  // Ascending sizes, so the loop ends at the first prefix that is longer than the text.
  for (const std::size_t size : prefix_sizes_) {
    if (size > text.size()) break;
    look_up(url_prefixes_, text.substr(0, size));
  }
  return lists;
}

}  // namespace apiserver::v0::authz::rbac
