#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/authn/secret.h"
#include "apiserver/authn/service_account_token.h"
#include "apiserver/base/sync.h"
#include "apiserver/registry/store.h"

namespace apiserver::inline v0::groups {

// What a server's own tokens are checked against, read from its own storage: an authenticator is
// made with it before there is a server, and it is told later where the objects are.
//
// An object that the storage's memory has answers at once. Service accounts and what their tokens
// are bound to are asked for once more, consistently, if they are not there, so that a token is
// good as soon as its objects are; that may have to ask etcd, and then the request waits without a
// thread (auth/look_up.h). Any thread.
class TokenObjects final : public authn::ServiceAccountTokenGetter {
 public:
  // They are not kept alive. Null: there are no such objects, so tokens bound to one are refused.
  struct Stores {
    std::shared_ptr<registry::Store> secrets = nullptr;
    std::shared_ptr<registry::Store> service_accounts = nullptr;
    std::shared_ptr<registry::Store> pods = nullptr;
    std::shared_ptr<registry::Store> nodes = nullptr;
  };
  void SetStores(const Stores& stores);

  // kServiceUnavailable: the stores are not known yet, or gone.
  Result<authn::StoredSecret> GetSecret(const Context& ctx, std::string_view namespace_,
                                        std::string_view name) const override;
  Result<authn::StoredObject> GetServiceAccount(const Context& ctx, std::string_view namespace_,
                                                std::string_view name) const override;
  Result<authn::StoredObject> GetPod(const Context& ctx, std::string_view namespace_,
                                     std::string_view name) const override;
  Result<authn::StoredObject> GetNode(const Context& ctx, std::string_view name) const override;

  // Secrets for authn::NewBootstrapTokens: only what memory has, as upstream, so that nobody's
  // guesses at names become questions to etcd. May outlive this object.
  std::shared_ptr<const authn::SecretGetter> BootstrapSecrets() const;

  struct Known;  // Private to the source.
  TokenObjects();
  ~TokenObjects() override;

 private:
  const std::shared_ptr<Known> known_;
};

}  // namespace apiserver::inline v0::groups
