#pragma once

#include <memory>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/options/recommended.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace sample {

// The parts from which the groups that go with the options are made.
struct GroupsOf {
  const apiserver::options::RecommendedOptions& options;
  const apiserver::options::Recommended& made;
  const std::shared_ptr<apiserver::groups::TokenObjects>& tokens;
  apiserver::LogSink& log;
};

// Installs the resources by which users look at and change what the options set up: reviews, roles,
// webhooks, flow control, and what tokens are checked against.
apiserver::Status InstallGroups(const GroupsOf& of, apiserver::server::GenericAPIServer& server,
                                const apiserver::registry::StorageConfig& storage);

}  // namespace sample
