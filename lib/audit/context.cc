#include "apiserver/audit/context.h"

#include <utility>
#include <vector>

#include "audit/packed_event.h"

namespace apiserver::v0::audit {

AuditContext* AuditContextFrom(const Context& ctx) {
  const AuditContextPtr* const found = ctx.Get<AuditContextPtr>();
  return found ? found->get() : nullptr;
}

void AddAnnotation(const Context& ctx, std::string_view key, std::string_view value) {
  AddAnnotations(ctx, {{key, value}});
}

// Any thread. Does nothing if the request is not audited.
void AddAnnotations(const Context& ctx, std::initializer_list<Annotation> annotations) {
  AuditContext* const audit = AuditContextFrom(ctx);
  if (!audit || !audit->enabled()) return;
  struct Refused {
    Annotation second;
    std::string first;
  };
  std::vector<Refused> refused;
  {
    auto collected = audit->collected_.Lock();
    Event& event = AuditContext::WholeOf(*collected).event;
    for (const Annotation& one : annotations) {
      const auto [at, added] = event.annotations.try_emplace(std::string(one.key), one.value);
      if (!added && at->second != one.value) refused.push_back({one, at->second});
    }
  }
  for (const Refused& one : refused) {
    Log(audit->log_, LogLevel::kWarning, "an audit annotation was set twice; the first value stays",
        {{"key", std::string(one.second.key)},
         {"first", one.first},
         {"second", std::string(one.second.value)}});
  }
}

void LogImpersonatedUser(const Context& ctx, auth::UserInfoPtr user, std::string_view constraint) {
  AuditContext* const audit = AuditContextFrom(ctx);
  if (!audit || !audit->enabled()) return;
  audit->Visit([&](Event& event) {
    event.impersonated_user = std::move(user);
    event.impersonation_constraint = constraint;
  });
}

Level LevelOf(const Context& ctx) {
  const AuditContext* const audit = AuditContextFrom(ctx);
  return audit && audit->initialized() ? audit->config().level : Level::kNone;
}

AuditContext::AuditContext(std::string audit_id, Clock::Wall received, const Clock& clock,
                           LogSink& log)
    : clock_(clock), log_(log), received_(received), collected_(std::move(audit_id), received_) {}

AuditContext::Collected::Collected(std::string audit_id, Clock::Wall received)
    : whole(std::make_unique<Collection>()) {
  whole->event.audit_id = std::move(audit_id);
  whole->event.request_received = received;
}

AuditContext::Collected::~Collected() = default;

AuditContext::Collection& AuditContext::WholeOf(Collected& collected) {
  if (collected.packed) {
    collected.whole = std::make_unique<Collection>();
    collected.whole->event = collected.packed->Unpack();
    collected.packed.reset();
  }
  return *collected.whole;
}

void AuditContext::TakeCode(Event& event) {
  if (code_.load(std::memory_order_relaxed) == 0) return;
  if (!event.response_status) event.response_status.emplace();
  event.response_status->code = code_.exchange(0, std::memory_order_relaxed);
}

void AuditContext::Pack() {
  auto collected = collected_.Lock();
  if (!collected->whole) return;
  TakeCode(collected->whole->event);
  collected->packed = PackedEvent::Pack(collected->whole->event);
  if (collected->packed) collected->whole.reset();
}

// The first call wins, so that the level cannot change between two stages.
void AuditContext::Decide(const RequestAuditConfig& config, Collected& collected) {
  config_ = config;
  WholeOf(collected).event.level = config.level;
  // Pairs with the acquire in initialized(): config_ is read without the lock.
  initialized_.store(true, std::memory_order_release);
}

bool AuditContext::Wants(Stage stage) const {
  return initialized() && config_.level != Level::kNone &&
         !config_.omit_stages[static_cast<std::size_t>(stage)];
}

// `last` moves the event out, which saves the copy of two large objects; no stage may follow.
Event AuditContext::Snapshot(Stage stage, bool last) {
  auto collected = collected_.Lock();
  Event& event = WholeOf(*collected).event;
  TakeCode(event);
  SetStage(event, stage, std::nullopt);
  if (!last) return event;
  return std::move(event);
}

void AuditContext::SetStage(Event& event, Stage stage, std::optional<Clock::Wall> now) const {
  event.stage = stage;
  if (stage == Stage::kRequestReceived) now = event.request_received;
  event.stage_timestamp = now ? *now : clock_.WallNow();
}

}  // namespace apiserver::v0::audit
