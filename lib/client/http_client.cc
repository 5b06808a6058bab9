#include "apiserver/client/http_client.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::v0::client {

namespace {

constexpr std::string_view kResetCause = "ConnectionReset";

}  // namespace

Status ConnectionReset(std::string message) {
  return Status(Reason::kServiceUnavailable, std::move(message))
      .WithDetails({.causes = {{.reason = std::string(kResetCause)}}});
}

bool IsConnectionReset(const Status& error) {
  const StatusDetails* details = error.details();
  return details != nullptr && details->causes.size() == 1 &&
         details->causes.front().reason == kResetCause;
}

Result<http::ClientResponse> HttpClient::Call(const Context& ctx, HttpRequest request) {
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "an HTTP call waits");
  struct Answer {
    Notification there;
    std::optional<Result<http::ClientResponse>> value;
  };
  const auto answer = std::make_shared<Answer>();
  Start(ctx, std::move(request), [answer](Result<http::ClientResponse> result) {
    answer->value = std::move(result);
    answer->there.Notify();
  });
  // Start() enforces the request's timeout and observes `ctx`.
  answer->there.Wait();
  return std::move(*answer->value);
}

}  // namespace apiserver::v0::client
