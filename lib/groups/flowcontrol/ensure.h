#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::groups::flowcontrol {

// Creates the built-in objects that are missing, corrects those that it may, and removes those that
// an earlier version built in. k8s.io/kubernetes/pkg/registry/flowcontrol/ensurer. It blocks.
Status Ensure(client::Client& client, const Context& ctx);

}  // namespace apiserver::inline v0::groups::flowcontrol
