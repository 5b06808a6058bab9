#pragma once

#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/patch/apply/field_manager.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

// Notes in managedFields which fields of a definition's status this server has written, as if it
// had gone through the status subresource: so do upstream's controllers. Any thread.
class StatusOwner {
 public:
  // `clock` must outlive it.
  explicit StatusOwner(const Clock& clock);

  // Sets the owners of `definition`, in v1, whose status was `before` when it was read.
  void Note(const Context& ctx, const runtime::Value& before, runtime::Object& definition) const;

 private:
  const patch::apply::FieldManager fields_;
};

}  // namespace apiserver::inline v0::apiextensions
