#pragma once

#include <memory>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/base/sync.h"
#include "apiserver/rest/storage.h"

namespace wardle {

// Refuses to create a Flunder whose name a Fischer disallows.
class BanFlunder final : public apiserver::admission::Plugin {
 public:
  // Where the Fischers are; before it is called every Flunder is refused as not ready.
  void SetFischers(std::shared_ptr<apiserver::rest::Lister> fischers);

  std::string_view name() const override { return "BanFlunder"; }
  bool Handles(apiserver::admission::Operation operation) const override {
    return operation == apiserver::admission::Operation::kCreate;
  }
  // It reads the Fischers from memory.
  bool RunsInline(apiserver::admission::Operation, std::string_view) const override { return true; }
  apiserver::Status Admit(const apiserver::Context& ctx,
                          apiserver::admission::Attributes& attributes) const override;

 private:
  apiserver::Guarded<std::shared_ptr<apiserver::rest::Lister>> fischers_;
};

}  // namespace wardle
