#pragma once
#include <memory>

#include "apiserver/base/status_macros.h"
#include "apiserver/client/shared_informer.h"
#include "apiserver/controller/controller.h"
#include "apiserver/controller/handlers.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example.

// A controller: makes every cat content, whatever happens to it.
class Moods {
 public:
  // `client`, and `metrics` if it is not null, outlive it.
  explicit Moods(client::Client& client, metrics::Registry* metrics = nullptr)
      : client_(client),
        pets_(client::NewSharedInformer(client, {.informer = {.target = kPets}})),
        controller_(controller::NewController(
            {.name = "moods",
             .reconcile = [this](const auto& ctx, const auto& key) { return Reconcile(ctx, key); },
             .workers = 2,
             .metrics = metrics})),
        handler_(pets_->AddHandler(controller::EnqueueObject(controller_->queue()))) {}

  void Start() {
    pets_->Start();
    controller_->Start({pets_.get()});
  }

 private:
  inline static const client::Target kPets{.resource = {"zoo.example.com", "v1", "pets"}};

  // Called for a pet that has changed, and again, later each time, after an error.
  Result<controller::ReconcileResult> Reconcile(const Context& ctx,
                                                const controller::NamespacedName& key) {
    const auto pet = pets_->Get(key.namespace_, key.name);
    const bool cat = pet && (*pet)["spec"]["species"].AsString() == "cat";
    if (cat && (*pet)["status"]["mood"].AsString() != "content") {
      const auto changed = pet->Clone();
      changed->Edit("status", "mood") = "content";
      const client::Target status{kPets.resource, key.namespace_, key.name, "status"};
      APISERVER_RETURN_IF_ERROR(client_.Update(ctx, status, *changed).status());
    }
    return controller::ReconcileResult{};
  }

  client::Client& client_;
  // Ended in the reverse order: the handler first, then the workers, then the informer they read.
  const std::unique_ptr<client::SharedInformer> pets_;
  const std::unique_ptr<controller::Controller> controller_;
  const std::unique_ptr<client::HandlerRegistration> handler_;
};
