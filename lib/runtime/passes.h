#pragma once

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"
#include "runtime/rewrite.h"

// The passes that Settle is made of. Each ends with kRequestEntityTooLarge as soon as the object's
// arena holds more than `arena_max` bytes; the root is as it was then.
namespace apiserver::inline v0::runtime {

// `stored`: metadata of a custom object that does not fit is dropped member by member. Members
// that `settled` has are not walked again.
Status Normalize(Object& object, bool stored, std::size_t arena_max,
                 const SettledRoot& settled = {});
// Settles an object after a conversion, without defaults. `settled` is its content before.
Status SettleConverted(Object& object, const SettledRoot& settled);
Status SetCustomDefaults(Object& object, const Schema& schema, std::size_t arena_max);
Status SetDefaults(Object& object, std::size_t arena_max);
// The error of those that can fail.
Status GrownTooLarge();

}  // namespace apiserver::inline v0::runtime
