#pragma once

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// The passes that Settle is made of. Each ends with kRequestEntityTooLarge as soon as the object's
// arena holds more than `arena_max` bytes; the root is as it was then.
namespace apiserver::inline v0::runtime {

Status Normalize(Object& object, std::size_t arena_max);
void Prune(Object& object);
Status SetDefaults(Object& object, std::size_t arena_max);
// The error of those that can fail.
Status GrownTooLarge();

}  // namespace apiserver::inline v0::runtime
