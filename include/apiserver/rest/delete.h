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

// How an object is to go.
struct Grace {
  bool graceful = false;  // The object lingers; `Apply` says how.
  bool pending = false;   // It is lingering already and nothing changes.

  // What of metadata changes when `graceful`.
  std::string deletion_timestamp;
  std::int64_t grace_period_seconds = 0;
  bool next_generation = false;

  void Apply(runtime::Object& object) const;
};
// kConflict: a precondition of `options` does not hold. `options` are completed by the strategy.
Result<Grace> BeforeDelete(const Strategy& strategy, const Context& ctx,
                           const runtime::Object& object, meta::DeleteOptions& options,
                           const Clock& clock);

}  // namespace apiserver::inline v0::rest
