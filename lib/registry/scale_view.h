#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/scale_handler.h"
#include "apiserver/registry/scale.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::registry {

// Reads and writes the fields of an object that its Scale shows.
class ScaleView {
 public:
  // Makes a view. kInvalid: a path is not valid.
  static Result<ScaleView> New(const ScaleOptions& options);

  // Returns the Scale of `object`, without managedFields. kUnknown: a field has another type than
  // it should; the message is that of apimachinery's unstructured helpers.
  Result<std::unique_ptr<runtime::Object>> ScaleOf(const runtime::KindPtr& scale_kind,
                                                   const runtime::Object& object) const;
  // Returns the desired number of replicas. nullopt: it is not set.
  Result<std::optional<std::int64_t>> SpecReplicas(const runtime::Object& object) const;
  void SetSpecReplicas(runtime::Object& object, std::int64_t replicas) const;
  // Returns the path of the replicas in each version of `kind`. Borrows this.
  patch::apply::ResourcePathMappings Mappings(const runtime::Kind& kind) const;

 private:
  using Path = std::vector<std::string>;

  Path spec_replicas_;
  std::map<std::string, Path> spec_replicas_in_;  // By version, where it is another path.
  Path status_replicas_;
  Path label_selector_;  // Empty: none.
};

// A meta/v1 LabelSelector in text form. None selects nothing, an empty one everything: both are
// empty text, as labels.Selector.String has it. kBadRequest: it is not valid.
Result<std::string> LabelSelectorText(runtime::Value selector);

}  // namespace apiserver::inline v0::registry
