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

// A resource's own rules for writes: rest.RESTCreateStrategy and siblings of k8s.io/apiserver.
// Functions with a safe default are virtual, those that every resource must define are pure.
// Strategies are stateless or thread-safe and see objects in the hub version.
//
// Threads: functions with a Context or an object run with a write on a pool thread and may block,
// unless RunsInline() promises otherwise; the others are also called on event loops and must not
// block.
namespace apiserver::inline v0::rest {

// The fate of dependents if the delete of their owner does not specify it.
enum class GarbageCollectionPolicy : std::uint8_t {
  kDeleteDependents,
  kOrphanDependents,
  kUnsupported,
};

// A set of fields by apiVersion ("wardle.example.com/v1alpha1"). Each is a path from the object's
// root, {"metadata", "labels"}, and includes the fields below it.
using ResetFields = std::map<std::string, std::vector<std::vector<std::string>>>;

// The rules for creating, updating and deleting objects of a resource.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Returns true if the objects are in namespaces.
  virtual bool NamespaceScoped() const = 0;

  // True promises that none of the functions blocks or takes more than some microseconds: small
  // writes may then call them on an event loop.
  virtual bool RunsInline() const { return false; }

  // Run before validation: set the fields that the server decides and drop those that the client
  // may not set.
  virtual void PrepareForCreate(const Context&, runtime::Object&) const {}
  virtual void PrepareForUpdate(const Context&, runtime::Object& /*object*/,
                                const runtime::Object& /*old*/) const {}

  // Return all errors of the object; empty: it is valid.
  virtual field::ErrorList Validate(const Context& ctx, const runtime::Object& object) const = 0;
  virtual field::ErrorList ValidateUpdate(const Context& ctx, const runtime::Object& object,
                                          const runtime::Object& /*old*/) const {
    return Validate(ctx, object);
  }

  // Return warnings for the client, sent as Warning headers.
  virtual std::vector<std::string> WarningsOnCreate(const Context&, const runtime::Object&) const {
    return {};
  }
  virtual std::vector<std::string> WarningsOnUpdate(const Context&,
                                                    const runtime::Object& /*object*/,
                                                    const runtime::Object& /*old*/) const {
    return {};
  }

  // Runs after validation: brings values of equal meaning into one form.
  virtual void Canonicalize(runtime::Object&) const {}

  // Returns the fields that PrepareForCreate and PrepareForUpdate reset whatever the client sends:
  // {"status"} in the main resource, {"spec"} in its status subresource. A client that sends them
  // does not become their field manager.
  virtual ResetFields GetResetFields() const { return {}; }

  // Returns true if a PUT creates an object that does not exist.
  virtual bool AllowCreateOnUpdate() const { return false; }
  // Returns true if a PUT without resourceVersion overwrites the stored object.
  virtual bool AllowUnconditionalUpdate() const { return false; }

  // Decides on graceful deletion. True: the object is only marked, for
  // options.grace_period_seconds, which the function sets. False: it is deleted immediately.
  virtual bool CheckGracefulDelete(const Context&, const runtime::Object&,
                                   meta::DeleteOptions&) const {
    return false;
  }
  virtual GarbageCollectionPolicy DefaultGarbageCollectionPolicy(const Context&) const {
    return GarbageCollectionPolicy::kDeleteDependents;
  }
};

}  // namespace apiserver::inline v0::rest
