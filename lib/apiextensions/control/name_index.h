#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/control/facts.h"

namespace apiserver::inline v0::apiextensions {

// The names that the definitions of each group have got, and who waits for a name that another one
// has. A change costs O(log n) for each name that changes hands. One thread at a time.
class NameIndex {
 public:
  // The result for a definition's names: upstream's calculateNamesAndConditions.
  struct Verdict {
    Names accepted;
    bool all = true;     // All requested names are accepted.
    std::string reason;  // Of the condition NamesAccepted: "NoConflicts", "KindConflict", …
    std::string message;
  };

  // Returns the verdict about the names that `facts` requests. If some are not accepted, the
  // definition waits for them from now on.
  Verdict Judge(const Facts& facts);
  // Records the names that a definition has got; returns the definitions that wait for a name which
  // it has given up.
  std::vector<std::string> Set(const Facts& facts);
  // Forgets a definition; returns the definitions that wait for a name which it has given up.
  std::vector<std::string> Remove(std::string_view name);

 private:
  // Resources (plural, singular, short names) and kinds (kind, list kind) are two spaces of names.
  struct Claim {
    std::string group;
    bool is_kind = false;
    std::string name;

    friend auto operator<=>(const Claim&, const Claim&) = default;  // NOLINT: no null
  };
  using Claims = std::set<Claim>;
  struct Holders {
    std::set<std::string> owners;
    std::set<std::string> waiting;
  };

  static Claims ClaimsOf(const std::string& group, const Names& names);
  // True if a definition, perhaps the asking one, has got the name.
  bool IsTaken(const Claim& claim) const;
  std::vector<std::string> Replace(const std::string& definition, Claims claims);
  void StopWaiting(const std::string& definition);

  std::map<Claim, Holders> holders_;
  std::map<std::string, Claims, std::less<>> owned_;    // By definition.
  std::map<std::string, Claims, std::less<>> awaited_;  // By definition.
};

}  // namespace apiserver::inline v0::apiextensions
