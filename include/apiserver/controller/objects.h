#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// Steps that reconcilers repeat:
// sigs.k8s.io/controller-runtime/pkg/controller/controllerutil. Functions that get a client wait
// for it, and return its errors: kConflict and kAlreadyExists mean that another has written
// meanwhile, so that the key should come again. The others change an object in memory.
namespace apiserver::inline v0::controller {

// The outcome of CreateOrUpdate() or CreateOrPatch(); the last two are of the latter alone.
enum class OperationResult : std::uint8_t {
  kUnchanged,
  kCreated,
  kUpdated,
  kUpdatedStatus,      // The object and its status.
  kUpdatedStatusOnly,  // Its status, and nothing else.
};

// An object as the server has it now, and what was done to it.
struct Operation {
  OperationResult result = OperationResult::kUnchanged;
  std::unique_ptr<runtime::Object> object;
};

// Makes an object as the reconciler wants it. It may change all but name and namespace; an error
// ends the operation. Called once, on the caller's thread; may block.
using MutateFunction = std::function<Status(runtime::Object& object)>;

// Reads the object `target.name`, has `mutate` change it, and writes it if that has changed
// anything; or creates what `mutate` makes of an empty object of `kind`, in `target`'s version.
// Written are the fields that the server accepts: its status only if it has no subresource for
// that. kInvalid: `mutate` has changed the name or the namespace.
Result<Operation> CreateOrUpdate(const Context& ctx, client::Client& client,
                                 const client::Target& target, const runtime::KindPtr& kind,
                                 const MutateFunction& mutate);

// Reads the object `target.name`, has `mutate` change it, and sends only what it has changed, as
// merge patches: one of the object, and one of its subresource `status` if the status has changed.
// Creates it as CreateOrUpdate() does if there is none; a status that `mutate` gives to a new
// object is then written by the next call.
//
// A patch names no resourceVersion, so that it is never refused because another has written
// meanwhile: other fields keep what that one wrote, and of a field that both change, the last
// writer wins. A list is one field. Where that is wrong, CreateOrUpdate() is right. kNotFound: the
// object was deleted meanwhile, or its kind has no subresource `status`. If the second patch fails,
// the first stays written. kInvalid: `mutate` has changed the name or the namespace.
Result<Operation> CreateOrPatch(const Context& ctx, client::Client& client,
                                const client::Target& target, const runtime::KindPtr& kind,
                                const MutateFunction& mutate);

// Options of Apply().
struct ApplyOptions {
  // The owner of the fields that are applied. Required.
  std::string field_manager;
  // Takes fields that others own, as controllers should. False: they are a kConflict whose details
  // name the owners.
  bool force = false;
};
// Applies `object` on the server's side: it creates the object, or changes the fields that are
// given and removes those that this manager gave before and gives no more. `object` has the
// intended fields only, and no metadata.managedFields. Returns the object as the server has it.
client::Client::ObjectResult Apply(const Context& ctx, client::Client& client,
                                   const client::Target& target, const runtime::Object& object,
                                   const ApplyOptions& options);

// Makes `owner`, which must have a uid, the controller of `object`: it is deleted with it, and
// EnqueueOwner() finds it. Replaces a reference to the same owner. kAlreadyExists: another is its
// controller. kInvalid: an owner must be of the object's namespace, or of none.
Status SetControllerReference(const runtime::Object& owner, runtime::Object& object);
// The same for an owner that is not its controller, of which there may be many.
Status SetOwnerReference(const runtime::Object& owner, runtime::Object& object);

// Adds a finalizer, which keeps `object` from being gone before its controller has removed it.
// False: it has it already.
bool AddFinalizer(runtime::Object& object, std::string_view finalizer);
// Removes a finalizer. False: it has none of that name.
bool RemoveFinalizer(runtime::Object& object, std::string_view finalizer);
// Returns whether `object` has this finalizer.
bool ContainsFinalizer(const runtime::Object& object, std::string_view finalizer);

}  // namespace apiserver::inline v0::controller
