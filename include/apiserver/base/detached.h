#pragma once

#include <string>

#include "apiserver/base/function.h"

namespace apiserver::inline v0 {

// Runs `body`, which may block, on a new thread that is not joined. Meant for the destruction of an
// object by a thread that the object would have to join: the last owner of a client may be the
// callback that runs on the client's own thread.
void RunDetached(std::string name, UniqueFunction<void()> body);

}  // namespace apiserver::inline v0
