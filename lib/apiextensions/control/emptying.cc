// The deletion of a definition's objects, which must be gone before it: upstream's finalizer
// controller.

#include <chrono>
#include <memory>
#include <string>

#include "apiextensions/control/controller.h"
#include "apiextensions/control/status.h"

namespace apiserver::v0::apiextensions {
namespace {

using std::chrono::milliseconds;

// The pause before objects that are not gone yet are looked at again: they have finalizers, whose
// owners take their time. It doubles up to that of upstream.
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLastPause{5000};
// The definitions whose objects are deleted at a time; upstream has five.
constexpr int kEmptyingAtOnce = 16;

// Upstream leaves these alone, whose objects are not custom ones.
bool Overlaps(const std::string& name) {
  return name == "apiservices.apiregistration.k8s.io" ||
         name == "customresourcedefinitions.apiextensions.k8s.io";
}

}  // namespace

// On tasks of their own, since objects may be many, and other definitions need not wait for them.
std::unique_ptr<controller::Controller> Controller::NewEmptying() {
  return controller::NewController(
      {.name = "crd_finalizer",
       .reconcile = [this](const Context& /*ctx*/, const controller::NamespacedName& key)
           -> Result<controller::ReconcileResult> {
         if (Empty(key.name)) return controller::ReconcileResult{};
         return Status(Reason::kConflict, "some objects are still there");
       },
       .workers = kEmptyingAtOnce,
       .pool = needs_.pool,
       .rate_limiter =
           controller::NewRateLimiter({.base = kFirstPause, .max = kLastPause, .per_second = 0}),
       .metrics = needs_.metrics.get()});
}

// Once, so that no change of its status ends the pause before the next look.
void Controller::BeginEmptying(const FactsPtr& facts) {
  if (!state_.Lock()->emptying.insert(facts->name).second) return;
  emptying_->queue().Add({"", facts->name});
}

bool Controller::Empty(const std::string& name) {
  const FactsPtr facts = Find(name);
  // One of the same name may have come, and been deleted too, while this one was still in the set.
  const auto done = [&] {
    state_.Lock()->emptying.erase(name);
    Enqueue({name});
    Kick();
    return true;
  };
  if (facts == nullptr || !facts->deleting || !facts->cleanup) return done();
  const Now now = needs_.clock->WallNow();
  const auto tell = [&](std::string_view reason, const std::string& message) {
    Write(*facts, [&](runtime::Object& definition) {
      return SetTerminating(definition, true, reason, message, now);
    });
  };
  bool finished = false;
  if (Overlaps(name)) {
    finished = Finish(facts, "OverlappingBuiltInResource",
                      "instances overlap with built-in resources in storage");
  } else if (!facts->established) {
    finished = Finish(facts, "NeverEstablished", "resource was never established");
  } else {
    tell("InstanceDeletionInProgress", "CustomResource deletion is in progress");
    const Emptied emptied = needs_.empty(ctx_, facts);
    switch (emptied.state) {
      case Emptied::State::kEmpty:
        finished = Finish(facts, "InstanceDeletionCompleted", "removed all instances");
        break;
      case Emptied::State::kNotYet:
        break;
      case Emptied::State::kCannotList:
        tell("InstanceDeletionFailed", "could not list instances: " + emptied.why);
        break;
      case Emptied::State::kCannotDelete:
        tell("InstanceDeletionFailed", "could not issue all deletes: " + emptied.why);
        break;
    }
  }
  return finished && done();
}

// The definition goes with its last finalizer. False: it could not be written and is tried again.
bool Controller::Finish(const FactsPtr& facts, std::string_view reason, std::string_view message) {
  const Now now = needs_.clock->WallNow();
  const bool written = Write(*facts, [&](runtime::Object& definition) {
    const bool told = SetTerminating(definition, false, reason, message, now);
    return RemoveCleanup(definition) || told;
  });
  if (!written) return false;
  Delete(*facts);
  return true;
}

}  // namespace apiserver::v0::apiextensions
