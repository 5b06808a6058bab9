#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/policy/params.h"
#include "admission/policy/source.h"
#include "apiserver/client/informer.h"

namespace apiserver::inline v0::admission::policy {

// The parameters of one kind, followed by an informer. `client` and `log` must outlive it.
class InformedParams final : public ParamSource {
 public:
  InformedParams(client::Client& client, const KindMapping& mapping, LogSink& log);

  void Start() { informer_->Start(); }
  void Stop() { informer_->Stop(); }

  bool namespaced() const override { return namespaced_; }
  bool WaitForSync(std::chrono::milliseconds timeout) const override;
  runtime::ObjectPtr Get(std::string_view ns, std::string_view name) const override;
  std::vector<runtime::ObjectPtr> List(std::string_view ns,
                                       const meta::LabelSelector& selector) const override;

 private:
  const bool namespaced_;
  const std::unique_ptr<client::Informer> informer_;
};

}  // namespace apiserver::inline v0::admission::policy
