#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::runtime {

// The set of kinds that a server knows. A change copies the state, so a snapshot that a request has
// taken never changes. Any thread may call all methods.
class Scheme {
 public:
  // One state of the scheme; immutable.
  class Snapshot {
   public:
    // Return the kind of that name or plural. Null: it is unknown.
    KindPtr Find(const GroupVersionKind& gvk) const;
    KindPtr FindByResource(const GroupResource& resource) const;
    // The kinds in the order in which they were added.
    const std::vector<KindPtr>& kinds() const { return kinds_; }
    // Return the groups in the order in which they were added, and the versions of one in priority
    // order: kube-aware (v1 > v1beta1 > v1alpha1) unless SetVersionPriority set another.
    std::vector<std::string> groups() const;
    std::vector<std::string> versions(std::string_view group) const;

   private:
    friend class Scheme;
    // Group and kind, or group and plural; views of the kind's own strings.
    using Key = std::pair<std::string_view, std::string_view>;
    void Index();

    std::vector<KindPtr> kinds_;
    std::map<Key, KindPtr> by_kind_;
    std::map<Key, KindPtr> by_resource_;
    std::vector<std::pair<std::string, std::vector<std::string>>> priorities_;
  };

  // Adds a kind, or replaces the one of the same group and name. kInvalid: another kind has its
  // plural.
  Status Add(KindPtr kind);
  void Remove(const GroupKind& kind);
  // Sets the priority order of a group's versions, highest first.
  void SetVersionPriority(std::string_view group, std::vector<std::string> versions);
  std::shared_ptr<const Snapshot> snapshot() const;

 private:
  Guarded<std::shared_ptr<const Snapshot>> current_{std::make_shared<const Snapshot>()};
};

// Returns true if `a` is preferred to `b` in the kube-aware order of versions (v2 > v1 > v1beta2 >
// v1beta1 > v1alpha1 > anything else, alphabetically).
bool VersionPreferred(std::string_view a, std::string_view b);

}  // namespace apiserver::inline v0::runtime
