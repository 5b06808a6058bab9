#pragma once

#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/audit/event.h"
#include "apiserver/auth/user.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"

// The audit event of a request, collected while it is served:
// k8s.io/apiserver/pkg/audit/context.go. For a request that is not audited the functions below do
// nothing.
namespace apiserver::inline v0::audit {

// Adds an annotation to the event of the request of `ctx`: keys are qualified
// ("authorization.k8s.io/decision"), values short. The first value of a key is kept; another one is
// dropped and logged. Any thread.
void AddAnnotation(const Context& ctx, std::string_view key, std::string_view value);
// An annotation of an event.
struct Annotation {
  std::string_view key;
  std::string_view value;
};
// Adds several at once, which costs less. Any thread.
void AddAnnotations(const Context& ctx, std::initializer_list<Annotation> annotations);
// Sets the impersonated user; the event's `user` stays the authenticated one. `constraint`: the
// verb that allowed it under constrained impersonation, else empty. Any thread.
void LogImpersonatedUser(const Context& ctx, auth::UserInfoPtr user,
                         std::string_view constraint = "");
// Returns the level at which the request is audited. kNone: before the policy was evaluated, or if
// there is none. Check it before making data only for the event.
Level LevelOf(const Context& ctx);

class PackedEvent;

// The policy's decision for one request.
struct RequestAuditConfig {
  Level level = Level::kNone;
  std::array<bool, kStages> omit_stages = {};  // Indexed by Stage.
  bool omit_managed_fields = false;

  friend bool operator==(const RequestAuditConfig&, const RequestAuditConfig&) = default;
};

// The event of one request while it is collected, a value of its context. Methods may be called
// from any thread.
class AuditContext {
 public:
  // `clock` and `log` outlive it.
  AuditContext(std::string audit_id, const Clock& clock, LogSink& log)
      : AuditContext(std::move(audit_id), clock.WallNow(), clock, log) {}
  // `received`: when the request was received, if the caller has read the clock.
  AuditContext(std::string audit_id, Clock::Wall received, const Clock& clock, LogSink& log);

  // Sets the policy's decision; call it once. Before, everything is collected.
  void Init(const RequestAuditConfig& config) {
    InitWith(config, [](Event&) {});
  }
  // Does the same and, unless the decision was set before, calls `change` with the event under its
  // lock, if the policy wants anything of the request.
  template <class Change>
  void InitWith(const RequestAuditConfig& config, Change change) {
    auto collected = collected_.Lock();
    if (initialized()) return;
    Decide(config, *collected);
    if (enabled()) change(WholeOf(*collected).event);
  }
  bool initialized() const { return initialized_.load(std::memory_order_acquire); }
  // False if the policy has decided not to record the request.
  bool enabled() const { return !initialized() || config_.level != Level::kNone; }
  // Only after Init().
  const RequestAuditConfig& config() const { return config_; }
  // False if the policy omits events of this stage.
  bool Wants(Stage stage) const;

  // Calls `change` with the event, under its lock.
  template <class Change>
  void Visit(Change change) {
    auto collected = collected_.Lock();
    Collection& whole = WholeOf(*collected);
    TakeCode(whole.event);
    whole.json.text.clear();
    change(whole.event);
  }
  // Sets the code of the response; the event has it when it is used next.
  void SetCode(int code) { code_.store(code, std::memory_order_relaxed); }
  // Keeps the event small until it is needed again, for a request that goes on for long.
  void Pack();
  // Sets the stage and the time of the event, and calls `use` with it and the JSON that is kept for
  // its stages, under its lock. `use` changes no field but may move the event away, if no stage
  // follows. `now`: the time, if the caller has read it.
  template <class Use>
  void VisitAt(Stage stage, std::optional<Clock::Wall> now, Use use) {
    auto collected = collected_.Lock();
    Collection& whole = WholeOf(*collected);
    TakeCode(whole.event);
    SetStage(whole.event, stage, now);
    use(whole.event, whole.json);
  }
  // Returns when the request was received.
  Clock::Wall received() const { return received_; }
  // Returns the event as it is now, for this stage. The last one may move it away.
  Event Snapshot(Stage stage, bool last = false);

 private:
  void SetStage(Event& event, Stage stage, std::optional<Clock::Wall> now) const;
  // Moves what SetCode() has left to the event. Under the lock.
  void TakeCode(Event& event);
  friend void AddAnnotations(const Context& ctx, std::initializer_list<Annotation> annotations);
  struct Collection {
    Event event;
    RequestJson json;
  };
  // One of them is null.
  struct Collected {
    Collected(std::string audit_id, Clock::Wall received);
    ~Collected();
    std::unique_ptr<Collection> whole;
    std::unique_ptr<const PackedEvent> packed;
  };
  static Collection& WholeOf(Collected& collected);
  void Decide(const RequestAuditConfig& config, Collected& collected);

  const Clock& clock_;
  LogSink& log_;
  const Clock::Wall received_;
  RequestAuditConfig config_;
  std::atomic<bool> initialized_{false};
  std::atomic<int> code_{0};  // 0: the event has it.
  Guarded<Collected> collected_;
};
// The value of a context; absent if the server does not audit.
using AuditContextPtr = std::shared_ptr<AuditContext>;

// Null: the request is not audited.
AuditContext* AuditContextFrom(const Context& ctx);

}  // namespace apiserver::inline v0::audit
