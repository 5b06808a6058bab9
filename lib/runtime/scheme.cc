#include "apiserver/runtime/scheme.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace apiserver::v0::runtime {

namespace {

// The stability of a version, its number, and the number after "alpha" or "beta".
using Rank = std::tuple<int, long, long>;
constexpr int kAlpha = 1;
constexpr int kBeta = 2;
constexpr int kStable = 3;

// Takes a number off the front of `text`; negative when there is none or it is too large.
long TakeNumber(std::string_view& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return -1;
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Zeros when the version is none of Kubernetes' form.
Rank RankOf(std::string_view version) {
  constexpr Rank kNone = {0, 0, 0};
  if (!version.starts_with('v')) return kNone;
  version.remove_prefix(1);
  const long major = TakeNumber(version);
  if (major < 0) return kNone;
  if (version.empty()) return {kStable, major, 0};
  const int stage = version.starts_with("alpha") ? kAlpha : version.starts_with("beta") ? kBeta : 0;
  if (stage == 0) return kNone;
  version.remove_prefix(stage == kAlpha ? 5 : 4);
  const long minor = TakeNumber(version);
  if (minor < 0 || !version.empty()) return kNone;
  return {stage, major, minor};
}

bool SameKind(const Kind& a, const Kind& b) {
  return a.group() == b.group() && a.kind() == b.kind();
}

}  // namespace

// Follows version.CompareKubeAwareVersionStrings: v2, v1, v1beta1, v1alpha1, then all other names
// by the alphabet.
bool VersionPreferred(std::string_view a, std::string_view b) {
  const Rank rank_a = RankOf(a);
  const Rank rank_b = RankOf(b);
  if (std::get<0>(rank_a) == 0 && std::get<0>(rank_b) == 0) return a < b;
  return rank_a > rank_b;
}

void Scheme::Snapshot::Index() {
  by_kind_.clear();
  by_resource_.clear();
  for (const KindPtr& kind : kinds_) {
    by_kind_.emplace(Key(kind->group(), kind->kind()), kind);
    if (!kind->plural().empty()) by_resource_.emplace(Key(kind->group(), kind->plural()), kind);
  }
}

KindPtr Scheme::Snapshot::Find(const GroupVersionKind& gvk) const {
  const auto found = by_kind_.find(Key(gvk.group, gvk.kind));
  if (found == by_kind_.end()) return nullptr;
  return found->second->FindVersion(gvk.version) != nullptr ? found->second : nullptr;
}

KindPtr Scheme::Snapshot::FindByResource(const GroupResource& resource) const {
  const auto found = by_resource_.find(Key(resource.group, resource.resource));
  return found != by_resource_.end() ? found->second : nullptr;
}

std::vector<std::string> Scheme::Snapshot::groups() const {
  std::vector<std::string> groups;
  for (const KindPtr& kind : kinds_) {
    if (std::find(groups.begin(), groups.end(), kind->group()) == groups.end()) {
      groups.push_back(kind->group());
    }
  }
  return groups;
}

std::vector<std::string> Scheme::Snapshot::versions(std::string_view group) const {
  std::vector<std::string> rest;
  for (const KindPtr& kind : kinds_) {
    if (kind->group() != group) continue;
    for (const KindVersion& version : kind->versions()) rest.push_back(version.version);
  }
  std::sort(rest.begin(), rest.end(), VersionPreferred);
  rest.erase(std::unique(rest.begin(), rest.end()), rest.end());

  std::vector<std::string> versions;
  for (const auto& [name, wanted] : priorities_) {
    if (name != group) continue;
    for (const std::string& version : wanted) {
      if (std::erase(rest, version) > 0) versions.push_back(version);
    }
  }
  versions.insert(versions.end(), rest.begin(), rest.end());
  return versions;
}

// Changes a copy and puts it in place, so that readers go on with the snapshot they have.
Status Scheme::Add(KindPtr kind) {
  const auto current = current_.Lock();
  const KindPtr holder = (*current)->FindByResource(kind->group_resource());
  if (holder != nullptr && !SameKind(*holder, *kind)) {
    return Status(Reason::kInvalid, kind->group_resource().ToString() + " belongs to kind " +
                                        field::Quote(holder->kind()) + ", not to " +
                                        field::Quote(kind->kind()));
  }
  auto next = std::make_shared<Snapshot>(**current);
  const auto same = [&](const KindPtr& other) { return SameKind(*other, *kind); };
  const auto old = std::find_if(next->kinds_.begin(), next->kinds_.end(), same);
  if (old != next->kinds_.end()) {
    *old = std::move(kind);
  } else {
    next->kinds_.push_back(std::move(kind));
  }
  next->Index();
  *current = std::move(next);
  return {};
}

void Scheme::Remove(const GroupKind& kind) {
  const auto current = current_.Lock();
  auto next = std::make_shared<Snapshot>(**current);
  std::erase_if(next->kinds_, [&](const KindPtr& other) { return other->group_kind() == kind; });
  next->Index();
  *current = std::move(next);
}

void Scheme::SetVersionPriority(std::string_view group, std::vector<std::string> versions) {
  const auto current = current_.Lock();
  auto next = std::make_shared<Snapshot>(**current);
  std::erase_if(next->priorities_, [&](const auto& entry) { return entry.first == group; });
  next->priorities_.emplace_back(std::string(group), std::move(versions));
  *current = std::move(next);
}

std::shared_ptr<const Scheme::Snapshot> Scheme::snapshot() const { return *current_.Lock(); }

}  // namespace apiserver::v0::runtime
