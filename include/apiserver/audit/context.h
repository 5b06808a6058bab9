#pragma once

#include <array>
#include <atomic>
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

// What a request's event will say, collected while the request is served:
// k8s.io/apiserver/pkg/audit/context.go. Where nothing is audited the functions below do nothing
// but look that up.
namespace apiserver::inline v0::audit {

// Adds an annotation to the event of the request whose context this is: keys are qualified
// ("authorization.k8s.io/decision"), values short. The first value of a key stays; another one is
// dropped and logged. Any thread.
void AddAnnotation(const Context& ctx, std::string_view key, std::string_view value);
// Who is acted as; the event's `user` stays who asked. `constraint`: the verb that allowed it under
// constrained impersonation, else empty. Any thread.
void LogImpersonatedUser(const Context& ctx, auth::UserInfoPtr user,
                         std::string_view constraint = "");
// At which level the request is audited; kNone also before the policy was asked, and where there is
// none. Who would have to make something only for the event asks first.
Level LevelOf(const Context& ctx);

// What the policy says of one request.
struct RequestAuditConfig {
  Level level = Level::kNone;
  std::array<bool, kStages> omit_stages = {};  // By Stage.
  bool omit_managed_fields = false;

  friend bool operator==(const RequestAuditConfig&, const RequestAuditConfig&) = default;
};

// One request's event in the making, a value of its context. Any thread.
class AuditContext {
 public:
  // `clock` and `log` outlive it.
  AuditContext(std::string audit_id, const Clock& clock, LogSink& log);

  // Tells what the policy says; once. Before, everything is collected.
  void Init(const RequestAuditConfig& config);
  bool initialized() const { return initialized_.load(std::memory_order_acquire); }
  // Whether what is told still counts.
  bool enabled() const { return !initialized() || config_.level != Level::kNone; }
  // Only once it is initialized.
  const RequestAuditConfig& config() const { return config_; }
  bool Wants(Stage stage) const;

  // Changes the event.
  template <class Change>
  void Visit(Change change) {
    auto event = event_.Lock();
    change(*event);
  }
  // The event as it stands now, for this stage. The last one may take it away.
  Event Snapshot(Stage stage, bool last = false);

 private:
  friend void AddAnnotation(const Context& ctx, std::string_view key, std::string_view value);

  const Clock& clock_;
  LogSink& log_;
  RequestAuditConfig config_;
  std::atomic<bool> initialized_{false};
  Guarded<Event> event_;
};
// The value of a context; absent where the server audits nothing.
using AuditContextPtr = std::shared_ptr<AuditContext>;

// Null: nothing is audited.
AuditContext* AuditContextFrom(const Context& ctx);

}  // namespace apiserver::inline v0::audit
