#include "apiextensions/control/name_index.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::apiextensions {
namespace {

std::string InUse(std::string_view name) { return field::Quote(name) + " is already in use"; }

// One error as it is, several in brackets: upstream's aggregate of errors.
std::string Aggregated(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string joined = "[";
  for (const std::string& error : errors)
    joined.append(joined.size() > 1 ? ", " : "").append(error);
  return joined + "]";
}

}  // namespace

NameIndex::Claims NameIndex::ClaimsOf(const std::string& group, const Names& names) {
  Claims claims;
  const auto add = [&](bool is_kind, const std::string& name) {
    if (!name.empty()) claims.insert({group, is_kind, name});
  };
  add(false, names.plural);
  add(false, names.singular);
  for (const std::string& name : names.short_names) add(false, name);
  add(true, names.kind);
  add(true, names.list_kind);
  return claims;
}

bool NameIndex::IsTaken(const Claim& claim) const {
  const auto found = holders_.find(claim);
  return found != holders_.end() && !found->second.owners.empty();
}

// The check that fails last gives the reason, as upstream, where each overwrites the one before.
NameIndex::Verdict NameIndex::Judge(const Facts& facts) {
  const Names& wanted = facts.requested;
  Verdict verdict{
      .accepted = facts.accepted, .reason = "NoConflicts", .message = "no conflicts found"};
  StopWaiting(facts.name);
  Claims missing;
  const auto refused = [&](const Claim& claim) {
    if (!IsTaken(claim)) return false;
    missing.insert(claim);
    return true;
  };
  const auto conflict = [&verdict](std::string_view reason, std::string message) {
    verdict.all = false;
    verdict.reason = reason;
    verdict.message = std::move(message);
  };
  const auto one = [&](bool is_kind, const std::string& name, std::string& accepted,
                       std::string_view reason) {
    if (name != accepted && refused({facts.group, is_kind, name})) {
      return conflict(reason, InUse(name));
    }
    accepted = name;
  };
  one(false, wanted.plural, verdict.accepted.plural, "PluralConflict");
  one(false, wanted.singular, verdict.accepted.singular, "SingularConflict");
  const std::vector<std::string>& have = facts.accepted.short_names;
  std::vector<std::string> errors;
  for (const std::string& name : wanted.short_names) {
    if (std::find(have.begin(), have.end(), name) != have.end()) continue;
    if (refused({facts.group, false, name})) errors.push_back(InUse(name));
  }
  if (errors.empty()) {
    verdict.accepted.short_names = wanted.short_names;
  } else {
    conflict("ShortNamesConflict", Aggregated(errors));
  }
  one(true, wanted.kind, verdict.accepted.kind, "KindConflict");
  one(true, wanted.list_kind, verdict.accepted.list_kind, "ListKindConflict");
  verdict.accepted.categories = wanted.categories;
  for (const Claim& claim : missing) holders_[claim].waiting.insert(facts.name);
  if (!missing.empty()) awaited_[facts.name] = std::move(missing);
  return verdict;
}

void NameIndex::StopWaiting(const std::string& definition) {
  const auto found = awaited_.find(definition);
  if (found == awaited_.end()) return;
  for (const Claim& claim : found->second) {
    const auto holders = holders_.find(claim);
    holders->second.waiting.erase(definition);
    if (holders->second.owners.empty() && holders->second.waiting.empty()) {
      holders_.erase(holders);
    }
  }
  awaited_.erase(found);
}

std::vector<std::string> NameIndex::Replace(const std::string& definition, Claims claims) {
  std::set<std::string> freed;
  Claims& owned = owned_[definition];
  for (const Claim& claim : owned) {
    if (claims.contains(claim)) continue;
    const auto found = holders_.find(claim);
    found->second.owners.erase(definition);
    if (!found->second.owners.empty()) continue;
    freed.insert(found->second.waiting.begin(), found->second.waiting.end());
    if (found->second.waiting.empty()) holders_.erase(found);
  }
  for (const Claim& claim : claims) holders_[claim].owners.insert(definition);
  owned = std::move(claims);
  if (owned.empty()) owned_.erase(definition);
  return {freed.begin(), freed.end()};
}

std::vector<std::string> NameIndex::Set(const Facts& facts) {
  return Replace(facts.name, ClaimsOf(facts.group, facts.accepted));
}

std::vector<std::string> NameIndex::Remove(std::string_view name) {
  const std::string definition(name);
  StopWaiting(definition);
  return Replace(definition, {});
}

}  // namespace apiserver::v0::apiextensions
