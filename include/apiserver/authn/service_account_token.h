#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/secret.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/random.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"

// Tokens of service accounts: k8s.io/kubernetes/pkg/serviceaccount.
namespace apiserver::inline v0::authn {

// The issuer of tokens that do not end, kept in Secrets of type
// kubernetes.io/service-account-token.
inline constexpr std::string_view kLegacyServiceAccountIssuer = "kubernetes/serviceaccount";

// Whether what a token is bound to still exists. Any thread; errors as SecretGetter.
class ServiceAccountTokenGetter : public SecretGetter {
 public:
  virtual Result<StoredObject> GetServiceAccount(const Context& ctx, std::string_view namespace_,
                                                 std::string_view name) const = 0;
  virtual Result<StoredObject> GetPod(const Context& ctx, std::string_view namespace_,
                                      std::string_view name) const = 0;
  virtual Result<StoredObject> GetNode(const Context& ctx, std::string_view name) const = 0;
};

struct ServiceAccountTokenOptions {
  // Required. Public keys, certificates or private keys in PEM, RSA of 2048 bits and more or EC;
  // those of a new value count at once. One that cannot be read changes nothing: whoever sets it
  // checks first (CheckServiceAccountKeys).
  std::shared_ptr<const Source<std::string>> keys = nullptr;
  // Whose tokens are ours. kLegacyServiceAccountIssuer may be among them; its tokens have claims of
  // their own.
  std::vector<std::string> issuers = {};
  // For whom tokens without audiences are, and requests that do not say.
  std::vector<std::string> api_audiences = {};
  // Null: not looked up; a token is good until it ends.
  std::shared_ptr<const ServiceAccountTokenGetter> getter = nullptr;
  const Clock* clock = &RealClock();
};

// nullopt: no token, or another issuer's. kUnauthorized: one of ours that is not good. kInvalid: no
// issuer, or keys that cannot be read.
Result<std::unique_ptr<auth::TokenAuthenticator>> NewServiceAccountTokens(
    ServiceAccountTokenOptions options);

// kInvalid: `pem` holds no key that can be used, or one that cannot.
Status CheckServiceAccountKeys(const std::string& pem);

// What a token will say. Empty names: not bound to such an object.
struct ServiceAccountTokenRequest {
  struct Reference {
    std::string name = {};
    std::string uid = {};
  };
  std::string namespace_;
  Reference service_account;
  Reference pod = {};
  Reference secret = {};  // Not with a pod.
  Reference node = {};    // Of the pod, or alone.
  std::vector<std::string> audiences = {};
  std::chrono::seconds expires_after = std::chrono::hours(1);
};

// Makes tokens. Any thread.
class ServiceAccountTokenGenerator {
 public:
  virtual ~ServiceAccountTokenGenerator() = default;
  // kInternalError: it could not be signed.
  virtual Result<std::string> GenerateToken(const ServiceAccountTokenRequest& request) const = 0;
};

// `private_key_pem`: RSA or EC. `random` names tokens, and outlives the generator, as `clock` does.
// kInvalid: no such key.
Result<std::unique_ptr<ServiceAccountTokenGenerator>> NewServiceAccountTokenGenerator(
    std::string issuer, const std::string& private_key_pem, Random& random,
    const Clock& clock = RealClock());

}  // namespace apiserver::inline v0::authn
