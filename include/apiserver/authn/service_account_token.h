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
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"

// Tokens of service accounts: k8s.io/kubernetes/pkg/serviceaccount.
namespace apiserver::inline v0::authn {

// The issuer of tokens without expiry, kept in Secrets of type kubernetes.io/service-account-token.
inline constexpr std::string_view kLegacyServiceAccountIssuer = "kubernetes/serviceaccount";

// Reads the objects that a token is bound to. Called from any thread; must not block where `ctx`
// may not, but return kWouldBlock. Errors as SecretGetter.
class ServiceAccountTokenGetter : public SecretGetter {
 public:
  // Returns the token's service account.
  virtual Result<StoredObject> GetServiceAccount(const Context& ctx, std::string_view namespace_,
                                                 std::string_view name) const = 0;
  // Returns the pod that the token is bound to.
  virtual Result<StoredObject> GetPod(const Context& ctx, std::string_view namespace_,
                                      std::string_view name) const = 0;
  // Returns the node that the token is bound to.
  virtual Result<StoredObject> GetNode(const Context& ctx, std::string_view name) const = 0;
};

// Options of NewServiceAccountTokens().
struct ServiceAccountTokenOptions {
  // Required. Public keys, certificates or private keys in PEM, RSA of 2048 bits and more or EC. A
  // new value takes effect at once. One that cannot be read changes nothing: check it first with
  // CheckServiceAccountKeys.
  std::shared_ptr<const Source<std::string>> keys = nullptr;
  // The issuers whose tokens are accepted. kLegacyServiceAccountIssuer may be among them; its
  // tokens have claims of their own.
  std::vector<std::string> issuers = {};
  // The audiences of tokens without any, and of requests that ask for none.
  std::vector<std::string> api_audiences = {};
  // Null: bound objects are not looked up, and a token is valid until it expires.
  std::shared_ptr<const ServiceAccountTokenGetter> getter = nullptr;
  const Clock* clock = &RealClock();
  // The key of a table of tokens whose signature was verified comes from here; used when the
  // authenticator is made.
  Random* random = &SecureRandom();
  // Counts the uses of tokens with a warnafter: serviceaccount_stale_tokens_total and
  // serviceaccount_valid_tokens_total. Null: they are not counted.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
};

// Authenticates tokens of service accounts. kInvalid: no issuer, or keys that cannot be read. Its
// results: nullopt: no token, or one of another issuer; kUnauthorized: a token of a known issuer
// that is not valid.
Result<std::unique_ptr<auth::TokenAuthenticator>> NewServiceAccountTokens(
    ServiceAccountTokenOptions options);

// Checks a value for ServiceAccountTokenOptions::keys. kInvalid: `pem` has no usable key, or one
// that is not usable.
Status CheckServiceAccountKeys(const std::string& pem);

// The contents of a new token. An empty name: it is not bound to such an object.
struct ServiceAccountTokenRequest {
  // An object of the token.
  struct Reference {
    std::string name = {};
    std::string uid = {};
  };
  std::string namespace_;
  Reference service_account;
  Reference pod = {};
  Reference secret = {};  // Not with a pod.
  Reference node = {};    // The pod's node, or one on its own.
  std::vector<std::string> audiences = {};
  std::chrono::seconds expires_after = std::chrono::hours(1);
  // The age from which uses of the token are audited and counted as those of a stale one. Zero:
  // never.
  std::chrono::seconds warn_after = std::chrono::seconds(0);
  // The claim `jti`, a UUID. Empty: the generator makes one.
  std::string id = {};
};

// Makes tokens. Methods may be called from any thread and do not block.
class ServiceAccountTokenGenerator {
 public:
  virtual ~ServiceAccountTokenGenerator() = default;
  // Returns a signed token. kInternalError: signing failed.
  virtual Result<std::string> GenerateToken(const ServiceAccountTokenRequest& request) const = 0;
};

// `private_key_pem`: RSA or EC. `random` provides the ids of tokens; it and `clock` outlive the
// generator. kInvalid: no such key.
Result<std::unique_ptr<ServiceAccountTokenGenerator>> NewServiceAccountTokenGenerator(
    std::string issuer, const std::string& private_key_pem, Random& random,
    const Clock& clock = RealClock());

}  // namespace apiserver::inline v0::authn
