#include "apiextensions/serving/table.h"

#include <chrono>
#include <utility>

#include "apiserver/meta/errors.h"

namespace apiserver::v0::apiextensions {
namespace {

// How long the watches of a definition that has gone are kept, to tell of deletions: as upstream.
constexpr std::chrono::milliseconds kWatchesGoOn{1000};

// Follows notfoundhandler before the signal CRDInformerHasNotSynced.
class NotYet final : public server::Route {
 public:
  http::Step Serve(http::Exchange& exchange) override { return CheckBeforeBody(exchange); }
  Status CheckBeforeBody(http::Exchange&) const override {
    return meta::NewServiceUnavailable(
               "the request has been made before all known HTTP paths have been installed, please "
               "try again")
        .WithDetails({.retry_after_seconds = 5});
  }
  bool LongRunning(const request::RequestInfo&, std::string_view) const override { return false; }
  std::optional<storage::Stats> GetStats() const override { return std::nullopt; }
};

// A cluster has no namespaces for what is not in one; across all of them there are only lists and
// watches.
bool FitsScope(const request::RequestInfo& info, bool namespaced) {
  if (!namespaced) return info.namespace_.empty();
  return !info.namespace_.empty() || info.verb == "list" || info.verb == "watch";
}

}  // namespace

Table::Table(std::shared_ptr<Workshop> workshop)
    : workshop_(std::move(workshop)), not_yet_(std::make_shared<NotYet>()) {}

std::shared_ptr<Entry> Table::Find(const std::string& name) const {
  const auto entries = entries_.Lock();
  const auto found = entries->find(name);
  return found == entries->end() ? nullptr : found->second;
}

std::shared_ptr<server::Route> Table::Find(const request::RequestInfo& info) const {
  if (!info.is_resource_request) {
    // A group or version that is not known may be that of a definition.
    return synced_ || !info.path.starts_with("/apis/") ? nullptr : not_yet_;
  }
  if (info.api_prefix != "apis") return nullptr;
  std::string name(info.resource);
  name.append(".").append(info.api_group);
  if (const auto entry = Find(name)) {
    if (!FitsScope(info, entry->facts()->namespaced)) return nullptr;
    return entry->RouteOf(info.api_version);
  }
  return synced_ ? nullptr : not_yet_;
}

std::vector<admission::EquivalentResource> Table::Equivalents(
    const runtime::GroupVersionResource& resource, std::string_view subresource) const {
  const auto entry = Find(resource.resource + "." + resource.group);
  if (entry == nullptr) return {};
  const FactsPtr facts = entry->facts();
  std::vector<admission::EquivalentResource> found;
  for (const VersionFacts& version : facts->versions) {
    const bool has = subresource.empty() || (subresource == "status" && version.status) ||
                     (subresource == "scale" && version.scale);
    if (!version.served || !has) continue;
    admission::EquivalentResource equivalent{
        .resource = {resource.group, version.name, resource.resource},
        .kind = {resource.group, version.name, facts->accepted.kind}};
    if (subresource == "scale") equivalent.kind = {"autoscaling", "v1", "Scale"};
    found.push_back(std::move(equivalent));
  }
  return found;
}

std::shared_ptr<Entry> Table::Exchange(const std::string& name, std::shared_ptr<Entry> entry) {
  const auto entries = entries_.Lock();
  if (entry != nullptr) {
    entry.swap((*entries)[name]);
    return entry;
  }
  const auto found = entries->find(name);
  if (found == entries->end()) return nullptr;
  entry = std::move(found->second);
  entries->erase(found);
  return entry;
}

// Called for one definition after the other, so nothing changes between looking and exchanging.
void Table::Set(const FactsPtr& facts, const runtime::Object& content) {
  Serve(facts);
  // Behind the routes: what documents show is served. Before it is established none do, and its
  // schemas need not be read.
  if (facts->established) catalog_.Set(facts->object, content.root());
}

void Table::Serve(const FactsPtr& facts) {
  if (!IsServable(*facts)) return Retire(Exchange(facts->name, nullptr), nullptr);
  const auto present = Find(facts->name);
  if (present != nullptr && present->TakeOver(facts)) return;
  const auto entry = std::make_shared<Entry>(facts, workshop_, present.get());
  Retire(Exchange(facts->name, entry), entry);
}

void Table::Remove(const std::string& name) {
  catalog_.Remove(name);
  Retire(Exchange(name, nullptr), nullptr);
}

// All that wait do so equally long, so that the first of them is the next to end.
void Table::Retire(std::shared_ptr<Entry> entry, const std::shared_ptr<Entry>& successor) {
  if (entry == nullptr) return;
  // A watch that goes on would show objects with new fields as the old schema has them, and an
  // informer would keep them so: it does not ask again for what it has been told.
  if (successor != nullptr) return entry->End(successor);
  retired_.Lock()->push_back(std::move(entry));
  (void)workshop_->pool->PostAfter(kWatchesGoOn, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->EndFirst();
  });
}

void Table::EndFirst() {
  std::shared_ptr<Entry> first;
  {
    const auto retired = retired_.Lock();
    if (retired->empty()) return;
    first = std::move(retired->front());
    retired->pop_front();
  }
  first->End(nullptr);
}

void Table::Forget() const {
  std::deque<std::shared_ptr<Entry>> retired;
  retired.swap(*retired_.Lock());
  Entries gone;
  gone.swap(*entries_.Lock());
}

Emptied Table::DeleteObjects(const Context& ctx, const FactsPtr& facts) const {
  const auto entry = Find(facts->name);
  // It is established, so it is served; if not any more, it has gone with its objects.
  if (entry == nullptr) return {};
  return entry->DeleteObjects(ctx);
}

}  // namespace apiserver::v0::apiextensions
