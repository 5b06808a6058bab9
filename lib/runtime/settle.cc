#include "apiserver/runtime/settle.h"

#include "apiserver/runtime/kind.h"
#include "base/status_macros.h"
#include "runtime/custom_prune.h"
#include "runtime/passes.h"

namespace apiserver::v0::runtime {

namespace {

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

// The order of the passes.
Status RunPasses(Object& object, const SettleRules& rules, std::size_t arena_max,
                 const SettledRoot& settled) {
  const bool custom = object.kind().semantics() == Semantics::kCustomResource;
  if (rules.shape && custom) {
    RETURN_IF_ERROR(PruneCustom(
        object, {.stored = rules.stored, .keep_nulls = rules.keep_nulls, .arena_max = arena_max}));
  }
  if (rules.shape) RETURN_IF_ERROR(Normalize(object, rules.stored, arena_max, settled));
  return rules.defaults ? SetDefaults(object, arena_max) : Status();
}

}  // namespace

Status GrownTooLarge() {
  return {Reason::kRequestEntityTooLarge,
          "Request entity too large: the object takes more memory than a body of its size may"};
}

Status Settle(Object& object, const SettleRules& rules) {
  const std::size_t held = object.arena().bytes_reserved();
  const bool bounded = rules.growth_max <= kAnySize - held;
  // Unknown members are collected before pruning drops them.
  if (rules.unknown != nullptr) *rules.unknown = UnknownMembers(object);
  return RunPasses(object, rules, bounded ? held + rules.growth_max : kAnySize, {});
}

Status SettleConverted(Object& object, const SettledRoot& settled) {
  return RunPasses(object, {.defaults = false}, kAnySize, settled);
}

}  // namespace apiserver::v0::runtime
