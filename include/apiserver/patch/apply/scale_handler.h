#pragma once

#include <map>
#include <string>
#include <utility>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_set.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// Owners of a main resource seen through its scale subresource, and back: ScaleHandler of
// k8s.io/apimachinery/pkg/util/managedfields.
namespace apiserver::inline v0::patch::apply {

// By apiVersion of the main resource, the leaf that its scale's spec.replicas stands for; empty: it
// has no scale.
using ResourcePathMappings = std::map<std::string, Path, std::less<>>;

class ScaleHandler {
 public:
  // `parent` is metadata.managedFields of the main resource and must outlive the handler;
  // `api_version` is the version in which scale's writes are kept there.
  ScaleHandler(runtime::Value parent, std::string api_version, ResourcePathMappings mappings)
      : parent_(parent), api_version_(std::move(api_version)), mappings_(std::move(mappings)) {}

  // managedFields of the Scale: who owns the replicas. Lives in `arena`, or is null.
  // kBadRequest: those of the main resource cannot be read.
  Result<runtime::Value> ToSubresource(runtime::Arena& arena) const;
  // managedFields of the main resource once those of its Scale are `scale`.
  Result<runtime::Value> ToParent(runtime::Value scale, runtime::Arena& arena) const;

 private:
  const runtime::Value parent_;
  const std::string api_version_;
  const ResourcePathMappings mappings_;
};

}  // namespace apiserver::inline v0::patch::apply
