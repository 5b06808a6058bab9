#pragma once

#include <map>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"

// The scale subresource: an object's desired and actual number of replicas in a form that
// autoscalers and `kubectl scale` understand for every kind. Follows ScaleREST of
// k8s.io/kubernetes/pkg/registry/apps/deployment/storage and of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
namespace apiserver::inline v0::registry {

// Returns the kind autoscaling/v1 Scale of k8s.io/api/autoscaling/v1. A server that serves it as a
// subresource need not add it to its Scheme.
runtime::KindPtr ScaleKind();

// The fields that a Scale shows: paths into the object in its hub version, in the notation of a
// CustomResourceDefinition. Member names only: no list elements, no brackets.
struct ScaleOptions {
  // The only field that a Scale can change. Must not be empty; the field must hold an integer.
  std::string spec_replicas_path = ".spec.replicas";
  // The path in versions that have another one, {"v1alpha1", ".spec.count"}. Needed because
  // managedFields name the replicas by their path in the version of the write.
  std::map<std::string, std::string> spec_replicas_path_in = {};
  std::string status_replicas_path = ".status.replicas";
  // The selector: in text form, or a meta/v1 LabelSelector. Empty: the Scale has no selector.
  std::string label_selector_path = "";
  // The clock for the age column of a Table. Must outlive the storage.
  const Clock* clock = &RealClock();
  // Requires the paths to lead to fields that the kind's schema has. False: a path may lead to
  // nothing, and its objects have no Scale then, as those of CustomResourceDefinitions.
  bool check_paths = true;
};

// Makes the scale subresource of `main`: get, update and patch. A write uses `main`'s strategy, and
// the ownership of the replicas in managedFields is translated in both directions. A write with
// negative replicas fails with kInvalid; one whose uid or resourceVersion is not the object's, with
// kConflict. If the kind is structural (a custom resource), an object without replicas has no Scale
// (500), and a Scale without resourceVersion overwrites. kInvalid: `main` is missing, or a path is
// not valid or leads to no integer (for the selector: to nothing) that the kind's schema has.
Result<std::shared_ptr<rest::Storage>> NewScaleStore(std::shared_ptr<Store> main,
                                                     ScaleOptions options);

}  // namespace apiserver::inline v0::registry
