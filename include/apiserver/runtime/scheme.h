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

// The kinds a server knows. Changes by copying: a snapshot taken by a request stays as it is.
// All methods from any thread.
class Scheme {
 public:
  // One state of the scheme; immutable.
  class Snapshot {
   public:
    // Null when unknown.
    KindPtr Find(const GroupVersionKind& gvk) const;
    KindPtr FindByResource(const GroupResource& resource) const;
    // In the order in which they were added.
    const std::vector<KindPtr>& kinds() const { return kinds_; }
    // Groups in order of addition; versions of one in priority order (kube-aware: v1 > v1beta1 >
    // v1alpha1, unless SetVersionPriority said otherwise).
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

  // Replaces a kind of the same group and name. kInvalid: its plural belongs to another kind.
  Status Add(KindPtr kind);
  void Remove(const GroupKind& kind);
  // Highest first.
  void SetVersionPriority(std::string_view group, std::vector<std::string> versions);
  std::shared_ptr<const Snapshot> snapshot() const;

 private:
  Guarded<std::shared_ptr<const Snapshot>> current_{std::make_shared<const Snapshot>()};
};

// Kube-aware order of versions: true when `a` is preferred to `b` (v2 > v1 > v1beta2 > v1beta1 >
// v1alpha1 > anything else, alphabetically).
bool VersionPreferred(std::string_view a, std::string_view b);

}  // namespace apiserver::inline v0::runtime
