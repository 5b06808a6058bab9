#include <utility>

#include "apiserver/server/server.h"
#include "base/status_macros.h"
#include "server/generic_api_server.h"
#include "server/operations.h"
#include "server/requests/flow_control.h"

namespace apiserver::v0::server {

// Follows Config.Complete: fills in what depends on other fields, and refuses what would fail
// later.
Result<CompletedConfig> Config::Complete() && {
  if (!authenticator) {
    return Status(Reason::kInvalid,
                  "server config: authenticator is required; without one nobody could be told "
                  "from anybody");
  }
  if (!clock || !random || !log) {
    return Status(Reason::kInvalid, "server config: clock, random and log must not be null");
  }
  RETURN_IF_ERROR(CheckOperations(*this));
  RETURN_IF_ERROR(CheckFlowControl(flow_control));
  if (serving && !serving->tls && !certificates.empty()) {
    ASSIGN_OR_RETURN(serving->tls, certificates.Load(tls));
  }
  if (serving && !serving->tls) {
    return Status(Reason::kInvalid,
                  "server config: serving.tls is required; credentials do not travel in the open");
  }
  if (serving && serving->log == &NullLogSink()) serving->log = log;
  if (pool_threads == 0) pool_threads = 1;
  return CompletedConfig{std::move(*this)};
}

Result<std::unique_ptr<GenericAPIServer>> CompletedConfig::New() && {
  return std::make_unique<Server>(std::move(config));
}

}  // namespace apiserver::v0::server
