#pragma once

#include <map>
#include <string>
#include <utility>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_set.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// Translates the owners in a main resource's managedFields to those of its Scale and back:
// ScaleHandler of k8s.io/apimachinery/pkg/util/managedfields.
namespace apiserver::inline v0::patch::apply {

// The field of the main resource behind its Scale's spec.replicas, by apiVersion of the main
// resource; empty: that version has no Scale.
using ResourcePathMappings = std::map<std::string, Path, std::less<>>;

// A translator for one object; used by one request.
class ScaleHandler {
 public:
  // `parent` is metadata.managedFields of the main resource and must outlive the handler;
  // `api_version` is the version under which writes through the Scale are recorded there.
  ScaleHandler(runtime::Value parent, std::string api_version, ResourcePathMappings mappings)
      : parent_(parent), api_version_(std::move(api_version)), mappings_(std::move(mappings)) {}

  // Returns managedFields of the Scale: the owners of the replicas. Lives in `arena`, or is null.
  // kBadRequest: those of the main resource cannot be read.
  Result<runtime::Value> ToSubresource(runtime::Arena& arena) const;
  // Returns managedFields of the main resource after those of its Scale have become `scale`.
  Result<runtime::Value> ToParent(runtime::Value scale, runtime::Arena& arena) const;

 private:
  const runtime::Value parent_;
  const std::string api_version_;
  const ResourcePathMappings mappings_;
};

}  // namespace apiserver::inline v0::patch::apply
