#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// Finds the parts of rules that are not held. A part has one verb, and one resource of one group
// and at most one name, or one URL; a rule of 25 KB can have more parts than fit in memory.
namespace apiserver::inline v0::authz::rbac {

struct CoverageLimits {
  // Limits of the result: parts, and bytes of their texts.
  std::size_t parts_max = 10'000;
  std::size_t bytes_max = std::size_t{1} << 20;
  // The most comparisons with held rules before the search is given up, about a tenth of a second.
  std::size_t steps_max = 10'000'000;
};

// The parts that no held rule covers, in the order in which the rules multiply out.
struct MissingParts {
  std::vector<PolicyRule> parts;
  bool whole = true;  // There are no further parts.
};

// An index of held rules by their texts, which it borrows. Immutable.
class HeldIndex {
 public:
  // Indexes of held rules, ascending.
  using Places = std::vector<std::uint32_t>;
  enum class Sort : std::uint8_t { kVerb, kGroup, kResource, kName, kUrl };

  explicit HeldIndex(const std::vector<const PolicyRule*>& held);

  // Returns the rules that cover `text`, in up to three lists.
  std::vector<const Places*> Covering(Sort sort, std::string_view text) const;
  const Places& all() const { return all_; }
  // The rules without resource names.
  const Places& unnamed() const { return unnamed_; }

 private:
  struct Table {
    std::unordered_map<std::string_view, Places> by_text;
    Places star;
  };
  static void Add(Table& table, const std::vector<std::string>& texts, std::uint32_t place);
  void AddUrls(const std::vector<std::string>& urls, std::uint32_t place);
  const Table& TableOf(Sort sort) const;

  Table verbs_;
  Table groups_;
  Table resources_;
  Table names_;
  Table urls_;
  Table url_prefixes_;                  // The text before the star.
  std::set<std::size_t> prefix_sizes_;  // The sizes of those.
  Places all_;
  Places unnamed_;
};

// Returns the missing parts of `wanted`. Work grows with their number and with the number of
// different sets of held rules that matter, not with the number of parts. kForbidden: the search
// was given up; the error of `ctx`: it is done.
Result<MissingParts> FindMissing(const Context& ctx, const HeldIndex& held,
                                 const std::vector<PolicyRule>& wanted,
                                 const CoverageLimits& limits = {});

}  // namespace apiserver::inline v0::authz::rbac
