#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/object.h"

// What is particular to a resource's writes: rest.RESTCreateStrategy and siblings of
// k8s.io/apiserver. Everything has the safe default; what a resource must think about is pure.
// Strategies are stateless or thread-safe; they see objects in the hub version. What is given a
// Context or an object runs with a write, on the pool, and may wait; the rest is asked on loops too
// and must be quick.
namespace apiserver::inline v0::rest {

// What becomes of dependents when the owner is deleted without saying.
enum class GarbageCollectionPolicy : std::uint8_t {
  kDeleteDependents,
  kOrphanDependents,
  kUnsupported,
};

// Fields by apiVersion ("wardle.example.com/v1alpha1"), each as the names that lead to it from the
// object's root, {"metadata", "labels"}; what is below one is meant too.
using ResetFields = std::map<std::string, std::vector<std::vector<std::string>>>;

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual bool NamespaceScoped() const = 0;

  // Before validation: sets what the server decides, drops what the client may not set.
  virtual void PrepareForCreate(const Context&, runtime::Object&) const {}
  virtual void PrepareForUpdate(const Context&, runtime::Object& /*object*/,
                                const runtime::Object& /*old*/) const {}

  virtual field::ErrorList Validate(const Context& ctx, const runtime::Object& object) const = 0;
  virtual field::ErrorList ValidateUpdate(const Context& ctx, const runtime::Object& object,
                                          const runtime::Object& /*old*/) const {
    return Validate(ctx, object);
  }

  // Sent as Warning headers.
  virtual std::vector<std::string> WarningsOnCreate(const Context&, const runtime::Object&) const {
    return {};
  }
  virtual std::vector<std::string> WarningsOnUpdate(const Context&,
                                                    const runtime::Object& /*object*/,
                                                    const runtime::Object& /*old*/) const {
    return {};
  }

  // After validation: brings equal meanings to equal forms.
  virtual void Canonicalize(runtime::Object&) const {}

  // What PrepareForCreate and PrepareForUpdate undo whatever a client sends: in the main resource
  // {"status"}, in its status {"spec"}. Who writes them here does not come to own them.
  virtual ResetFields GetResetFields() const { return {}; }

  // PUT of a name that does not exist creates it.
  virtual bool AllowCreateOnUpdate() const { return false; }
  // PUT without resourceVersion overwrites whatever is there.
  virtual bool AllowUnconditionalUpdate() const { return false; }

  // Decides about grace: sets options.grace_period_seconds and returns true when the object is to
  // linger; false deletes at once.
  virtual bool CheckGracefulDelete(const Context&, const runtime::Object&,
                                   meta::DeleteOptions&) const {
    return false;
  }
  virtual GarbageCollectionPolicy DefaultGarbageCollectionPolicy(const Context&) const {
    return GarbageCollectionPolicy::kDeleteDependents;
  }
};

}  // namespace apiserver::inline v0::rest
