#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// The way in which an object is deleted.
struct Grace {
  bool graceful = false;  // The object is only marked, by Apply().
  bool pending = false;   // It is marked already and nothing changes.

  // The changes of metadata if `graceful`.
  std::string deletion_timestamp;
  std::int64_t grace_period_seconds = 0;
  bool next_generation = false;

  // Marks `object` as deleting.
  void Apply(runtime::Object& object) const;
};
// Decides between deleting and marking an object. The strategy completes `options`. kConflict: a
// precondition of `options` does not hold.
Result<Grace> BeforeDelete(const Strategy& strategy, const Context& ctx,
                           const runtime::Object& object, meta::DeleteOptions& options,
                           const Clock& clock);

}  // namespace apiserver::inline v0::rest
