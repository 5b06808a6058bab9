#include "apiserver/options/tracing.h"

#include "parts/parts.h"

namespace sample {

namespace {

class Tracing final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override { tracing_.AddFlags(flags); }

  apiserver::Status Configure(const Environment& environment,
                              apiserver::server::Config& config) override {
    return tracing_.ApplyTo(config, environment.log);
  }

 private:
  apiserver::options::TracingOptions tracing_;
};

}  // namespace

std::unique_ptr<Part> NewTracing() { return std::make_unique<Tracing>(); }

}  // namespace sample
