#include "authz/rbac/role_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "authz/rbac/rules.h"

namespace apiserver::v0::authz::rbac {

// Open addressing with linear probing; read-only once filled, so it needs no marks of deletion.
void TextTable::Fill(std::vector<Entry> entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  // At most half full, so that a look-up ends after a few slots.
  if (!entries.empty()) slots_.resize(std::bit_ceil(2 * entries.size()));
  numbers_.reserve(entries.size());
  Slot* slot = nullptr;
  // Sorted, so that the numbers of one text are adjacent and need but one slot.
  for (const auto& [text, number] : entries) {
    if (slot == nullptr || slot->text != text) {
      const std::uint64_t hash = Hash(text);
      const std::size_t mask = slots_.size() - 1;
      std::size_t at = hash & mask;
      while (slots_[at].used) at = (at + 1) & mask;
      slot = &slots_[at];
      const auto begin = static_cast<std::uint32_t>(numbers_.size());
      *slot = {.hash = hash, .text = text, .begin = begin, .end = begin, .used = true};
    }
    numbers_.push_back(number);
    ++slot->end;
  }
}

// Computes the hashes once; the index of each role is then asked with them.
Question::Question(const auth::Attributes& asked) : asked_(asked) {
  if (!asked.resource_request) {
    text_ = asked.path;
  } else if (asked.subresource.empty()) {
    text_ = asked.resource;
  } else {
    // Rules may say "*/scale": the subresource of any resource.
    any_.append("*/").append(asked.subresource);
    any_hash_ = TextTable::Hash(any_);
    buffer_.append(asked.resource).append("/").append(asked.subresource);
    text_ = buffer_;
  }
  hash_ = TextTable::Hash(text_);
}

// The index points into `role_`, which is neither copied nor changed afterwards.
RoleIndex::RoleIndex(Role role) : role_(std::move(role)) {
  std::vector<TextTable::Entry> resources;
  std::vector<TextTable::Entry> urls;
  for (std::uint32_t number = 0; number < role_.rules.size(); ++number) {
    has_resource_names_ |= !role_.rules[number].resource_names.empty();
    for (const std::string& resource : role_.rules[number].resources) {
      if (resource == kAll) {
        all_resources_.push_back(number);
      } else {
        resources.emplace_back(resource, number);
      }
    }
    for (const std::string& url : role_.rules[number].non_resource_urls) {
      if (url.ends_with('*')) {
        url_prefixes_.emplace_back(UrlPrefix(url), number);
      } else {
        urls.emplace_back(url, number);
      }
    }
  }
  resources_.Fill(std::move(resources));
  urls_.Fill(std::move(urls));
}

bool RoleIndex::Allows(const Question& question) const {
  return question.asked().resource_request ? AllowsResource(question) : AllowsPath(question);
}

// The resource is looked up first, since it excludes most rules; verb and group are compared.
bool RoleIndex::AllowsResource(const Question& question) const {
  const auto fits = [&](std::uint32_t number) {
    return AllowsBesideResource(question.asked(), role_.rules[number]);
  };
  return resources_.AnyOf(question.text_, question.hash_, fits) ||
         (!question.any_.empty() && resources_.AnyOf(question.any_, question.any_hash_, fits)) ||
         std::ranges::any_of(all_resources_, fits);
}

bool RoleIndex::AllowsPath(const Question& question) const {
  const auto fits = [&](std::uint32_t number) {
    return HasTextOrAll(role_.rules[number].verbs, question.asked().verb);
  };
  return urls_.AnyOf(question.text_, question.hash_, fits) ||
         std::ranges::any_of(url_prefixes_, [&](const auto& prefix) {
           return question.text_.starts_with(prefix.first) && fits(prefix.second);
         });
}

}  // namespace apiserver::v0::authz::rbac
