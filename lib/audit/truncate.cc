#include <utility>

#include "apiserver/audit/batching.h"

namespace apiserver::v0::audit {

namespace {

// Limits are for the encoded size, as upstream; it costs one encoding more for each event.
std::size_t EncodedSize(const Event& event) {
  std::string json;
  AppendEventJson(event, json);
  return json.size() + 1;  // Go's encoder ends it with a newline.
}

// Follows truncate() of the Go plugin: what is left is the request's metadata.
EventPtr Truncated(const Event& event) {
  auto truncated = std::make_shared<Event>(event);
  truncated->request_object = nullptr;
  truncated->response_object = nullptr;
  truncated->annotations["audit.k8s.io/truncated"] = "true";
  return truncated;
}

class Truncating final : public Backend {
 public:
  Truncating(BackendPtr delegate, TruncateOptions options)
      : options_(options), delegate_(std::move(delegate)) {}

  std::string name() const override { return std::string(kPlugin) + "<" + delegate_->name() + ">"; }

  Status Run(const BackendEnvironment& environment) override {
    environment_ = environment;
    return delegate_->Run(environment);
  }

  // Batches are cut in order, so events arrive in the order in which they were given.
  void ProcessEvents(Events events, Done done) override {
    std::vector<Events> batches;
    std::size_t batch_bytes = 0;
    std::size_t dropped = 0;
    for (EventPtr& event : events) {
      std::size_t bytes = EncodedSize(*event);
      // Events of a lower level have no objects that could be dropped.
      if (bytes > options_.max_event_size && event->level >= Level::kRequest) {
        event = Truncated(*event);
        bytes = EncodedSize(*event);
      }
      if (bytes > options_.max_event_size) {
        ++dropped;
        continue;
      }
      if (batches.empty() || batch_bytes + bytes > options_.max_batch_size) {
        batches.emplace_back();
        batch_bytes = 0;
      }
      batch_bytes += bytes;
      batches.back().push_back(std::move(event));
    }
    if (dropped > 0 && environment_.metrics) {
      environment_.metrics->HandlePluginError(
          *environment_.log, kPlugin,
          {Reason::kRequestEntityTooLarge, "event is too large even after truncating"}, dropped);
    }
    Deliver(std::move(batches), std::move(done));
  }

  bool Holds() const override { return delegate_->Holds(); }
  void Shutdown(std::chrono::milliseconds grace) override { delegate_->Shutdown(grace); }

 private:
  static constexpr std::string_view kPlugin = "truncate";

  // Each batch starts when the one before is done, so a failure is known before the next is sent.
  void Deliver(std::vector<Events> batches, Done done) {
    if (!done || batches.empty()) {
      for (Events& batch : batches) delegate_->ProcessEvents(std::move(batch), nullptr);
      if (done) done(true);
      return;
    }
    // One after the other: the outcome of the last one is that of all.
    Events batch = std::move(batches.front());
    batches.erase(batches.begin());
    if (batches.empty()) return delegate_->ProcessEvents(std::move(batch), std::move(done));
    delegate_->ProcessEvents(std::move(batch), [this, rest = std::move(batches),
                                                done = std::move(done)](bool processed) mutable {
      // The rest is still recorded, but the outcome is known.
      if (!processed) {
        for (Events& each : rest) delegate_->ProcessEvents(std::move(each), nullptr);
        return done(false);
      }
      Deliver(std::move(rest), std::move(done));
    });
  }

  const TruncateOptions options_;
  const BackendPtr delegate_;
  BackendEnvironment environment_;
};

}  // namespace

BackendPtr NewTruncatingBackend(BackendPtr delegate, TruncateOptions options) {
  return std::make_shared<Truncating>(std::move(delegate), options);
}

}  // namespace apiserver::v0::audit
