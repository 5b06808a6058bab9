#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/proxy/location.h"
#include "apiserver/proxy/upstream_pool.h"
#include "apiserver/rest/storage.h"

namespace apiserver::inline v0::controlplane {

// A log on a kubelet. genericrest.LocationStreamer.
struct LogSource {
  proxy::Location location;
  std::shared_ptr<proxy::UpstreamPool> pool;
  std::string pod;  // For errors.
  std::shared_ptr<MemoryBudget> memory;
  // Told that a kubelet's certificate was not trusted, on the pool's loop. May be empty.
  std::function<void()> on_tls_failure;
};

// Asks for a log, and gives `opened` its bytes as text/plain, on the pool's loop; not at all if
// `ctx` is cancelled before the kubelet has answered. No thread waits.
//
// Errors: kUnknown: `Get "https://…": dial tcp …`, or a redirect (`Get "/x": redirects forbidden`);
// what the kubelet refuses with: kInternalError and kBadRequest with its text, of which the first
// 50,000 bytes count, or meta::NewGenericServerResponse.
void OpenLog(const Context& ctx, LogSource source, rest::ResourceStreamer::Opened opened);

}  // namespace apiserver::inline v0::controlplane
