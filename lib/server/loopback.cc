#include "server/loopback.h"

#include <utility>

namespace apiserver::v0::server {

namespace {

class Loopback final : public http::Connection {
 public:
  Loopback(std::unique_ptr<http::Connection> inner, std::string token)
      : inner_(std::move(inner)), authorization_("Bearer " + std::move(token)) {}

  Result<http::ClientResponse> Call(const Context& ctx,
                                    const http::ClientRequest& request) override {
    return inner_->Call(ctx, WithToken(request));
  }
  Result<std::unique_ptr<http::ClientStream>> Open(const http::ClientRequest& request) override {
    return inner_->Open(WithToken(request));
  }
  bool closed() const override { return inner_->closed(); }

 private:
  // A request that has a credential of its own keeps it.
  http::ClientRequest WithToken(http::ClientRequest request) const {
    if (!request.headers.Has("Authorization")) {
      request.headers.Add("Authorization", authorization_);
    }
    return request;
  }

  std::unique_ptr<http::Connection> inner_;
  std::string authorization_;
};

}  // namespace

std::unique_ptr<http::Connection> NewLoopbackConnection(std::unique_ptr<http::Connection> inner,
                                                        std::string token) {
  return std::make_unique<Loopback>(std::move(inner), std::move(token));
}

}  // namespace apiserver::v0::server
