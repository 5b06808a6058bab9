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
// The same for the object's labels.
Predicate LabelChanged();
// The same for its annotations.
Predicate AnnotationChanged();
// The same for metadata.resourceVersion: keeps away updates that change nothing, those of a resync
// among them.
Predicate ResourceVersionChanged();
// Lets a change pass if `filter` holds for the object as it is now, or was before it went. It is
// called as a Predicate is: on the informer's thread, which waits if it blocks.
// predicate.NewPredicateFuncs.
Predicate Where(std::function<bool(const runtime::Object& object)> filter);

// Let a change pass if all, or any, of `predicates` do; those behind the first that decides are not
// called. An empty one among them lets every change pass. Without any, And() lets all changes pass,
// and Or() none.
Predicate And(std::vector<Predicate> predicates);
Predicate Or(std::vector<Predicate> predicates);
// Lets the changes pass that `predicate` keeps away.
Predicate Not(Predicate predicate);

}  // namespace apiserver::inline v0::controller
