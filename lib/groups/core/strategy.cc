#include "groups/core/strategy.h"

#include <string>
#include <string_view>
#include <vector>

#include "groups/core/validation.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Value;
using Warnings = std::vector<std::string>;

constexpr const char* kEnforceMountableSecrets = "kubernetes.io/enforce-mountable-secrets";

// Follows pkg/registry/core/secret/strategy.go.
class SecretStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForUpdate(const Context& /*ctx*/, runtime::Object& object,
                        const runtime::Object& old) const override {
    // The type is immutable, so that an update may leave it out.
    if (object["type"].size() == 0) object.Edit("type") = old["type"];
  }
  field::ErrorList Validate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return ValidateSecret(object);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const runtime::Object& object,
                                  const runtime::Object& old) const override {
    return ValidateSecretUpdate(object, old);
  }
};

// Keeps only the name of each reference to a Secret.
void CleanSecretReferences(runtime::Object& account) {
  const Value secrets = account["secrets"];
  if (secrets.size() == 0) return;
  runtime::ListBuilder clean(account.arena());
  for (const Value& secret : secrets.items()) {
    runtime::MapBuilder reference(account.arena());
    if (secret["name"].size() > 0) reference.Add("name", secret["name"]);
    clean.Add(reference.Build());
  }
  account.SetPath({"secrets"}, clean.Build());
}

// Warns only of a new annotation, so that an update of something else does not.
Warnings WarningsOfServiceAccount(const runtime::Object& now, const runtime::Object* before) {
  if (now.annotations()[kEnforceMountableSecrets].is_null()) return {};
  if (before != nullptr && !before->annotations()[kEnforceMountableSecrets].is_null()) return {};
  return {"metadata.annotations[" + std::string(kEnforceMountableSecrets) +
          "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted "
          "secrets"};
}

// Follows pkg/registry/core/serviceaccount/strategy.go.
class ServiceAccountStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForCreate(const Context& /*ctx*/, runtime::Object& object) const override {
    CleanSecretReferences(object);
  }
  void PrepareForUpdate(const Context& /*ctx*/, runtime::Object& object,
                        const runtime::Object& /*old*/) const override {
    CleanSecretReferences(object);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return ValidateServiceAccount(object);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const runtime::Object& object,
                                  const runtime::Object& old) const override {
    return ValidateServiceAccountUpdate(object, old);
  }
  Warnings WarningsOnCreate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return WarningsOfServiceAccount(object, nullptr);
  }
  Warnings WarningsOnUpdate(const Context& /*ctx*/, const runtime::Object& object,
                            const runtime::Object& old) const override {
    return WarningsOfServiceAccount(object, &old);
  }
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewSecretStrategy() {
  return std::make_shared<SecretStrategy>();
}

std::shared_ptr<const rest::Strategy> NewServiceAccountStrategy() {
  return std::make_shared<ServiceAccountStrategy>();
}

}  // namespace apiserver::v0::groups::core
