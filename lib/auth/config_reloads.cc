#include "auth/config_reloads.h"

#include <chrono>
#include <vector>

#include "auth/config_hash.h"

namespace apiserver::v0::auth {

ConfigReloads::ConfigReloads(metrics::Registry* registry, const Clock& clock,
                             std::string_view subject, std::string_view server_id)
    : clock_(clock), server_(ConfigHash(server_id)) {
  if (registry == nullptr) return;
  const std::string of(subject);
  const std::string prefix = "apiserver_" + of + "_config_controller_";
  const std::vector<std::string> labels = {"status", "apiserver_id_hash"};
  reloads_ = &registry->Counters({.name = prefix + "automatic_reloads_total",
                                  .help = "[BETA] Total number of automatic reloads of " + of +
                                          " configuration split by status and apiserver identity.",
                                  .labels = labels});
  timestamps_ =
      &registry->Gauges({.name = prefix + "automatic_reload_last_timestamp_seconds",
                         .help = "[BETA] Timestamp of the last automatic reload of " + of +
                                 " configuration split by status and apiserver identity.",
                         .labels = labels});
  infos_ = &registry->Gauges({.name = prefix + "last_config_info",
                              .help = "[ALPHA] Information about the last applied " + of +
                                      " configuration with hash as label, split by apiserver "
                                      "identity.",
                              .labels = {"apiserver_id_hash", "hash"}});
}

void ConfigReloads::Reloaded(bool success) {
  if (reloads_ == nullptr) return;
  const char* const status = success ? "success" : "failure";
  reloads_->With({status, server_}).Add();
  const std::chrono::duration<double> now = clock_.WallNow().time_since_epoch();
  timestamps_->With({status, server_}).Set(now.count());
}

void ConfigReloads::InUse(std::string_view text) {
  if (infos_ == nullptr) return;
  if (!hash_.empty()) infos_->Remove({server_, hash_});
  hash_ = ConfigHash(text);
  infos_->With({server_, hash_}).Set(1);
}

}  // namespace apiserver::v0::auth
