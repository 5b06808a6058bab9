#include "apiserver/controlplane/legacy_token_tracking.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/client/client.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "controlplane/control/hooks.h"
#include "controlplane/control/objects.h"

namespace apiserver::v0::controlplane {
namespace {

constexpr char kTrackingNamespace[] = "kube-system";
constexpr char kSince[] = "since";
constexpr std::size_t kDateBytes = 10;  // "2006-01-02".

client::Target ConfigMaps(std::string name = "") {
  return {.resource = {"", "v1", "configmaps"},
          .namespace_ = kTrackingNamespace,
          .name = std::move(name)};
}

// Used by one step at a time.
class Tracking {
 public:
  explicit Tracking(LegacyTokenTrackingOptions options) : options_(options) {}

  std::chrono::milliseconds Step(const Context& ctx, client::Client& api) {
    const Status synced = Sync(ctx, api);
    if (synced.ok() || ctx.done()) return options_.period;
    Log(*options_.log, LogLevel::kError, "Error while syncing ConfigMap",
        {{"configmap", std::string(kTrackingNamespace) + "/" + kLegacyTokenTracking},
         {"err", std::string(synced.message())}});
    return options_.pause_after_failure;
  }

 private:
  std::string Today() const {
    return runtime::FormatTime(runtime::UnixTime::From(options_.clock->WallNow()))
        .substr(0, kDateBytes);
  }
  static bool IsDate(std::string_view text) {
    return text.size() == kDateBytes && runtime::ParseTime(std::string(text) + "T00:00:00Z").ok();
  }

  Status Sync(const Context& ctx, client::Client& api) {
    const auto found = api.Get(ctx, ConfigMaps(kLegacyTokenTracking));
    if (found.status().reason() == Reason::kNotFound) return Create(ctx, api);
    RETURN_IF_ERROR(found.status());
    runtime::Object& map = **found;
    if (IsDate(map["data"][kSince].AsString())) return {};
    map.Edit("data", kSince) = Today();
    Status updated = api.Update(ctx, ConfigMaps(kLegacyTokenTracking), map).status();
    // Another server was first; the next step looks again.
    const bool lost =
        updated.reason() == Reason::kNotFound || updated.reason() == Reason::kConflict;
    return lost ? Status() : updated;
  }

  Status Create(const Context& ctx, client::Client& api) {
    const Clock::Monotonic now = options_.clock->Now();
    if (created_ && now < *created_ + options_.creation_period) return {};
    const auto map = NewObject({"", "v1", "ConfigMap"}, kTrackingNamespace, kLegacyTokenTracking);
    map->Edit("data", kSince) = Today();
    Status made = api.Create(ctx, ConfigMaps(), *map).status();
    if (!made.ok() && made.reason() != Reason::kAlreadyExists) return made;
    created_ = now;
    return {};
  }

  const LegacyTokenTrackingOptions options_;
  std::optional<Clock::Monotonic> created_;
};

}  // namespace

Status AddLegacyTokenTracking(server::GenericAPIServer& server,
                              LegacyTokenTrackingOptions options) {
  const auto tracking = std::make_shared<Tracking>(options);
  return AddController(server, {.start_hook = "start-legacy-token-tracking-controller",
                                .stop_hook = "stop-legacy-token-tracking-controller",
                                .step = [tracking](const Context& ctx, client::Client& api) {
                                  return tracking->Step(ctx, api);
                                }});
}

}  // namespace apiserver::v0::controlplane
