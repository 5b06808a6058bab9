#pragma once

#include <functional>
#include <vector>

#include "apiserver/client/informer.h"
#include "apiserver/controller/namespaced_name.h"
#include "apiserver/controller/work_queue.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"

// Handlers of informers, which add the keys of changed objects to a work queue.
// sigs.k8s.io/controller-runtime/pkg/handler and pkg/predicate. The queue must outlive the
// informer.
namespace apiserver::inline v0::controller {

// Says whether a change matters. `before` is null when the object is new, `now` when it is gone.
// Called on the informer's thread; it may block, but the informer waits for it. An empty one lets
// every change pass.
using Predicate =
    std::function<bool(const runtime::ObjectPtr& before, const runtime::ObjectPtr& now)>;

// Returns the keys to work on after a change of `object`. Called on the informer's thread; it may
// block, but the informer waits for it.
using KeyMapper = std::function<std::vector<NamespacedName>(const runtime::ObjectPtr& object)>;

// Returns namespace and name of `object`.
NamespacedName KeyOf(const runtime::Object& object);

// Adds the key of an object that changed.
client::InformerHandler EnqueueObject(WorkQueue& queue, Predicate predicate = nullptr);

// Says which owners of an object are meant.
struct OwnerOptions {
  runtime::GroupKind kind;  // Required. The version of a reference does not matter.
  // Only the owner that is marked as the object's controller; else each of that kind.
  bool controllers_only = true;
  // Owners have no namespace; else they have the object's.
  bool cluster_scoped = false;
};
// Adds the keys of the owners of an object that changed, before and after the change.
client::InformerHandler EnqueueOwner(WorkQueue& queue, OwnerOptions options,
                                     Predicate predicate = nullptr);

// Adds the keys that `mapper` returns for the object before and after a change.
client::InformerHandler EnqueueMapped(WorkQueue& queue, KeyMapper mapper,
                                      Predicate predicate = nullptr);

// Lets an update pass only if it changes metadata.generation: not those of the status alone. New
// and deleted objects pass.
Predicate GenerationChanged();

}  // namespace apiserver::inline v0::controller
