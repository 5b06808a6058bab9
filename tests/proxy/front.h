#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/proxy/upgrade_aware_handler.h"
#include "http/support.h"

// Helpers of the tests of proxy: a server that forwards everything, and backends that remember.
namespace proxy_test {

using namespace apiserver;  // NOLINT: tests only.
using http_test::Journal;
using http_test::RawClient;
using http_test::RawServer;
using http_test::Soon;
using http_test::TestServer;
using http_test::TestService;
using Wire = http_test::Wire;

// A server that forwards each request by `rules`, whose pool and responder may be left out: errors
// are answered with their code and, as text, with reason and message.
class Front {
 public:
  explicit Front(proxy::UpgradeAwareHandler rules, Wire wire = Wire::kHttp1,
                 proxy::UpstreamPoolOptions pool = {})
      : dialer_(http::NewDialer()), service_([this](http::Exchange& exchange) {
          ++begun_;
          return rules_.ServeHTTP(exchange);
        }) {
    pool.dialer = dialer_.get();
    rules_ = std::move(rules);
    if (!rules_.pool) rules_.pool = proxy::NewUpstreamPool(std::move(pool)).value();
    service_.service.write_error = [](http::Exchange& exchange, const Status& error) {
      exchange.writer().Send({.code = error.code()}, error.ToString());
    };
    server_ = std::make_unique<TestServer>(service_.service, wire);
  }
  // A pipe that is given up tells the exchange on the dialer's loop, which needs the service then.
  ~Front() {
    server_.reset();
    CHECK(service_.ends.AwaitCount(begun_));
  }

  proxy::UpgradeAwareHandler& rules() { return rules_; }
  TestService& service() { return service_; }
  TestServer& server() { return *server_; }
  int port() { return server_->listener().port(); }
  std::unique_ptr<http::Connection> Connect() { return server_->Connect(); }
  Result<http::ClientResponse> Call(const http::ClientRequest& request) {
    return Connect()->Call(Soon(), request);
  }

 private:
  std::unique_ptr<http::Dialer> dialer_;
  proxy::UpgradeAwareHandler rules_;
  std::atomic<std::size_t> begun_{0};
  TestService service_;
  std::unique_ptr<TestServer> server_;
};

// A backend that answers by a function of the request, whose body was read. Remembers requests.
class Backend {
 public:
  using Reply = std::function<void(http::Exchange&)>;
  explicit Backend(Reply reply, Wire wire = Wire::kHttp1)
      : service_([this, reply = std::move(reply)](http::Exchange& exchange) {
          last_.Lock()->push_back({exchange.request(), *exchange.body()});
          reply(exchange);
          return http::Step::Done();
        }),
        tls_(wire == Wire::kTlsHttp1 || wire == Wire::kTlsHttp2) {
    service_.AddFilter().begin = [](http::Exchange& exchange) {
      return exchange.CollectBody(std::size_t{64} << 20);
    };
    server_ = std::make_unique<TestServer>(service_.service, wire);
  }
  ~Backend() { server_.reset(); }

  proxy::Location At(std::string path) {
    return {.scheme = tls_ ? "https" : "http",
            .host = "127.0.0.1:" + std::to_string(server_->listener().port()),
            .path = std::move(path)};
  }
  std::string host() { return At("").host; }
  struct Seen {
    http::Request request;
    std::string body;
  };
  std::vector<Seen> seen() { return *last_.Lock(); }
  TestServer& server() { return *server_; }

 private:
  Guarded<std::vector<Seen>> last_;
  TestService service_;
  std::unique_ptr<TestServer> server_;
  const bool tls_;
};

// Answers 200 with this text.
inline Backend::Reply Text(std::string text, http::Headers headers = {}) {
  return [text = std::move(text), headers = std::move(headers)](http::Exchange& exchange) {
    exchange.writer().Send({.headers = headers}, text);
  };
}

}  // namespace proxy_test
