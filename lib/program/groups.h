#pragma once

#include <memory>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/options/recommended.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::program {

// The parts from which the API groups of the options are made. All must outlive the server.
struct GroupParts {
  const options::RecommendedOptions& recommended;
  const options::Recommended& made;  // By recommended.ApplyTo().
  const std::shared_ptr<groups::TokenObjects>& tokens;
  bool serve_token_objects = true;  // False: the program serves the objects of tokens itself.
  LogSink& log;
};

// Installs the resources with which users look at and change what the options set up: reviews,
// roles, webhooks, flow control, and the objects that tokens are checked against.
Status InstallGroups(const GroupParts& parts, server::GenericAPIServer& server,
                     const registry::StorageConfig& storage);

}  // namespace apiserver::inline v0::program
