#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authn/secret.h"
#include "apiserver/authn/service_account_token.h"
#include "apiserver/base/sync.h"
#include "apiserver/registry/store.h"

namespace apiserver::inline v0::groups {

// The objects that a server's own tokens are checked against, read from its own storage: an
// authenticator is made with this before there is a server, and the stores are set later.
//
// An object in the storage's memory is found at once. Service accounts and the objects that their
// tokens are bound to are read once more, consistently, if they are not there, so that a token is
// valid as soon as its objects exist; that may have to ask etcd, and then the request waits without
// a thread (auth/look_up.h). Any thread may call its methods.
class TokenObjects final : public authn::ServiceAccountTokenGetter {
 public:
  // The stores, which are not kept alive. Null: there are no such objects, so tokens bound to one
  // are refused.
  struct Stores {
    std::shared_ptr<registry::Store> secrets = nullptr;
    std::shared_ptr<registry::Store> service_accounts = nullptr;
    std::shared_ptr<registry::Store> pods = nullptr;
    std::shared_ptr<registry::Store> nodes = nullptr;
  };
  // Sets the stores; until then every lookup fails.
  void SetStores(const Stores& stores);
  // Takes the stores of secrets, serviceaccounts, pods and nodes among `stores`, and keeps those
  // that it has of the others. For hosts that serve more of the legacy group than
  // groups::core::Install: tokens bound to pods and nodes need their stores.
  void Use(const std::vector<std::shared_ptr<registry::Store>>& stores);
  // Returns the stores. Null: it is not set, or its server is gone.
  Stores stores() const;

  // Return the object. kServiceUnavailable: the stores are not set yet, or gone.
  Result<authn::StoredSecret> GetSecret(const Context& ctx, std::string_view namespace_,
                                        std::string_view name) const override;
  Result<authn::StoredObject> GetServiceAccount(const Context& ctx, std::string_view namespace_,
                                                std::string_view name) const override;
  Result<authn::StoredObject> GetPod(const Context& ctx, std::string_view namespace_,
                                     std::string_view name) const override;
  Result<authn::StoredObject> GetNode(const Context& ctx, std::string_view name) const override;

  // Returns the secrets for authn::NewBootstrapTokens: only those in memory, as upstream, so that
  // guessed names do not become requests to etcd. May outlive this object.
  std::shared_ptr<const authn::SecretGetter> BootstrapSecrets() const;

  struct Known;  // Private to the source.
  TokenObjects();
  ~TokenObjects() override;

 private:
  const std::shared_ptr<Known> known_;
};

}  // namespace apiserver::inline v0::groups
