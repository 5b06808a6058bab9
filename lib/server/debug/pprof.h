#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <memory>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "server/debug/cpu_profile.h"
#include "server/debug/place.h"

namespace apiserver::inline v0::server::debug {

// Answers /debug/pprof/profile, one request at a time. Any thread.
class Profiler : public std::enable_shared_from_this<Profiler> {
 public:
  explicit Profiler(CpuProfile::Needs needs) : needs_(std::move(needs)) {}

  // Answers with a CPU profile of the next ?seconds=, for which no thread waits. It ends early,
  // with the samples so far, when the server stops.
  http::Step Serve(http::Exchange& exchange);

 private:
  class Run;

  const CpuProfile::Needs needs_;
  std::atomic<bool> busy_{false};
};

// Installs the part of Go's net/http/pprof that exists here at /debug/pprof/: the CPU profile and,
// with `cmdline`, the program's arguments. k8s.io/apiserver/pkg/server/routes/profiling.go and
// debugsocket.go. kConflict: a path is taken.
Status InstallProfiling(const Place& place, std::shared_ptr<Profiler> profiler, bool cmdline);

}  // namespace apiserver::inline v0::server::debug
