#include "apiserver/authz/instrumented.h"

#include <atomic>
#include <utility>

namespace apiserver::v0::authz {
namespace {

class Instrumented final : public auth::Authorizer {
 public:
  Instrumented(std::string type, std::string name,
               std::shared_ptr<const auth::Authorizer> authorizer, metrics::Registry& registry)
      : authorizer_(std::move(authorizer)),
        type_(std::move(type)),
        name_(std::move(name)),
        decisions_(registry.Counters(
            {.name = "apiserver_authorization_decisions_total",
             .help = "[ALPHA] Total number of terminal decisions made by an authorizer split by "
                     "authorizer type, name, and decision.",
             .labels = {"type", "name", "decision"}})) {}

  // Counts decisions only: an error or no opinion leaves the decision to the next authorizer.
  Result<auth::Verdict> Authorize(const Context& ctx,
                                  const auth::Attributes& asked) const override {
    Result<auth::Verdict> verdict = authorizer_->Authorize(ctx, asked);
    if (!verdict.ok()) return verdict;
    // The labels are the fields of a SubjectAccessReview's status.
    if (verdict->decision == auth::Decision::kAllow) Count(allowed_, "allowed");
    if (verdict->decision == auth::Decision::kDeny) Count(denied_, "denied");
    return verdict;
  }

 private:
  using Kept = std::atomic<metrics::Counter*>;

  // A series is shown from its first decision on; its address is kept, since every request counts
  // here.
  // Two threads may both look up the counter the first time; both get the same one.
  void Count(Kept& kept, const char* decision) const {
    metrics::Counter* counter = kept.load(std::memory_order_acquire);
    if (counter == nullptr) {
      counter = &decisions_.With({type_, name_, decision});
      kept.store(counter, std::memory_order_release);
    }
    counter->Add();
  }

  const std::shared_ptr<const auth::Authorizer> authorizer_;
  const std::string type_;
  const std::string name_;
  metrics::Family<metrics::Counter>& decisions_;
  mutable Kept allowed_{nullptr};
  mutable Kept denied_{nullptr};
};

}  // namespace

std::unique_ptr<auth::Authorizer> NewInstrumented(
    std::string type, std::string name, std::shared_ptr<const auth::Authorizer> authorizer,
    metrics::Registry& registry) {
  return std::make_unique<Instrumented>(std::move(type), std::move(name), std::move(authorizer),
                                        registry);
}

}  // namespace apiserver::v0::authz
