#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/options/environment.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"
#include "common/cli_flags.h"

namespace sample {

struct Options;

// What parts are given.
struct Environment {
  const Options& options;
  apiserver::LogSink& log;
  apiserver::options::Environment around;
};

// A topic of the command line and what it does to the server: a class in a file of its own in
// parts/. Outlives the server, so it may own what the server's config points to.
class Part {
 public:
  virtual ~Part() = default;
  virtual void AddFlags(examples::CliFlags& flags) = 0;
  // One line that says what is wrong with the flags, and what to do; empty: nothing. The app
  // behind AddFlags() lives still.
  virtual std::string Problem(const Options& /*options*/) const { return ""; }
  // Before the server is made.
  virtual apiserver::Status Configure(const Environment& /*environment*/,
                                      apiserver::server::Config& /*config*/) {
    return {};
  }
  // Once it is made, and before its resources are installed.
  virtual apiserver::Status Install(const Environment& /*environment*/,
                                    apiserver::server::GenericAPIServer& /*server*/,
                                    const apiserver::registry::StorageConfig& /*storage*/) {
    return {};
  }
};
using Parts = std::vector<std::unique_ptr<Part>>;

// Every part, in the order in which they are configured and installed. Needs no change in Serve().
Parts AllParts();

}  // namespace sample
