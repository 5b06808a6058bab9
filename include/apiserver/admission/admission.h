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

// What may change or refuse a write: k8s.io/apiserver/pkg/admission.
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

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };
// "CREATE", "UPDATE", "DELETE", "CONNECT".
std::string_view OperationName(Operation operation);

struct Annotation {
  std::string key;  // "podsecurity.example.com/exempt".
  std::string value;
  // From which level of the audit policy on it is kept; at least kMetadata.
  audit::Level level = audit::Level::kMetadata;

  friend bool operator==(const Annotation&, const Annotation&) = default;
};

// What plugins add to the audit event of one request; the chain hands it on. Any thread.
class Annotations {
 public:
  // kInvalid: the key is no qualified name with a prefix, or has another value already; the level
  // is below kMetadata.
  Status Add(std::string_view key, std::string_view value,
             audit::Level level = audit::Level::kMetadata);
  // By key.
  std::vector<Annotation> All() const;

 private:
  Guarded<std::map<std::string, Annotation, std::less<>>> annotations_;
};

// Whether the mutating phase of one request must run again, because a plugin changed the object
// after others had seen it. It runs twice at most. Used by one thread at a time.
class Reinvocation {
 public:
  // What a plugin keeps from the first round to the second.
  class State {
   public:
    virtual ~State() = default;
  };

  // This is the second round.
  bool is_reinvoke() const { return is_reinvoke_; }
  void SetIsReinvoke() { is_reinvoke_ = true; }
  bool should_reinvoke() const { return should_reinvoke_; }
  void SetShouldReinvoke() { should_reinvoke_ = true; }

  // Null: none has been set for `plugin`.
  State* Find(std::string_view plugin) const;
  State& Set(std::string_view plugin, std::unique_ptr<State> state);

 private:
  bool is_reinvoke_ = false;
  bool should_reinvoke_ = false;
  std::map<std::string, std::unique_ptr<State>, std::less<>> states_;
};

// Under which other versions a resource is served, and what its objects are called there.
struct EquivalentResource {
  runtime::GroupVersionResource resource;
  runtime::GroupVersionKind kind;
};
class EquivalentResourceMapper {
 public:
  virtual ~EquivalentResourceMapper() = default;
  // The resource itself among them, in the order in which they were installed. Any thread.
  virtual std::vector<EquivalentResource> EquivalentResourcesFor(
      const runtime::GroupVersionResource& resource, std::string_view subresource) const = 0;
};

class Metrics;

// The options of the verb; of a CONNECT there are none. A PATCH has those of the create or update
// it turned out to be.
using OperationOptions = std::variant<std::monostate, meta::CreateOptions, meta::DeleteOptions>;

// What is about to happen.
struct Attributes {
  Operation operation = Operation::kCreate;
  runtime::GroupVersionKind kind;  // Of the bodies, in the version of the request.
  runtime::GroupVersionResource resource;
  std::string subresource = {};
  std::string namespace_ = {};
  // Empty on a create with generateName, and for each object that a deletecollection deletes.
  std::string name = {};
  // The new state in the hub version; null for deletes and connects.
  const runtime::Object* object = nullptr;
  // The same object where it may be changed; null in Validate, and where there is no object.
  runtime::Object* editable = nullptr;
  // The state in storage; null for creates.
  const runtime::Object* old_object = nullptr;
  OperationOptions options = {};
  bool dry_run = false;
  // Who asks; after impersonation, who is impersonated. Null: nobody is known.
  const auth::UserInfo* user = nullptr;
  // Null: the resource is served in no other version.
  const EquivalentResourceMapper* equivalents = nullptr;
  // Never null within a chain.
  std::shared_ptr<Annotations> annotations = {};
  std::shared_ptr<Reinvocation> reinvocation = {};
  // Set by the chain; null: nothing is counted.
  Metrics* metrics = nullptr;
};

// One plugin. Thread-safe; Admit and Validate run on the pool and may wait, the rest must be quick.
// Errors are API errors and end the request; a plugin that refuses returns NewForbidden(). Warnings
// for the client: rest::AddWarning().
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;
  virtual bool Handles(Operation operation) const = 0;
  // May change attributes.editable. All plugins' Admit run before any Validate; Admit may run twice
  // for one request.
  virtual Status Admit(const Context&, Attributes&) const { return {}; }
  virtual Status Validate(const Context&, const Attributes&) const { return {}; }
  // Which of the two it has; only these are counted in metrics.
  virtual bool mutates() const { return true; }
  virtual bool validates() const { return true; }
};

// Plugins in order. Immutable once the server runs.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<std::shared_ptr<const Plugin>> plugins)
      : plugins_(std::move(plugins)) {}
  // Counts apiserver_admission_* in `registry`, which outlives it.
  Chain(std::vector<std::shared_ptr<const Plugin>> plugins, metrics::Registry& registry,
        const Clock& clock);

  bool empty() const { return plugins_.empty(); }
  // Some plugin cares for such operations.
  bool Handles(Operation operation) const;
  // Every plugin's Admit; once more if one of them asked for it.
  Status Admit(const Context& ctx, Attributes& attributes) const;
  // Every plugin's Validate, which cannot change the object.
  Status Validate(const Context& ctx, Attributes attributes) const;

 private:
  Status AdmitOnce(const Context& ctx, Attributes& attributes) const;
  void Prepare(Attributes& attributes) const;

  std::vector<std::shared_ptr<const Plugin>> plugins_;
  std::shared_ptr<Metrics> metrics_;  // Null: nothing is counted.
};

// `<resource> "name" is forbidden: <why>`, about the object of the request: by its generateName
// where it has no name yet.
Status NewForbidden(const Attributes& attributes, std::string_view why);
Status NewNotFound(const Attributes& attributes);

}  // namespace apiserver::inline v0::admission
