#pragma once

#include <memory>
#include <string>
#include <utility>

#include "apiserver/server/server.h"
#include "server/installer.h"
#include "server/owner.h"

namespace apiserver::inline v0::server {

// A handler of the serving chain beside the server itself: it has resources of its own; paths,
// checks and hooks go to the server.
class AddedHandler final : public Handler {
 public:
  // All arguments must outlive this.
  AddedHandler(GenericAPIServer& server, Installer& installer, std::unique_ptr<Owner> owner)
      : server_(server), installer_(installer), owner_(std::move(owner)) {}

  const Owner& owner() const { return *owner_; }

  runtime::Scheme& scheme() override { return owner_->scheme(); }
  Status InstallAPIGroup(APIGroupInfo group) override {
    return installer_.InstallGroup(*owner_, group, /*replace=*/false);
  }
  Status ReplaceAPIGroup(APIGroupInfo group) override {
    return installer_.InstallGroup(*owner_, group, /*replace=*/true);
  }
  Status InstallAPIResource(APIResourceInfo resource) override {
    return installer_.InstallResource(*owner_, resource, /*replace=*/false);
  }
  Status ReplaceAPIResource(APIResourceInfo resource) override {
    return installer_.InstallResource(*owner_, resource, /*replace=*/true);
  }
  Status RemoveAPIResource(const runtime::GroupVersionResource& resource) override {
    return installer_.RemoveResource(*owner_, resource);
  }
  Result<std::shared_ptr<Route>> NewRoute(APIResourceInfo resource) override {
    return installer_.NewRoute(*owner_, resource);
  }
  Status HandlePath(std::string path, http::Handler handler, bool listed) override {
    return server_.HandlePath(std::move(path), std::move(handler), listed);
  }
  Status HandlePathWithoutBody(std::string path, http::Handler handler, bool listed) override {
    return server_.HandlePathWithoutBody(std::move(path), std::move(handler), listed);
  }
  Status AddHealthCheck(HealthCheck check) override {
    return server_.AddHealthCheck(std::move(check));
  }
  Status AddPostStartHook(std::string name, Hook hook) override {
    return server_.AddPostStartHook(std::move(name), std::move(hook));
  }
  Status AddPreShutdownHook(std::string name, Hook hook) override {
    return server_.AddPreShutdownHook(std::move(name), std::move(hook));
  }

 private:
  GenericAPIServer& server_;
  Installer& installer_;
  const std::unique_ptr<Owner> owner_;
};

}  // namespace apiserver::inline v0::server
