#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::groups::flowcontrol {

// Creates the built-in objects that are missing and sets right those that may be; removes what an
// earlier version built in. k8s.io/kubernetes/pkg/registry/flowcontrol/ensurer. Waits.
Status Ensure(client::Client& client, const Context& ctx);

}  // namespace apiserver::inline v0::groups::flowcontrol
