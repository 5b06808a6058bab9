#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/endpoints/api_group_version.h"
#include "apiserver/runtime/scheme.h"

namespace apiserver::inline v0::server {

// The part of a handler of the serving chain that its resources need. Outlives them; any thread.
class Owner {
 public:
  // `shared`: the parts that the resources of all handlers have in common; its admission is
  // ignored.
  Owner(std::string name, std::vector<std::shared_ptr<const admission::Plugin>> plugins,
        const endpoints::Environment& shared, metrics::Registry& metrics)
      : name_(std::move(name)),
        admission_(std::move(plugins), metrics, *shared.clock),
        environment_(shared) {
    environment_.admission = &admission_;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  const std::string& name() const { return name_; }
  runtime::Scheme& scheme() { return scheme_; }
  const runtime::Scheme& scheme() const { return scheme_; }
  const endpoints::Environment& environment() const { return environment_; }

 private:
  const std::string name_;
  runtime::Scheme scheme_;
  const admission::Chain admission_;
  endpoints::Environment environment_;
};

}  // namespace apiserver::inline v0::server
