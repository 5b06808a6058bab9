#include "http/body_stream.h"

#include <utility>

namespace apiserver::v0::http {
namespace {

class BodyStream final : public ReadStream {
 public:
  BodyStream(std::shared_ptr<Loop> loop, BodyCollector& body, OpenBodyOptions options,
             std::shared_ptr<void> owner)
      : loop_(std::move(loop)), body_(body), options_(options), owner_(std::move(owner)) {}
  // The exchange may end on its loop only, and this may be the last that keeps it.
  ~BodyStream() override {
    try {
      Cancel();
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): for want of memory; the end of the answer ends it
    }
  }

  void Start(std::shared_ptr<StreamSink> sink) override {
    OnLoop([&body = body_, options = options_, owner = owner_, sink = std::move(sink)]() mutable {
      body.PassOn(std::move(sink), options.paced, owner);
    });
  }
  // Acts at once and on any thread, so that the piece that is being told is the last.
  void Pause() override { body_.PausePassing(); }
  void Resume() override {
    if (!body_.ResumePassing()) return;
    loop_->Post([&body = body_, owner = owner_] { body.PassMore(); });
  }
  void Cancel() override {
    loop_->Post([&body = body_, owner = owner_] {
      body.EndPassing(Status(Reason::kTimeout, "cancelled"));
    });
  }

 private:
  void OnLoop(UniqueFunction<void()> task) {
    if (loop_->Inside()) return task();
    loop_->Post(std::move(task));
  }

  const std::shared_ptr<Loop> loop_;
  BodyCollector& body_;
  const OpenBodyOptions options_;
  const std::shared_ptr<void> owner_;
};

}  // namespace

std::unique_ptr<ReadStream> NewBodyStream(std::shared_ptr<Loop> loop, BodyCollector& body,
                                          OpenBodyOptions options, std::shared_ptr<void> owner) {
  return std::make_unique<BodyStream>(std::move(loop), body, options, std::move(owner));
}

}  // namespace apiserver::v0::http
