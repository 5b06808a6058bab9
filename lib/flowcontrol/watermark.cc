#include "flowcontrol/watermark.h"

namespace apiserver::v0::flowcontrol {

namespace {

// The histogram divides by the limit.
double Positive(double limit) { return limit > 0 ? limit : 1; }

}  // namespace

// Any thread. An update may be late, never lost: the last subtraction succeeds only if nothing came
// since.
void Watermark::Note(Clock::Monotonic now) {
  // Only one thread at a time updates the histogram: the others leave their change to it, and never
  // wait.
  if (to_note_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
  int noted = 0;
  do {
    noted = to_note_.load(std::memory_order_acquire);
    over_time_.SetLimit(now, limit_.load(std::memory_order_relaxed));
    over_time_.Set(now, count());
    // The load keeps the usual case free of a write that is shared by all threads.
    if (show_.load(std::memory_order_relaxed) && show_.exchange(false)) over_time_.Show(now);
  } while (to_note_.fetch_sub(noted, std::memory_order_acq_rel) != noted);
}

Watermarks::Watermarks(metrics::Registry& registry, Clock::Monotonic now)
    : inflight_(registry.Gauges(
          {.name = "apiserver_current_inflight_requests",
           .help = "[STABLE] Maximal number of currently used inflight request limit of this "
                   "apiserver per request kind in last second.",
           .labels = {"request_kind"}})),
      inqueue_(registry.Gauges({.name = "apiserver_current_inqueue_requests",
                                .help = "[ALPHA] Maximal number of queued requests in this "
                                        "apiserver per request kind in last second.",
                                .labels = {"request_kind"}})),
      over_time_(registry.Histograms(
          {.name = "apiserver_flowcontrol_read_vs_write_current_requests",
           .help = ObservedOverTime("the number of requests (as a fraction of the relevant limit) "
                                    "waiting or in regular stage of execution"),
           .labels = {"phase", "request_kind"}},
          {0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1})),
      executing_reads_(over_time_.With({"executing", "readOnly"}), now),
      executing_mutating_(over_time_.With({"executing", "mutating"}), now),
      waiting_reads_(over_time_.With({"waiting", "readOnly"}), now),
      waiting_mutating_(over_time_.With({"waiting", "mutating"}), now) {}

// Reads and writes share the seats, so both histograms have the same limit.
void Watermarks::SetLimits(const WatermarkLimits& limits, Clock::Monotonic now) {
  executing_reads_.SetLimit(Positive(limits.executing_reads), now);
  executing_mutating_.SetLimit(Positive(limits.executing_mutating), now);
  for (const bool mutating : {false, true}) {
    waiting(mutating).SetLimit(Positive(limits.waiting), now);
  }
}

// Take() returns the maximum since the last call; called once a second.
void Watermarks::Show() {
  inflight_.With({"readOnly"}).Set(executing_reads_.Take());
  inflight_.With({"mutating"}).Set(executing_mutating_.Take());
  inqueue_.With({"readOnly"}).Set(waiting_reads_.Take());
  inqueue_.With({"mutating"}).Set(waiting_mutating_.Take());
}

void Watermarks::ShowOverTime(Clock::Monotonic now) {
  for (const bool mutating : {false, true}) {
    executing(mutating).ShowOverTime(now);
    waiting(mutating).ShowOverTime(now);
  }
}

}  // namespace apiserver::v0::flowcontrol
