#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apiserver/audit/event.h"
#include "apiserver/auth/user.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/object.h"

// Plugins that may change or refuse a write: k8s.io/apiserver/pkg/admission.
//
// A plugin of a host is a few lines:
//
//   class NoBlue final : public admission::Plugin {
//    public:
//     std::string_view name() const override { return "NoBlue"; }
//     bool Handles(admission::Operation operation) const override {
//       return operation == admission::Operation::kCreate;
//     }
//     Status Validate(const Context&, const admission::Attributes& attributes) const override {
//       if ((*attributes.object)["spec"]["color"].AsString() != "blue") return {};
//       return admission::NewForbidden(attributes, "blue is taken");
//     }
//   };
//   config.admission.push_back(std::make_shared<NoBlue>());
namespace apiserver::inline v0::admission {

// The kind of write that a plugin may look at.
enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };
// Returns "CREATE", "UPDATE", "DELETE" or "CONNECT".
std::string_view OperationName(Operation operation);

// An annotation for the audit event of a request.
struct Annotation {
  std::string key;  // "podsecurity.example.com/exempt".
  std::string value;
  // The lowest level of the audit policy that keeps it; at least kMetadata.
  audit::Level level = audit::Level::kMetadata;

  friend bool operator==(const Annotation&, const Annotation&) = default;
};

// The annotations that plugins add to the audit event of one request; the chain hands them on. Any
// thread.
class Annotations {
 public:
  // Adds an annotation. kInvalid: the key is no qualified name with a prefix, or has another value
  // already; the level is below kMetadata.
  Status Add(std::string_view key, std::string_view value,
             audit::Level level = audit::Level::kMetadata);
  // Returns all annotations, sorted by key.
  std::vector<Annotation> All() const;

 private:
  Guarded<std::map<std::string, Annotation, std::less<>>> annotations_;
};

// The state of the mutating phase of one request, which must run again if a plugin changed the
// object after others had seen it. It runs twice at most. Used by one thread at a time.
class Reinvocation {
 public:
  // The data that a plugin keeps from the first round to the second.
  class State {
   public:
    virtual ~State() = default;
  };

  // True in the second round.
  bool is_reinvoke() const { return is_reinvoke_; }
  // Called by the chain before the second round.
  void SetIsReinvoke() { is_reinvoke_ = true; }
  bool should_reinvoke() const { return should_reinvoke_; }
  // Asks for a second round: called by a plugin that changed the object.
  void SetShouldReinvoke() { should_reinvoke_ = true; }

  // Returns the state of `plugin`. Null: none has been set.
  State* Find(std::string_view plugin) const;
  // Sets the state of `plugin`, and replaces an earlier one.
  State& Set(std::string_view plugin, std::unique_ptr<State> state);

 private:
  bool is_reinvoke_ = false;
  bool should_reinvoke_ = false;
  std::map<std::string, std::unique_ptr<State>, std::less<>> states_;
};

// Another version in which a resource is served, and the kind of its objects there.
struct EquivalentResource {
  runtime::GroupVersionResource resource;
  runtime::GroupVersionKind kind;
};
// Maps a resource to the versions in which it is served.
class EquivalentResourceMapper {
 public:
  virtual ~EquivalentResourceMapper() = default;
  // Returns all versions, the resource itself included, in the order in which they were installed.
  // Any thread; must not block.
  virtual std::vector<EquivalentResource> EquivalentResourcesFor(
      const runtime::GroupVersionResource& resource, std::string_view subresource) const = 0;
};

class Metrics;

// The options of the verb; none for a CONNECT. A PATCH has those of the create or update that it
// turned out to be.
using OperationOptions = std::variant<std::monostate, meta::CreateOptions, meta::DeleteOptions>;

// The write to admit.
struct Attributes {
  Operation operation = Operation::kCreate;
  runtime::GroupVersionKind kind;  // The kind of the bodies, in the version of the request.
  runtime::GroupVersionResource resource;
  std::string subresource = {};
  std::string namespace_ = {};
  // Empty on a create with generateName, and for each object that a deletecollection deletes.
  std::string name = {};
  // The new state in the hub version. Null: a delete or a connect.
  const runtime::Object* object = nullptr;
  // The same object for changes. Null in Validate, and if there is no object.
  runtime::Object* editable = nullptr;
  // The state in storage. Null: a create.
  const runtime::Object* old_object = nullptr;
  OperationOptions options = {};
  bool dry_run = false;
  // The authenticated user; the impersonated one after impersonation. Null: unauthenticated.
  const auth::UserInfo* user = nullptr;
  // Null: the resource is served in no other version.
  const EquivalentResourceMapper* equivalents = nullptr;
  // Never null within a chain.
  std::shared_ptr<Annotations> annotations = {};
  std::shared_ptr<Reinvocation> reinvocation = {};
  // Set by the chain. Null: nothing is counted.
  Metrics* metrics = nullptr;
};

// An admission plugin. It must be thread-safe: several requests use it at once. Admit and Validate
// run on the pool, unless RunsInline() lets a write begin on an event loop, and may block until the
// Context is done where ctx.may_block(); the other methods are called on any thread and must not
// block. Errors are API errors and end the request; a plugin that refuses
// returns NewForbidden(). Warnings for the client are sent with rest::AddWarning().
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;
  // Returns whether the plugin is called for such writes. Must not block.
  virtual bool Handles(Operation operation) const = 0;
  // May change attributes.editable. The Admit of all plugins runs before any Validate; it may run
  // twice for one request.
  virtual Status Admit(const Context&, Attributes&) const { return {}; }
  // Accepts or refuses the object, which it cannot change.
  virtual Status Validate(const Context&, const Attributes&) const { return {}; }
  // True promises that, as things stand, both phases of such a write take no more than some
  // microseconds and do not block: a small write may then call them on an event loop. Where they
  // have to wait all the same, they return kWouldBlock, and are called again where they may.
  // Asked for each write; must not block. `space`: the namespace of the request.
  virtual bool RunsInline(Operation operation, std::string_view space) const {
    (void)operation, (void)space;
    return false;
  }
  // The phases that the plugin has; only these are counted in metrics.
  virtual bool mutates() const { return true; }
  virtual bool validates() const { return true; }
};

// The plugins of a server, in order. Immutable once the server runs.
class Chain {
 public:
  Chain() = default;
  // A chain without metrics.
  explicit Chain(std::vector<std::shared_ptr<const Plugin>> plugins)
      : plugins_(std::move(plugins)) {}
  // Counts apiserver_admission_* in `registry`, which must outlive it.
  Chain(std::vector<std::shared_ptr<const Plugin>> plugins, metrics::Registry& registry,
        const Clock& clock);

  bool empty() const { return plugins_.empty(); }
  // True if some plugin handles such operations.
  bool Handles(Operation operation) const;
  // True if all plugins that handle such an operation run inline, as Plugin::RunsInline has it.
  bool RunsInline(Operation operation, std::string_view space) const;
  // Runs every plugin's Admit; once more if one of them asked for it.
  Status Admit(const Context& ctx, Attributes& attributes) const;
  // Runs every plugin's Validate, which cannot change the object.
  Status Validate(const Context& ctx, Attributes attributes) const;

 private:
  Status AdmitOnce(const Context& ctx, Attributes& attributes) const;
  void Prepare(Attributes& attributes) const;

  std::vector<std::shared_ptr<const Plugin>> plugins_;
  std::shared_ptr<Metrics> metrics_;  // Null: nothing is counted.
};

// Returns `<resource> "name" is forbidden: <why>` for the object of the request; it is named by its
// generateName if it has no name yet.
Status NewForbidden(const Attributes& attributes, std::string_view why);
// Returns the error for an object that does not exist.
Status NewNotFound(const Attributes& attributes);

}  // namespace apiserver::inline v0::admission
