#include <memory>
#include <string>
#include <utility>

#include "apiserver/options/authentication.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

class Delegation final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override { options_.AddFlags(flags); }

  std::string Problem(const Options& options) const override {
    const std::vector<std::string> problems = options_.Validate(options.standalone);
    return problems.empty() ? "" : problems.front();
  }

  apiserver::Status Configure(const Environment& environment,
                              apiserver::server::Config& config) override {
    options_.values.client_ca_file = environment.options.client_ca_file;
    auto executor = options_.ApplyTo(config, environment.around);
    if (!executor.ok()) return executor.status();
    executor_ = *std::move(executor);
    return {};
  }

 private:
  // The rest waits there.
  std::unique_ptr<apiserver::ThreadPool> executor_;
  apiserver::options::DelegatingAuthenticationOptions options_;
};

}  // namespace

std::unique_ptr<Part> NewDelegation() { return std::make_unique<Delegation>(); }

}  // namespace sample
