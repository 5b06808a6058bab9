#include "apiserver/client/wait.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"

namespace apiserver::v0::client {
namespace {

using runtime::ObjectPtr;
using std::chrono::milliseconds;

constexpr std::int64_t kPageObjects = 500;

// Returns whether asking again may help. 410: the watch began at a revision that is gone.
bool MayPass(const Status& failure) {
  const int code = failure.code();
  return code == 410 || code == 429 || code >= 500;
}

// One wait. Used by one thread.
class Wait {
 public:
  Wait(const Context& ctx, Client& client, const Target& target, const ObjectCondition& condition,
       const WaitOptions& options)
      : ctx_(ctx),
        client_(client),
        target_(target),
        condition_(condition),
        options_(options),
        pause_(options.backoff) {}

  Result<ObjectPtr> Run() {
    while (!ctx_.done()) {
      auto met = ListAndWatch();
      if (met.ok() && *met) return **met;
      // A call that fails because the time is over says nothing about the server.
      if (ctx_.done()) break;
      if (!met.ok() && (refused_ || !MayPass(met.status()))) return met.status();
      failure_ = met.status();
      Pause();
    }
    return TimedOut();
  }

 private:
  // The object for which the condition holds. nullopt: it did not, and the watch has ended.
  using Met = Result<std::optional<ObjectPtr>>;

  Met ListAndWatch() {
    Target collection = target_;
    collection.name.clear();
    meta::ListOptions one{.field_selector =
                              meta::FieldSelector::Equals("metadata.name", target_.name)};
    ASSIGN_OR_RETURN(const runtime::List list, client_.List(ctx_, collection, one));
    ASSIGN_OR_RETURN(const auto met, Look(list.items.empty() ? nullptr : list.items.front()));
    if (met) return met;
    one.resource_version = list.resource_version;
    ASSIGN_OR_RETURN(const auto watch, client_.Watch(ctx_, collection, one));
    return Follow(*watch);
  }

  Met Follow(WatchStream& watch) {
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<watch::Event> event, watch.Next(ctx_));
      if (!event) return Met(std::nullopt);
      if (event->type == watch::EventType::kError) return event->error;
      pause_ = options_.backoff;
      if (event->type == watch::EventType::kBookmark) continue;
      const bool gone = event->type == watch::EventType::kDeleted;
      ASSIGN_OR_RETURN(const auto met, Look(gone ? nullptr : event->object));
      if (met) return met;
    }
  }

  Met Look(ObjectPtr object) {
    const Result<bool> holds = condition_(object);
    // An error of the condition is final, whatever its code.
    refused_ = !holds.ok();
    RETURN_IF_ERROR(holds.status());
    return *holds ? Met(std::move(object)) : Met(std::nullopt);
  }

  void Pause() {
    Notification done;
    const auto registration = ctx_.OnDone([&done] { done.Notify(); });
    milliseconds pause = std::exchange(pause_, std::min(pause_ * 2, options_.backoff_max));
    if (const auto deadline = ctx_.deadline()) {
      const auto left = *deadline - RealClock().Now();
      // One more, so that the deadline has passed then.
      pause = std::min(pause, std::chrono::duration_cast<milliseconds>(left) + milliseconds(1));
    }
    if (pause > milliseconds(0)) (void)done.WaitFor(pause);  // ctx tells whether it is done.
  }

  Status TimedOut() const {
    Status why = ctx_.Err();
    if (why.reason() != Reason::kTimeout) return why;
    std::string message = "timed out waiting for the condition on " +
                          target_.resource.group_resource().ToString() + "/" + target_.name;
    if (!failure_.ok()) message += ": " + failure_.ToString();
    return {Reason::kTimeout, std::move(message)};
  }

  const Context& ctx_;
  Client& client_;
  const Target& target_;
  const ObjectCondition& condition_;
  const WaitOptions& options_;
  milliseconds pause_;
  Status failure_;  // The server's last one.
  bool refused_ = false;
};

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The generation that a condition is about. nullopt: nobody says.
std::optional<std::int64_t> ObservedBy(runtime::Value condition, runtime::Value status) {
  for (const runtime::Value each : {condition, status}) {
    const runtime::Value observed = each["observedGeneration"];
    if (observed.is_number()) return observed.AsInt();
  }
  return std::nullopt;
}

}  // namespace

Result<ObjectPtr> WaitFor(const Context& ctx, Client& client, const Target& target,
                          const ObjectCondition& condition, const WaitOptions& options) {
  if (target.name.empty() || !target.subresource.empty()) {
    return Status(Reason::kInvalid, "a wait is for one object: a name, and no subresource");
  }
  return Wait(ctx, client, target, condition, options).Run();
}

ObjectCondition HasCondition(std::string type, std::string status) {
  return [type = std::move(type), status = std::move(status)](const ObjectPtr& object) {
    if (!object) return false;
    const runtime::Value current = (*object)["status"];
    for (const runtime::Value condition : current["conditions"].items()) {
      if (!EqualIgnoringCase(condition["type"].AsString(), type)) continue;
      const auto observed = ObservedBy(condition, current);
      if (observed && *observed < (*object)["metadata"]["generation"].AsInt()) return false;
      return EqualIgnoringCase(condition["status"].AsString(), status);
    }
    return false;
  };
}

ObjectCondition IsGone() {
  return [](const ObjectPtr& object) { return object == nullptr; };
}

Status ForEachObject(const Context& ctx, Client& client, const Target& collection,
                     meta::ListOptions options,
                     const std::function<Status(const ObjectPtr& object)>& each) {
  if (options.limit == 0) options.limit = kPageObjects;
  while (true) {
    ASSIGN_OR_RETURN(const runtime::List page, client.List(ctx, collection, options));
    for (const ObjectPtr& object : page.items) RETURN_IF_ERROR(each(object));
    if (page.continue_token.empty()) return {};
    options.continue_token = page.continue_token;
    // The token has the revision, and excludes another one.
    options.resource_version.clear();
    options.resource_version_match = meta::ResourceVersionMatch::kUnset;
  }
}

}  // namespace apiserver::v0::client
