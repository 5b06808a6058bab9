#pragma once

#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The group flowcontrol.apiserver.k8s.io, v1, as of Kubernetes 1.35: the configuration of API
// Priority and Fairness.
namespace apiserver::inline v0::groups::flowcontrol {

// Returns FlowSchema and PriorityLevelConfiguration; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

// The storage of the group, and its log.
struct Options {
  // Required. The storage of the objects.
  registry::StorageConfig storage;
  LogSink* log = &NullLogSink();  // Must outlive the server.
};

// Serves the group, and has the server's flow control follow its objects from the start of the
// server on; a server without priority and fairness serves them all the same. Before Start.
//
// The post-start hook priority-and-fairness-config-producer creates what is built in, and repeats
// it every minute: mandatory objects are always set right, suggested ones unless their annotation
// apf.kubernetes.io/autoupdate-spec is "false", or is missing and they have been changed. The hook
// priority-and-fairness-config-follower returns when the objects are in force; later changes are
// within milliseconds. Each FlowSchema's condition Dangling says whether its level is missing.
//
// kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, Options options);

}  // namespace apiserver::inline v0::groups::flowcontrol
