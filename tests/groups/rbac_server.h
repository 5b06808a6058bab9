#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/http/dialer.h"
#include "apiserver/server/server.h"
#include "apiserver/storage/kv/engine.h"

// A server with the groups rbac.authorization.k8s.io and authorization.k8s.io, on which anybody can
// be anybody.
namespace rbac_server {

struct Options {
  bool bootstrap = true;
  // True: it serves namespaces, too.
  bool namespaces = false;
  // Where objects live; null: an engine of its own.
  apiserver::storage::kv::Engine* engine = nullptr;
  // Asked where RBAC allows nothing; null: nobody is.
  std::shared_ptr<const apiserver::auth::Authorizer> last = nullptr;
};

class RbacServer {
 public:
  // Ready when it returns.
  explicit RbacServer(Options options = {});
  ~RbacServer();
  RbacServer(const RbacServer&) = delete;
  RbacServer& operator=(const RbacServer&) = delete;

  struct Who {
    std::string name;
    std::vector<std::string> groups = {"system:authenticated"};
  };
  // Of system:masters.
  static Who Root() { return {"root", {"system:masters", "system:authenticated"}}; }

  apiserver::http::ClientResponse Call(const Who& who, std::string method, std::string target,
                                       std::string body = "",
                                       const std::string& content_type = "application/json",
                                       const std::string& accept = "application/json");
  // Waits until `who` may, or may not, do it: changes reach the authorizer a moment later. False:
  // it did not come so within seconds.
  bool Eventually(bool allowed, const Who& who, const std::string& method,
                  const std::string& target);
  // Waits until the body of GET `target` by `who` contains `text`.
  bool EventuallyContains(const std::string& target, const std::string& text,
                          const Who& who = Root());
  // What `kubectl get` asks for.
  std::string Table(const std::string& target);

  apiserver::server::GenericAPIServer& server() { return *server_; }
  apiserver::authz::rbac::RbacAuthorizer& rbac() { return *rbac_; }

 private:
  std::unique_ptr<apiserver::storage::kv::Engine> own_engine_;
  std::shared_ptr<apiserver::authz::rbac::RbacAuthorizer> rbac_;
  std::unique_ptr<apiserver::server::GenericAPIServer> server_;
  std::unique_ptr<apiserver::http::Connection> connection_;
};

// Paths of the group, and users.
inline const std::string kGroup = "/apis/rbac.authorization.k8s.io/v1";
inline const std::string kRoles = kGroup + "/namespaces/ns/roles";
inline const std::string kBindings = kGroup + "/namespaces/ns/rolebindings";
inline const std::string kClusterRoles = kGroup + "/clusterroles";
inline const std::string kClusterBindings = kGroup + "/clusterrolebindings";
inline const RbacServer::Who kRoot = RbacServer::Root();
inline const RbacServer::Who kJane{"jane"};

}  // namespace rbac_server
