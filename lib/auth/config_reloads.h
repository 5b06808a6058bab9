#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::auth {

// The metrics of a configuration file that is reloaded while a server runs:
// apiserver_<subject>_config_controller_*, of k8s.io/apiserver/pkg/server/options/
// {authentication,authorization}config/metrics. One thread at a time.
class ConfigReloads {
 public:
  // `subject`: "authentication" or "authorization". `registry` null: nothing is counted.
  ConfigReloads(metrics::Registry* registry, const Clock& clock, std::string_view subject,
                std::string_view server_id);

  // Counts a reload: the changed file is in use now, or could not be used.
  void Reloaded(bool success);
  // Shows `text` as the file in use.
  void InUse(std::string_view text);

 private:
  const Clock& clock_;
  const std::string server_;
  std::string hash_;  // The hash of the file in use.
  metrics::Family<metrics::Counter>* reloads_ = nullptr;
  metrics::Family<metrics::Gauge>* timestamps_ = nullptr;
  metrics::Family<metrics::Gauge>* infos_ = nullptr;
};

}  // namespace apiserver::inline v0::auth
