#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/aggregator/proxy_handler.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::aggregator {

// Asks extension servers in the name of the aggregator itself, each time over a new connection. Any
// thread that may block.
class Backend {
 public:
  struct Needs {
    http::Dialer* dialer = nullptr;
    std::shared_ptr<const ServiceResolver> resolver;
    std::shared_ptr<const Source<http::KeyPair>> proxy_client;  // Null: none is shown.
    const Clock* clock = nullptr;
  };
  // A GET.
  struct Request {
    std::string path;
    http::Headers headers = {};
    std::chrono::milliseconds timeout = std::chrono::seconds(5);
    // Checks the certificate of the server as it is checked for users.
    bool verify = true;
    std::string user = "system:kube-aggregator";
    std::vector<std::string> groups = {"system:masters"};
  };
  // A longer answer is an error.
  static constexpr std::size_t kAnswerBytesMax = std::size_t{16} << 20;

  explicit Backend(Needs needs) : needs_(std::move(needs)) {}

  // Returns the answer, whatever its code. The errors of the resolver; kTimeout;
  // kServiceUnavailable, in Go's words. `url` becomes what was asked, empty if no address was
  // found.
  Result<http::ClientResponse> Get(const Context& ctx, const ProxiedAPIService& service,
                                   const Request& request, std::string& url) const;

 private:
  const Needs needs_;
};

}  // namespace apiserver::inline v0::aggregator
