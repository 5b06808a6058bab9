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

// What a Scale shows of an object.
class ScaleView {
 public:
  // kInvalid: a path is none.
  static Result<ScaleView> New(const ScaleOptions& options);

  // The Scale of `object`, without managedFields. An error of kUnknown: a field holds something
  // else than it should, in the words of apimachinery's unstructured helpers.
  Result<std::unique_ptr<runtime::Object>> ScaleOf(const runtime::KindPtr& scale_kind,
                                                   const runtime::Object& object) const;
  // nullopt: it is not set.
  Result<std::optional<std::int64_t>> SpecReplicas(const runtime::Object& object) const;
  void SetSpecReplicas(runtime::Object& object, std::int64_t replicas) const;
  // Where the replicas stand in each version of `kind`. Borrows this.
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
