// Which plugins let a small write begin on an event loop.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "admission/policy/source.h"
#include "apiserver/admission/admission.h"
#include "apiserver/admission/policy.h"
#include "apiserver/admission/webhook.h"

namespace apiserver::inline v0::admission {

namespace {

// A plugin of a host.
class Named final : public Plugin {
 public:
  Named(Operation handles, bool runs_inline) : handles_(handles), inline_(runs_inline) {}
  std::string_view name() const override { return "Named"; }
  bool Handles(Operation operation) const override { return operation == handles_; }
  bool RunsInline(Operation, std::string_view) const override { return inline_; }

 private:
  const Operation handles_;
  const bool inline_;
};

// One that promises nothing.
class Plain final : public Plugin {
 public:
  std::string_view name() const override { return "Plain"; }
  bool Handles(Operation) const override { return true; }
};

std::shared_ptr<const Plugin> MutatingWebhooks(Webhooks webhooks) {
  WebhookAdmissionOptions options;
  options.webhooks = NewStaticWebhooks(std::move(webhooks));
  return NewMutatingWebhookAdmission(std::move(options));
}

std::shared_ptr<const Plugin> ValidatingWebhooks(Webhooks webhooks) {
  WebhookAdmissionOptions options;
  options.webhooks = NewStaticWebhooks(std::move(webhooks));
  return NewValidatingWebhookAdmission(std::move(options));
}

}  // namespace

TEST_CASE("admission: a chain runs inline if every plugin that is asked does", "[admission]") {
  CHECK(Chain().RunsInline(Operation::kCreate, "default"));
  const Chain chain({std::make_shared<Named>(Operation::kCreate, true),
                     std::make_shared<Named>(Operation::kUpdate, false)});
  CHECK(chain.RunsInline(Operation::kCreate, "default"));
  CHECK_FALSE(chain.RunsInline(Operation::kUpdate, "default"));
  CHECK(chain.RunsInline(Operation::kDelete, "default"));
  CHECK_FALSE(Chain({std::make_shared<Plain>()}).RunsInline(Operation::kCreate, ""));
}

TEST_CASE("admission: webhooks and policies run inline while there are none", "[admission]") {
  CHECK(MutatingWebhooks({})->RunsInline(Operation::kCreate, "default"));
  CHECK(ValidatingWebhooks({})->RunsInline(Operation::kCreate, "default"));
  CHECK_FALSE(MutatingWebhooks({Webhook()})->RunsInline(Operation::kCreate, "default"));
  CHECK_FALSE(ValidatingWebhooks({Webhook()})->RunsInline(Operation::kCreate, "default"));

  const auto none = NewValidatingPolicyAdmission({.policies = policy::NewStaticPolicies({})});
  CHECK(none->RunsInline(Operation::kCreate, "default"));
}

}  // namespace apiserver::inline v0::admission
