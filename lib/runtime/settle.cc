#include "apiserver/runtime/settle.h"

#include "apiserver/runtime/kind.h"
#include "base/status_macros.h"
#include "runtime/custom_prune.h"
#include "runtime/passes.h"

namespace apiserver::v0::runtime {

Status GrownTooLarge() {
  return {Reason::kRequestEntityTooLarge,
          "Request entity too large: the object takes more memory than a body of its size may"};
}

Status Settle(Object& object, const SettleRules& rules) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  const std::size_t held = object.arena().bytes_reserved();
  const std::size_t arena_max = rules.growth_max > kAny - held ? kAny : held + rules.growth_max;
  // Unknown members are collected before pruning drops them.
  if (rules.unknown != nullptr) *rules.unknown = UnknownMembers(object);
  const bool custom = object.kind().semantics() == Semantics::kCustomResource;
  if (rules.shape && custom) {
    RETURN_IF_ERROR(PruneCustom(
        object, {.stored = rules.stored, .keep_nulls = rules.keep_nulls, .arena_max = arena_max}));
  }
  if (rules.shape) RETURN_IF_ERROR(Normalize(object, rules.stored, arena_max));
  return rules.defaults ? SetDefaults(object, arena_max) : Status();
}

Status SettleConverted(Object& object, const SettledRoot& settled) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  if (object.kind().semantics() == Semantics::kCustomResource) {
    RETURN_IF_ERROR(PruneCustom(object, {.arena_max = kAny}));
  }
  return Normalize(object, false, kAny, settled);
}

}  // namespace apiserver::v0::runtime
