#pragma once

#include <map>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"

// The scale subresource: how many replicas something wants and has, in a shape that autoscalers and
// `kubectl scale` know without knowing the kind. ScaleREST of
// k8s.io/kubernetes/pkg/registry/apps/deployment/storage and of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
namespace apiserver::inline v0::registry {

// autoscaling/v1 Scale, as k8s.io/api/autoscaling/v1 has it. A server that serves it as a
// subresource need not add it to its Scheme.
runtime::KindPtr ScaleKind();

// Where a kind keeps what a Scale shows: paths into the object in its hub version, as a
// CustomResourceDefinition writes them. Member names only: no list elements, no brackets.
struct ScaleOptions {
  // The only field a Scale can change. Required to be set; must hold an integer.
  std::string spec_replicas_path = ".spec.replicas";
  // Versions of the kind that name it otherwise, {"v1alpha1", ".spec.count"}: who owns the replicas
  // is told in the words of the version in which it was written.
  std::map<std::string, std::string> spec_replicas_path_in = {};
  std::string status_replicas_path = ".status.replicas";
  // A selector in text form, or a meta/v1 LabelSelector; empty: the Scale has no selector.
  std::string label_selector_path = "";
  // For the age column of a Table. Must outlive the storage.
  const Clock* clock = &RealClock();
};

// The scale subresource of `main`: get, update and patch. A write goes through `main`'s own
// strategy, and who owns the replicas is carried over both ways; a negative number of replicas is
// refused with kInvalid, a uid or resourceVersion that is not the object's with kConflict. Where
// the kind is structural (a custom resource), an object without replicas has no Scale (500), and a
// Scale without resourceVersion overwrites. kInvalid: `main` is missing or a path is none.
Result<std::shared_ptr<rest::Storage>> NewScaleStore(std::shared_ptr<Store> main,
                                                     ScaleOptions options);

}  // namespace apiserver::inline v0::registry
