#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiextensions/control/controller.h"
#include "apiextensions/documents/catalog.h"
#include "apiextensions/serving/entry.h"
#include "apiserver/base/sync.h"
#include "apiserver/server/route_source.h"

namespace apiserver::inline v0::apiextensions {

// The definitions that are served, by name: upstream's crdHandler. A change costs O(1), and no
// request sees a moment without the resource. Any thread.
class Table final : public server::RouteSource,
                    public DefinitionUser,
                    public std::enable_shared_from_this<Table> {
 public:
  explicit Table(std::shared_ptr<Workshop> workshop);

  // Lets unknown resources be unknown: before, all are answered 503, so that nobody takes the
  // objects of a definition that has not been read yet for gone.
  void SetSynced() { synced_ = true; }
  // Returns the entry of a definition. Null: it is not served.
  std::shared_ptr<Entry> Find(const std::string& name) const;
  // Deletes the objects of a definition. Blocks.
  Emptied DeleteObjects(const Context& ctx, const FactsPtr& facts) const;

  void Set(const FactsPtr& facts, const runtime::Object& content) override;
  void Announce(const FactsPtr& facts) override { Serve(facts); }
  void Remove(const std::string& name) override;

  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override;
  std::vector<admission::EquivalentResource> Equivalents(
      const runtime::GroupVersionResource& resource, std::string_view subresource) const override;
  void Forget() const override;
  std::uint64_t generation() const override { return catalog_.generation(); }
  std::vector<discovery::APIGroup> Groups() const override { return catalog_.Groups(); }
  std::optional<discovery::APIGroup> FindGroup(std::string_view group) const override {
    return catalog_.FindGroup(group);
  }
  std::vector<openapi::FragmentPtr> Fragments(std::string_view group,
                                              std::string_view version) const override {
    return catalog_.Fragments(group, version);
  }
  std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> AllFragments() const override {
    return catalog_.AllFragments();
  }

 private:
  using Entries = std::unordered_map<std::string, std::shared_ptr<Entry>>;

  // Puts `entry` in the place of the present one, which it returns. Null: removes that.
  std::shared_ptr<Entry> Exchange(const std::string& name, std::shared_ptr<Entry> entry);

  // Serves the definition as it is.
  void Serve(const FactsPtr& facts);
  // Ends an entry that is found no more: at once if another serves in its place, else soon, since
  // its watches still tell of deletions.
  void Retire(std::shared_ptr<Entry> entry, const std::shared_ptr<Entry>& successor);
  void EndFirst();

  const std::shared_ptr<Workshop> workshop_;
  Catalog catalog_;
  const std::shared_ptr<server::Route> not_yet_;  // The route of everything before SetSynced().
  mutable Guarded<Entries> entries_;
  mutable Guarded<std::deque<std::shared_ptr<Entry>>> retired_;  // To be ended soon.
  std::atomic<bool> synced_ = false;
};

}  // namespace apiserver::inline v0::apiextensions
