#include "apiserver/client/otlp_exporter.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "apiserver/base/sync.h"
#include "client/otlp_json.h"

namespace apiserver::v0::client {

namespace {

// True if the specification lets a batch be sent once more.
bool MayTakeItLater(const Status& error) {
  const int code = error.code();
  return code == 429 || code == 502 || code == 503 || code == 504;
}

WebhookOptions CollectorOf(const OtlpExporterOptions& options, Executor& executor) {
  WebhookOptions webhook{.client = options.client, .url = options.url, .headers = options.headers};
  webhook.timeout = options.timeout;
  webhook.backoff = options.backoff;
  webhook.should_retry = MayTakeItLater;
  webhook.executor = &executor;
  webhook.random = options.random;
  webhook.clock = options.clock;
  return webhook;
}

struct SpanCounters {
  explicit SpanCounters(metrics::Registry& registry)
      : exported(registry
                     .Counters({.name = "apiserver_tracing_exported_spans_total",
                                .help = "Spans that the collector has taken.",
                                .labels = {}})
                     .With({})),
        dropped(registry.Counters({.name = "apiserver_tracing_dropped_spans_total",
                                   .help = "Spans that reach no collector, by reason: queue_full, "
                                           "failed (not sent in time), rejected (by the "
                                           "collector), shutdown.",
                                   .labels = {"reason"}})) {}
  metrics::Counter& exported;
  metrics::Family<metrics::Counter>& dropped;
};

// The state that responses need, which may come after the exporter is gone.
class SpanQueue final : public std::enable_shared_from_this<SpanQueue> {
 public:
  SpanQueue(OtlpExporterOptions options, Executor& executor)
      : options_(std::move(options)),
        executor_(executor),
        collector_(CollectorOf(options_, executor)),
        metrics_(options_.metrics ? options_.metrics : metrics::NewRegistry()),
        counters_(*metrics_) {}

  void Add(trace::SpanData span) {
    const std::size_t bytes = BytesOf(span);
    switch (Enqueue(std::move(span), bytes)) {
      case Then::kNothing:
        return;
      case Then::kSendNow:
        return Schedule(/*now=*/true);
      case Then::kSendLater:
        return Schedule(/*now=*/false);
      case Then::kCountStopped:
        return CountDropped("shutdown", 1);
      case Then::kCountFull:
        return CountDropped("queue_full", 1);
    }
  }

  void Flush(std::chrono::milliseconds grace) {
    const auto until = RealClock().Now() + grace;
    for (;;) {
      {
        auto state = state_.Lock();
        const auto sent = [&state] { return !state->sending; };
        if (state->stopped || !state.WaitUntil(until, sent) || state->spans.empty()) return;
      }
      Send();
    }
  }

  // Sends nothing any more.
  void Stop() {
    std::size_t left = 0;
    {
      auto state = state_.Lock();
      state->stopped = true;
      left = state->spans.size();
      state->spans.clear();
    }
    ctx_.Cancel({Reason::kServiceUnavailable, "the exporter of spans was stopped"});
    if (left > 0) CountDropped("shutdown", left);
  }

 private:
  struct State {
    std::deque<trace::SpanData> spans;
    std::size_t bytes = 0;
    bool waits = false;    // A timer runs that will send the spans of that moment.
    bool due = false;      // A task is posted that will send.
    bool sending = false;  // A batch is in flight.
    bool stopped = false;
  };

  enum class Then : std::uint8_t { kNothing, kSendNow, kSendLater, kCountStopped, kCountFull };
  Then Enqueue(trace::SpanData span, std::size_t bytes) {
    auto state = state_.Lock();
    if (state->stopped) return Then::kCountStopped;
    const bool full = state->spans.size() >= options_.queue_spans_max ||
                      state->bytes + bytes > options_.queue_bytes_max;
    if (full) return Then::kCountFull;
    state->spans.push_back(std::move(span));
    state->bytes += bytes;
    // The end of the batch in flight schedules the next one.
    if (state->sending) return Then::kNothing;
    const bool now = state->spans.size() >= options_.batch_spans_max;
    if (std::exchange(now ? state->due : state->waits, true)) return Then::kNothing;
    return now ? Then::kSendNow : Then::kSendLater;
  }

  void Schedule(bool now) {
    // A timer must not keep the queue alive once the exporter is gone.
    auto send = [weak = weak_from_this(), now] {
      const auto queue = weak.lock();
      if (!queue) return;
      {
        auto state = queue->state_.Lock();
        (now ? state->due : state->waits) = false;
      }
      queue->Send();
    };
    if (now) return executor_.Post(std::move(send));
    (void)executor_.PostAfter(options_.batch_delay, std::move(send));
  }

  void Send() {
    std::vector<trace::SpanData> batch;
    {
      auto state = state_.Lock();
      if (state->sending || state->stopped || state->spans.empty()) return;
      const auto count = std::min(state->spans.size(), options_.batch_spans_max);
      const auto end = state->spans.begin() + static_cast<std::ptrdiff_t>(count);
      batch.assign(std::move_iterator(state->spans.begin()), std::move_iterator(end));
      state->spans.erase(state->spans.begin(), end);
      for (const trace::SpanData& span : batch) state->bytes -= BytesOf(span);
      state->sending = true;
    }
    collector_.Post(ctx_, OtlpJson(options_.resource, batch),
                    [self = shared_from_this(),
                     count = batch.size()](const Result<http::ClientResponse>& answer) {
                      self->Count(answer, count);
                      self->Sent();
                    });
  }

  void Count(const Result<http::ClientResponse>& answer, std::size_t spans) const {
    // Attempts are over: the Webhook has retried as the options say.
    if (!answer.ok()) {
      CountDropped("failed", spans);
      return Log(*options_.log, LogLevel::kWarning, "spans could not be sent to the collector",
                 {{"url", options_.url},
                  {"spans", std::to_string(spans)},
                  {"error", std::string(answer.status().message())}});
    }
    const OtlpAnswer said = ReadOtlpAnswer(answer->body);
    const std::size_t rejected = std::min(said.rejected_spans, spans);
    counters_.exported.Add(static_cast<double>(spans - rejected));
    if (rejected > 0) CountDropped("rejected", rejected);
    if (rejected == 0 && said.message.empty()) return;
    Log(*options_.log, LogLevel::kWarning, "the collector did not like all spans",
        {{"url", options_.url},
         {"rejected", std::to_string(rejected)},
         {"message", said.message.substr(0, kMessageMax)}});
  }

  void Sent() {
    bool now = false;
    bool wanted = false;
    {
      auto state = state_.Lock();
      state->sending = false;
      now = state->spans.size() >= options_.batch_spans_max;
      wanted = !state->stopped && !state->spans.empty() &&
               !std::exchange(now ? state->due : state->waits, true);
    }
    state_.NotifyAll();
    if (wanted) Schedule(now);
  }

  void CountDropped(std::string_view reason, std::size_t spans) const {
    counters_.dropped.With({reason}).Add(static_cast<double>(spans));
  }

  static constexpr std::size_t kMessageMax = 256;

  const OtlpExporterOptions options_;
  Executor& executor_;
  const Webhook collector_;
  const std::shared_ptr<metrics::Registry> metrics_;
  const SpanCounters counters_;
  const Context ctx_ = Context::Child(Context::Background());
  Guarded<State> state_;
};

class OtlpExporter final : public trace::SpanProcessor {
 public:
  explicit OtlpExporter(const OtlpExporterOptions& options)
      : pool_(options.executor ? nullptr : NewThreadPool({.name = "otlp", .threads = 1})),
        queue_(
            std::make_shared<SpanQueue>(options, options.executor ? *options.executor : *pool_)) {}
  ~OtlpExporter() override {
    queue_->Stop();
    if (pool_) pool_->Stop();
  }

  void OnEnd(trace::SpanData span) override { queue_->Add(std::move(span)); }
  void Flush(std::chrono::milliseconds grace) override { queue_->Flush(grace); }

 private:
  const std::unique_ptr<ThreadPool> pool_;  // Null: the host's executor is used.
  const std::shared_ptr<SpanQueue> queue_;
};

}  // namespace

std::shared_ptr<trace::SpanProcessor> NewOtlpExporter(const OtlpExporterOptions& options) {
  return std::make_shared<OtlpExporter>(options);
}

}  // namespace apiserver::v0::client
