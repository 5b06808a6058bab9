#include "authz/rbac/coverage.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>
#include <utility>

namespace apiserver::v0::authz::rbac {
namespace {

using Places = HeldIndex::Places;
using Sort = HeldIndex::Sort;

// The number of steps between two looks at the request's deadline.
constexpr std::size_t kStepsAtOnce = 1 << 16;

// One of a rule's lists, with the held rules that cover each of its texts.
struct Dimension {
  Sort sort;
  const std::vector<std::string>* texts;
  std::vector<const Places*> covering = {};
};

void SetText(PolicyRule& part, Sort sort, const std::string& text) {
  switch (sort) {
    case Sort::kVerb:
      part.verbs = {text};
      break;
    case Sort::kGroup:
      part.api_groups = {text};
      break;
    case Sort::kResource:
      part.resources = {text};
      break;
    case Sort::kName:
      part.resource_names = {text};
      break;
    case Sort::kUrl:
      part.non_resource_urls = {text};
      break;
  }
}

// Walks the lists of a rule, each time with the held rules that still cover. Texts with the same
// held rules are alike: a result for one is used for the others.
class Search {
 public:
  Search(const Context& ctx, const HeldIndex& held, const CoverageLimits& limits)
      : ctx_(ctx), held_(held), limits_(limits) {}

  Result<MissingParts> Run(const std::vector<PolicyRule>& wanted) {
    for (const PolicyRule& rule : wanted) {
      std::vector<Dimension> resources = {{Sort::kGroup, &rule.api_groups},
                                          {Sort::kResource, &rule.resources},
                                          {Sort::kVerb, &rule.verbs}};
      if (!rule.resource_names.empty()) resources.push_back({Sort::kName, &rule.resource_names});
      Multiply(std::move(resources), rule.resource_names.empty() ? held_.unnamed() : held_.all());
      Multiply({{Sort::kUrl, &rule.non_resource_urls}, {Sort::kVerb, &rule.verbs}},
               held_.unnamed());
      if (stopped_) break;
    }
    // A known missing part is a result, even if there may be more.
    const bool found = error_.reason() == Reason::kForbidden && !missing_.parts.empty();
    if (!error_.ok() && !found) return error_;
    return std::move(missing_);
  }

 private:
  // Walks the product of the lists, depth first. `from` are the held rules that may cover any of
  // it.
  void Multiply(std::vector<Dimension> dimensions, const Places& from) {
    const auto nothing = [](const Dimension& each) { return each.texts->empty(); };
    if (stopped_ || std::ranges::any_of(dimensions, nothing)) return;
    dimensions_ = std::move(dimensions);
    merged_.clear();
    covered_.assign(dimensions_.size(), {});
    chosen_.assign(dimensions_.size(), 0);
    for (Dimension& dimension : dimensions_) {
      for (const std::string& text : *dimension.texts) {
        if (stopped_) return;
        dimension.covering.push_back(Merge(held_.Covering(dimension.sort, text)));
      }
    }
    (void)Covered(0, from);
  }

  // The lists are sorted and few. `merged_` is a deque, so that pointers into it stay valid.
  const Places* Merge(const std::vector<const Places*>& lists) {
    static const Places none;
    Step(lists.size() + 1);
    if (lists.empty()) return &none;
    if (lists.size() == 1) return lists[0];
    Places& all = merged_.emplace_back();
    for (const Places* list : lists) {
      Step(list->size());
      Places both;
      std::ranges::set_union(all, *list, std::back_inserter(both));
      all = std::move(both);
    }
    return &all;
  }

  Places Common(const Places& a, const Places& b) {
    // Many rules have a star, but few may be left: those are looked up.
    constexpr std::size_t kLookUp = 16;
    const auto& [few, many] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
    Places common;
    if (few.size() * kLookUp < many.size()) {
      Step(1 + few.size() * kLookUp);
      std::ranges::copy_if(few, std::back_inserter(common), [&many = many](std::uint32_t place) {
        return std::ranges::binary_search(many, place);
      });
    } else {
      Step(1 + few.size() + many.size());
      std::ranges::set_intersection(few, many, std::back_inserter(common));
    }
    return common;
  }

  // True if `held` covers all parts below the texts that are chosen at the levels above.
  bool Covered(std::size_t level, const Places& held) {
    if (level == dimensions_.size()) {
      if (held.empty()) AddPart();
      return !held.empty();
    }
    bool covered = true;
    const Dimension& dimension = dimensions_[level];
    for (std::size_t i = 0; i < dimension.texts->size() && !stopped_; ++i) {
      const Places& covering = *dimension.covering[i];
      Places left = Common(held, covering);
      // The parts below depend on `left` alone: equal sets have equal results.
      if (covered_[level].contains(left)) continue;
      chosen_[level] = i;
      if (!Covered(level + 1, left)) {
        covered = false;
      } else if (!stopped_) {
        covered_[level].insert(std::move(left));
      }
    }
    return covered;
  }

  void AddPart() {
    PolicyRule part;
    for (std::size_t level = 0; level < dimensions_.size(); ++level) {
      const std::string& text = (*dimensions_[level].texts)[chosen_[level]];
      bytes_ += text.size();
      SetText(part, dimensions_[level].sort, text);
    }
    if (missing_.parts.size() == limits_.parts_max || bytes_ > limits_.bytes_max) {
      missing_.whole = false;
      stopped_ = true;
      // A single text can exceed the limit of the result; the missing part counts all the same.
      if (!missing_.parts.empty()) return;
    }
    missing_.parts.push_back(std::move(part));
  }

  // Steps are compared elements. The deadline is looked at rarely, since it reads a clock.
  void Step(std::size_t steps) {
    steps_ += steps;
    if (steps_ < look_at_) return;
    look_at_ = steps_ + kStepsAtOnce;
    if (Status over = ctx_.Err(); !over.ok()) return GiveUp(std::move(over));
    if (steps_ <= limits_.steps_max) return;
    GiveUp({Reason::kForbidden, "there are too many rules to compare"});
  }
  void GiveUp(Status why) {
    stopped_ = true;
    missing_.whole = false;
    error_ = std::move(why);
  }

  const Context& ctx_;
  const HeldIndex& held_;
  const CoverageLimits limits_;

  // State of the rule that is being checked.
  std::vector<Dimension> dimensions_;
  std::deque<Places> merged_;
  std::vector<std::set<Places>> covered_;  // By level: held rules that cover everything below.
  std::vector<std::size_t> chosen_;        // Indexed by level.

  MissingParts missing_;
  std::size_t bytes_ = 0;
  std::size_t steps_ = 0;
  std::size_t look_at_ = kStepsAtOnce;
  bool stopped_ = false;
  Status error_;
};

}  // namespace

Result<MissingParts> FindMissing(const Context& ctx, const HeldIndex& held,
                                 const std::vector<PolicyRule>& wanted,
                                 const CoverageLimits& limits) {
  return Search(ctx, held, limits).Run(wanted);
}

}  // namespace apiserver::v0::authz::rbac
