#include "flowcontrol/watermark.h"

namespace apiserver::inline v0::flowcontrol {

Watermarks::Watermarks(metrics::Registry& registry)
    : inflight_(registry.Gauges(
          {.name = "apiserver_current_inflight_requests",
           .help = "[STABLE] Maximal number of currently used inflight request limit of this "
                   "apiserver per request kind in last second.",
           .labels = {"request_kind"}})),
      inqueue_(registry.Gauges({.name = "apiserver_current_inqueue_requests",
                                .help = "[ALPHA] Maximal number of queued requests in this "
                                        "apiserver per request kind in last second.",
                                .labels = {"request_kind"}})) {}

void Watermarks::Show() {
  inflight_.With({"readOnly"}).Set(executing_reads_.Take());
  inflight_.With({"mutating"}).Set(executing_mutating_.Take());
  inqueue_.With({"readOnly"}).Set(waiting_reads_.Take());
  inqueue_.With({"mutating"}).Set(waiting_mutating_.Take());
}

}  // namespace apiserver::inline v0::flowcontrol
