#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authn/request_header.h"
#include "apiserver/base/context.h"
#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::delegation {

// What kube-system/extension-apiserver-authentication says. What is missing is empty.
struct AuthenticationConfigMap {
  std::string client_ca;
  std::string request_header_ca;
  std::vector<std::string> allowed_names;
  authn::RequestHeaderNames names;
};
// kInvalid: names key and fault; nothing of such a map is to be used.
Result<AuthenticationConfigMap> ReadAuthenticationConfigMap(const runtime::Object& map);

// The ConfigMap's latest state, followed live. As upstream, an authority that is removed from it,
// or a map that is deleted or spoilt, leaves what was known before in use.
class AuthenticationConfigMapFollower {
 public:
  // `cluster` outlives it.
  AuthenticationConfigMapFollower(client::Client& cluster, Random& random, LogSink& log);

  // Once, before Follow. OK where there is no such map yet. kForbidden: with the remedy as YAML.
  Status ReadNow(const Context& ctx);
  void Follow();

  const std::shared_ptr<Variable<std::string>>& client_ca() const { return client_ca_; }
  const std::shared_ptr<Variable<std::string>>& request_header_ca() const {
    return request_header_ca_;
  }
  const std::shared_ptr<Variable<std::vector<std::string>>>& allowed_names() const {
    return allowed_names_;
  }
  const std::shared_ptr<Variable<authn::RequestHeaderNames>>& names() const { return names_; }

 private:
  Status Use(const runtime::Object& map);
  void UseOrLog(const runtime::ObjectPtr& map);

  client::Client& cluster_;
  Random& random_;
  LogSink& log_;
  const std::shared_ptr<Variable<std::string>> client_ca_;
  const std::shared_ptr<Variable<std::string>> request_header_ca_;
  const std::shared_ptr<Variable<std::vector<std::string>>> allowed_names_;
  const std::shared_ptr<Variable<authn::RequestHeaderNames>> names_;
  std::unique_ptr<client::Informer> informer_;  // Last: tells the others until it is gone.
};

}  // namespace apiserver::inline v0::delegation
