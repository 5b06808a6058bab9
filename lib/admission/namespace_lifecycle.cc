#include "apiserver/admission/namespace_lifecycle.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

// The namespaces whose deletion began a short while ago.
class RecentlyDeleted {
 public:
  RecentlyDeleted(const Clock& clock, std::chrono::milliseconds ttl) : clock_(clock), ttl_(ttl) {}

  // A second deletion of the same name only prolongs its time. Linear: 100 entries at most.
  void Add(const std::string& name) {
    auto entries = entries_.Lock();
    std::erase_if(*entries, [&](const Entry& entry) { return entry.name == name; });
    entries->push_back({name, clock_.Now() + ttl_});
    if (entries->size() > kEntriesMax) entries->pop_front();
  }

  bool Has(std::string_view name) const {
    const auto now = clock_.Now();
    const auto entries = entries_.Lock();
    return std::ranges::any_of(
        *entries, [&](const Entry& entry) { return entry.name == name && now <= entry.until; });
  }

 private:
  // Limits the entries, as in Go; beyond it the oldest are forgotten.
  static constexpr std::size_t kEntriesMax = 100;
  struct Entry {
    std::string name;
    Clock::Monotonic until;
  };
  const Clock& clock_;
  const std::chrono::milliseconds ttl_;
  Guarded<std::deque<Entry>> entries_;
};

bool IsNamespace(const Attributes& attributes) {
  return attributes.kind.group.empty() && attributes.kind.kind == "Namespace";
}

// A review of the rights in a namespace is admitted whether the namespace exists or not: the answer
// must not reveal it.
bool IsAccessReview(const Attributes& attributes) {
  return attributes.resource.group == "authorization.k8s.io" &&
         attributes.resource.resource == "localsubjectaccessreviews";
}

std::string_view PhaseOf(const runtime::Object& object) {
  return object["status"]["phase"].AsString();
}

// Clients such as controllers recognize the cause by its reason, not by the message.
Status Terminating(const Attributes& attributes) {
  const std::string& name = attributes.namespace_;
  const Status refused = NewForbidden(attributes, "unable to create new content in namespace " +
                                                      name + " because it is being terminated");
  StatusDetails details = refused.details() ? *refused.details() : StatusDetails();
  details.causes.push_back({.reason = "NamespaceTerminating",
                            .message = "namespace " + name + " is being terminated",
                            .field = "metadata.namespace"});
  return refused.WithDetails(std::move(details));
}

class NamespaceLifecycle final : public Plugin {
 public:
  explicit NamespaceLifecycle(NamespaceLifecycleOptions options)
      : options_(std::move(options)), deleted_(*options_.clock, options_.force_live) {}

  std::string_view name() const override { return "NamespaceLifecycle"; }
  bool Handles(Operation operation) const override { return operation != Operation::kConnect; }
  bool validates() const override { return false; }
  // Only a namespace that is not known, or in doubt, is waited or asked for.
  bool RunsInline(Operation operation, std::string_view space) const override {
    if (operation != Operation::kCreate || space.empty()) return true;
    if (!options_.namespaces->WaitForSync(std::chrono::milliseconds(0))) return false;
    const runtime::ObjectPtr found = options_.namespaces->Get(space);
    return found != nullptr && !IsDoubtful(*found);
  }

  // Only creates are checked: what exists in a terminating namespace may still be changed and
  // removed.
  Status Admit(const Context& ctx, Attributes& attributes) const override {
    if (IsNamespace(attributes)) return AdmitNamespace(attributes);
    if (attributes.namespace_.empty()) return {};
    if (attributes.operation != Operation::kCreate || IsAccessReview(attributes)) return {};
    if (!ctx.may_block() && !RunsInline(attributes.operation, attributes.namespace_)) {
      return {Reason::kWouldBlock, "a namespace is looked for"};
    }
    if (!options_.namespaces->WaitForSync(options_.ready_wait)) {
      return NewForbidden(attributes, "not yet ready to handle request");
    }
    ASSIGN_OR_RETURN(const runtime::ObjectPtr found, Find(ctx, attributes.namespace_));
    return PhaseOf(*found) == "Terminating" ? Terminating(attributes) : Status();
  }

 private:
  Status AdmitNamespace(const Attributes& attributes) const {
    if (attributes.operation != Operation::kDelete) return {};
    if (options_.immortal.contains(attributes.name)) {
      return meta::NewForbidden(attributes.resource.group_resource(), attributes.name,
                                "this namespace may not be deleted");
    }
    // The namespaces known here may lag behind.
    deleted_.Add(attributes.name);
    return {};
  }

  // A new namespace of the same name may be stored by now; the watch has not brought it yet.
  bool IsDoubtful(const runtime::Object& found) const {
    return PhaseOf(found) == "Active" && deleted_.Has(found.name());
  }

  Result<runtime::ObjectPtr> Find(const Context& ctx, const std::string& name) const {
    runtime::ObjectPtr found = options_.namespaces->Get(name);
    if (!found && ctx.may_block()) {
      // A client that creates a namespace, and at once an object in it, may be faster than the
      // watch.
      const Notification never;
      (void)never.WaitFor(options_.missing_wait);
      found = options_.namespaces->Get(name);
    }
    if (found && !IsDoubtful(*found)) return found;
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "the namespace is asked for");
    auto live = options_.namespaces->GetLive(ctx, name);
    if (live.ok() || live.status().reason() == Reason::kNotFound) return live;
    return meta::NewInternalError(live.status().message());
  }

  const NamespaceLifecycleOptions options_;
  mutable RecentlyDeleted deleted_;
};

}  // namespace

std::shared_ptr<const Plugin> NewNamespaceLifecycle(NamespaceLifecycleOptions options) {
  return std::make_shared<NamespaceLifecycle>(std::move(options));
}

}  // namespace apiserver::v0::admission
