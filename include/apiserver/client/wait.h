#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/object.h"

// Waits for the state of one object, and reads a collection page by page:
// k8s.io/client-go/tools/watch.UntilWithSync, the conditions of `kubectl wait`, and tools/pager.
namespace apiserver::inline v0::client {

// Says whether an object is as the caller wants it. Null: there is no such object now. An error
// ends the wait and is returned. Called on the thread that waits; may block.
using ObjectCondition = std::function<Result<bool>(const runtime::ObjectPtr& object)>;

// Options of WaitFor().
struct WaitOptions {
  // The pause before the server is asked again, because it has failed or ended the watch: doubled
  // up to the maximum until an event comes.
  std::chrono::milliseconds backoff = std::chrono::milliseconds(200);
  std::chrono::milliseconds backoff_max = std::chrono::seconds(10);
};

// Waits until `condition` holds for the object `target.name`, and returns that state of it: null if
// there is no such object, which may be what is waited for. The condition sees the state at first,
// and each change that a watch brings; of what happens while the watch is interrupted it sees the
// outcome. Blocks as long as `ctx` lets it, so give that a deadline.
//
// kTimeout: `ctx` was done first; the message has the server's last failure, if it could not be
// asked. kInvalid: `target` names no object, or a subresource. A server that is unreachable,
// overloaded or broken (429, 5xx) is asked again; its other errors, such as kForbidden, are
// returned.
Result<runtime::ObjectPtr> WaitFor(const Context& ctx, Client& client, const Target& target,
                                   const ObjectCondition& condition,
                                   const WaitOptions& options = {});

// Holds if the object's status.conditions have this type with this status, in any case, unless they
// are about an older generation of the object: kubectl wait --for=condition=TYPE=STATUS.
ObjectCondition HasCondition(std::string type, std::string status = "True");
// Holds if there is no such object: kubectl wait --for=delete.
ObjectCondition IsGone();

// Calls `each` for the objects of a collection in the server's order, on the caller's thread, where
// it may block. Reads them in pages of `options.limit`, 500 if that is zero, so that neither side
// holds all of them. The pages are of one revision. kExpired: reading took longer than the server
// keeps that; begin anew, or list without a limit. An error of `each` ends the reading and is
// returned.
Status ForEachObject(const Context& ctx, Client& client, const Target& collection,
                     meta::ListOptions options,
                     const std::function<Status(const runtime::ObjectPtr& object)>& each);

}  // namespace apiserver::inline v0::client
