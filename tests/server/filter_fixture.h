#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/http/in_process.h"
#include "server/filters/filters.h"

// One filter, or a few, before a handler that counts.
namespace apiserver::inline v0::testing {

class FilterFixture {
 public:
  explicit FilterFixture(std::vector<server::FilterPtr> filters)
      : pool_(NewThreadPool({.name = "test", .threads = 1})) {
    for (auto& filter : filters) service_.filters.push_back(std::move(filter));
    service_.handler = [this](http::Exchange& exchange) {
      ++handled_;
      if (handler) return handler(exchange);
      exchange.writer().Send({}, "handled");
      return http::Step::Done();
    };
    service_.write_error = [](http::Exchange& exchange, const Status& status) {
      http::ResponseHead head{.code = status.code(), .headers = {}};
      if (status.details() && status.details()->retry_after_seconds > 0) {
        head.headers.Add("Retry-After", std::to_string(status.details()->retry_after_seconds));
      }
      exchange.writer().Send(std::move(head), std::string(status.message()));
    };
    service_.pool = pool_.get();
    connection_ = http::NewInProcessConnection(service_);
  }

  http::ClientResponse Call(std::string method, std::string target, http::Headers headers = {}) {
    return connection_
        ->Call(Context::Background(), {.method = std::move(method),
                                       .target = std::move(target),
                                       .headers = std::move(headers)})
        .value();
  }
  http::Connection& connection() { return *connection_; }
  const http::Service& service() const { return service_; }
  int handled() const { return handled_; }

  std::function<http::Step(http::Exchange&)> handler;

 private:
  std::unique_ptr<ThreadPool> pool_;
  http::Service service_;
  std::unique_ptr<http::Connection> connection_;
  std::atomic<int> handled_{0};
};

// Takes everyone for the same user.
class Anybody final : public auth::Authenticator {
 public:
  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context&, const http::Request&) const override {
    return auth::AuthenticateResponse{
        std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "somebody"})};
  }
};

// For filters that cannot be copied into a list.
template <class... Filters>
std::vector<server::FilterPtr> ChainOf(Filters... filters) {
  std::vector<server::FilterPtr> chain;
  (chain.push_back(std::move(filters)), ...);
  return chain;
}

}  // namespace apiserver::inline v0::testing
