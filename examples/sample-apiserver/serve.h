#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"
#include "options.h"

namespace sample {

// What a program serves with this command line.
struct Program {
  std::string name;
  std::string openapi_title;
  std::vector<std::shared_ptr<const apiserver::admission::Plugin>> admission = {};
  // Adds the kinds and their resources, which are to be stored as the config says.
  std::function<apiserver::Status(apiserver::server::GenericAPIServer& server,
                                  const apiserver::registry::StorageConfig& storage)>
      install;
};

// Opens the storage, serves until a signal comes, and prints what went wrong; main's exit code.
int Serve(Parsed parsed, const Program& program);

}  // namespace sample
