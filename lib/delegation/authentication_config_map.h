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

// The contents of kube-system/extension-apiserver-authentication. Missing values are empty.
struct AuthenticationConfigMap {
  std::string client_ca;
  std::string request_header_ca;
  std::vector<std::string> allowed_names;
  authn::RequestHeaderNames names;
};
// Reads the map. kInvalid: the message names key and fault; no part of such a map may be used.
Result<AuthenticationConfigMap> ReadAuthenticationConfigMap(const runtime::Object& map);

// The latest state of the ConfigMap, followed live. As upstream, if an authority is removed from
// it, or the map is deleted or spoilt, the known values stay in use.
class AuthenticationConfigMapFollower {
 public:
  // `cluster` must outlive it.
  AuthenticationConfigMapFollower(client::Client& cluster, Random& random, LogSink& log);

  // Reads the map; called once, before Follow. OK if there is no such map yet. kForbidden: with the
  // remedy as YAML.
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
  std::unique_ptr<client::Informer> informer_;  // Last: it calls the others until it is destroyed.
};

}  // namespace apiserver::inline v0::delegation
