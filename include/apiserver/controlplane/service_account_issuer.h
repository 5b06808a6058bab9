#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/controlplane/token_request.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/options/built_in_authentication.h"
#include "apiserver/options/flag_set.h"

// The issuer of service accounts' tokens, as kube-apiserver's flags describe it:
// k8s.io/kubernetes/pkg/controlplane/apiserver/options, completeServiceAccountOptions.
namespace apiserver::inline v0::controlplane {

// The issuer of a server that is given none: the one that kubeadm gives to a cluster.
inline constexpr char kDefaultIssuer[] = "https://kubernetes.default.svc.cluster.local";

// The flags beside those of options::BuiltInAuthenticationOptions.
struct ServiceAccountIssuerOptions {
  // --service-account-signing-key-file: PEM of an RSA or EC private key. Its public half must be
  // in --service-account-key-file, too.
  std::string signing_key_file = {};
  // --service-account-max-token-expiration: an hour to 2^32 seconds. Zero: there is no limit.
  std::chrono::milliseconds max_token_expiration = std::chrono::milliseconds(0);
  // --service-account-extend-token-expiration; see TokenRequestOptions::extend_expiration.
  bool extend_token_expiration = true;

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(options::FlagSet& flags);
  // Returns a line for each mistake, in upstream's words. Call it after Complete().
  std::vector<std::string> Validate(const options::BuiltInAuthenticationOptions& accounts) const;

  // The parts that Complete() and NewTokenRequestOptions() use.
  struct Environment {
    // The folder for a key of the server's own, "service-account.key". It exists.
    std::string folder = {};
    FileSystem* files = &RealFileSystem();
    const Clock* clock = &RealClock();  // Must outlive the tokens' storage.
    Random* random = &SecureRandom();   // Must outlive the tokens' storage.
  };
  // Fills in kDefaultIssuer and an EC key, which is made at the first start, if no flag asks for
  // tokens of service accounts. Upstream has no such defaults. May block.
  Status Complete(const Environment& environment, options::BuiltInAuthenticationOptions& accounts);
  // Reads the key. kInvalid: it cannot be used; the message begins as upstream's. May block.
  // `objects`: as of TokenRequestOptions.
  Result<TokenRequestOptions> NewTokenRequestOptions(
      const Environment& environment, const options::BuiltInAuthenticationOptions& accounts,
      std::shared_ptr<const groups::TokenObjects> objects) const;
};

}  // namespace apiserver::inline v0::controlplane
