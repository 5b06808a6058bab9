#include "apiserver/options/admission.h"

#include <utility>

#include "apiserver/groups/admissionregistration.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;

class Admission final : public Part {
 public:
  Admission() { options_.own_plugins = {"BanFlunder"}; }

  void AddFlags(examples::CliFlags& flags) override { options_.AddFlags(flags); }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    auto made = options_.ApplyTo(config, environment.around);
    if (!made.ok()) return made.status();
    made_ = *std::move(made);
    return {};
  }

  // Webhooks are told by objects of the server's own.
  Status Install(const Environment& /*environment*/, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    return apiserver::groups::admissionregistration::Install(
        server, {.storage = storage, .mutating = made_.mutating, .validating = made_.validating});
  }

 private:
  apiserver::options::AdmissionOptions options_;
  apiserver::options::Admission made_;
};

}  // namespace

std::unique_ptr<Part> NewAdmission() { return std::make_unique<Admission>(); }

}  // namespace sample
