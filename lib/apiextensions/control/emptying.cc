// The deletion of a definition's objects, which must be gone before it: upstream's finalizer
// controller.

#include <algorithm>
#include <utility>

#include "apiextensions/control/controller.h"
#include "apiextensions/control/status.h"

namespace apiserver::v0::apiextensions {
namespace {

using std::chrono::milliseconds;

// The pause before objects that are not gone yet are looked at again: they have finalizers, whose
// owners take their time. It doubles up to that of upstream.
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLastPause{5000};

// Upstream leaves these alone, whose objects are not custom ones.
bool Overlaps(const std::string& name) {
  return name == "apiservices.apiregistration.k8s.io" ||
         name == "customresourcedefinitions.apiextensions.k8s.io";
}

}  // namespace

// On threads of their own, since objects may be many, and other definitions need not wait for them.
void Controller::BeginEmptying(const FactsPtr& facts) {
  if (!state_.Lock()->emptying.insert(facts->name).second) return;
  EmptyLater(facts->name, milliseconds(0));
}

void Controller::EmptyLater(const std::string& name, milliseconds delay) {
  const milliseconds next = std::clamp(2 * delay, kFirstPause, kLastPause);
  auto task = [weak = weak_from_this(), name, next] {
    const auto self = weak.lock();
    if (self == nullptr || !self->Enter()) return;
    self->Empty(name, next);
    self->Leave();
  };
  if (delay.count() == 0) return needs_.pool->Post(std::move(task));
  (void)needs_.pool->PostAfter(delay, std::move(task));
}

void Controller::Empty(const std::string& name, milliseconds delay) {
  const FactsPtr facts = Find(name);
  // One of the same name may have come, and been deleted too, while this one was still in the set.
  const auto done = [&] {
    state_.Lock()->emptying.erase(name);
    Enqueue({name});
    Kick();
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
  if (!finished) return EmptyLater(name, delay);
  done();
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
