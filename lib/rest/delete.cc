#include "apiserver/rest/delete.h"

#include <chrono>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"

namespace apiserver::v0::rest {
namespace {

std::string TextOf(Clock::Wall time) { return runtime::FormatTime(runtime::UnixTime::From(time)); }

// `hint` says what may have happened to the object since the client read it.
Status CheckPrecondition(const runtime::Object& object, const std::optional<std::string>& wanted,
                         std::string_view actual, std::string_view what, std::string_view hint) {
  if (!wanted || *wanted == actual) return {};
  std::string why = "the ";
  why.append(what).append(" in the precondition (").append(*wanted);
  why.append(") does not match the ").append(what).append(" in record (").append(actual);
  why.append("). The object might have been ").append(hint);
  // As in Go, the kind is reported in place of the resource.
  return meta::NewConflict({object.kind().group(), object.kind().kind()}, object.name(), why);
}

// Shortens the grace period of an object that is marked already; it can never be extended.
Result<Grace> Shorten(const runtime::Object& object, meta::DeleteOptions& options,
                      const Clock& clock) {
  const runtime::Value stored = object.metadata()["deletionGracePeriodSeconds"];
  // Zero means that the object is being removed now; nothing is left to shorten.
  if (stored.is_null() || stored.AsInt() == 0) return Grace{};
  const std::int64_t before = stored.AsInt() < 0 ? 1 : stored.AsInt();
  Grace grace;
  if (!options.grace_period_seconds || *options.grace_period_seconds >= before) {
    if (!options.grace_period_seconds) options.grace_period_seconds = before;
    grace.pending = true;
    return grace;
  }
  grace.graceful = true;
  grace.grace_period_seconds = *options.grace_period_seconds;
  ASSIGN_OR_RETURN(const runtime::UnixTime end,
                   runtime::ParseTime(object.metadata()["deletionTimestamp"].AsString()));
  // The new end counts from the first request for deletion, which is the old end less the old
  // period.
  Clock::Wall sooner = end.ToSystem() - std::chrono::seconds(before) +
                       std::chrono::seconds(grace.grace_period_seconds);
  const Clock::Wall now = clock.WallNow();
  if (sooner < now) {
    sooner = now;
    // 1 rather than 0: another client must still make the final delete, the one with zero grace.
    if (grace.grace_period_seconds != 0) grace.grace_period_seconds = 1;
  }
  grace.deletion_timestamp = TextOf(sooner);
  return grace;
}

}  // namespace

void Grace::Apply(runtime::Object& object) const {
  object.Edit("metadata", "deletionTimestamp") = deletion_timestamp;
  object.Edit("metadata", "deletionGracePeriodSeconds") = grace_period_seconds;
  if (next_generation) object.Edit("metadata", "generation") = object.generation() + 1;
}

// Follows rest.BeforeDelete. Preconditions come first: they must hold also for a second delete.
Result<Grace> BeforeDelete(const Strategy& strategy, const Context& ctx,
                           const runtime::Object& object, meta::DeleteOptions& options,
                           const Clock& clock) {
  const meta::Preconditions& wanted = options.preconditions;
  RETURN_IF_ERROR(
      CheckPrecondition(object, wanted.uid, object.uid(), "UID", "deleted and then recreated"));
  RETURN_IF_ERROR(CheckPrecondition(object, wanted.resource_version, object.resource_version(),
                                    "ResourceVersion", "modified"));
  // As upstream, a negative period counts as one second.
  if (options.grace_period_seconds && *options.grace_period_seconds < 0) {
    options.grace_period_seconds = 1;
  }
  if (object.deleting()) return Shorten(object, options, clock);
  if (!strategy.CheckGracefulDelete(ctx, object, options)) return Grace{};
  if (!options.grace_period_seconds) {
    return meta::NewInternalError("options.GracePeriodSeconds should not be nil");
  }
  Grace grace;
  grace.graceful = true;
  grace.grace_period_seconds = *options.grace_period_seconds;
  grace.deletion_timestamp =
      TextOf(clock.WallNow() + std::chrono::seconds(grace.grace_period_seconds));
  // Deletion changes the spec as a controller sees it, so the generation grows, as in Go.
  grace.next_generation = object.generation() > 0;
  return grace;
}

}  // namespace apiserver::v0::rest
