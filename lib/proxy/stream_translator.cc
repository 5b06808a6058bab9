#include "apiserver/proxy/stream_translator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/http/websocket.h"
#include "apiserver/meta/status.h"
#include "apiserver/runtime/arena.h"
#include "proxy/spdy_request.h"
#include "proxy/stream_translation.h"

namespace apiserver::v0::proxy {

namespace {

constexpr std::string_view kV5 = "v5.channel.k8s.io";
constexpr std::string_view kUnableToUpgrade = "unable to upgrade connection: ";

// Returns the error that a kubelet has refused with: a Status, or text.
Status RefusalOf(const SpdyUpgrade::Refused& refused) {
  if (refused.head.code >= 300 && refused.head.code <= 399) {
    return InternalError(std::string(kUnableToUpgrade) + "redirect not allowed");
  }
  runtime::Arena arena;
  const auto parsed = codec::ParseJson(refused.body, arena);
  if (parsed.ok()) {
    if (auto status = meta::StatusFromValue(*parsed)) return *status;
  }
  std::string_view text = refused.body;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return InternalError(std::string(kUnableToUpgrade).append(text));
}

Status ErrorOf(const SpdyUpgrade::Outcome& outcome) {
  if (outcome.refused) return RefusalOf(*outcome.refused);
  if (outcome.switched && !SwitchesToSpdy(outcome.switched->head)) {
    return InternalError("unable to upgrade: missing upgrade headers in response");
  }
  return outcome.error;
}

}  // namespace

bool AsksForStreamProtocolV5(const http::Request& request) {
  if (!http::IsWebSocketRequest(request)) return false;
  const auto offered = http::OfferedWebSocketProtocols(request);
  return std::find(offered.begin(), offered.end(), kV5) != offered.end();
}

http::Step StreamTranslatorHandler::ServeHTTP(http::Exchange& exchange) const {
  const std::vector<std::string> protocols = {std::string(kV5)};
  if (Status bad = http::CheckWebSocketRequest(exchange.request(), protocols); !bad.ok()) {
    if (on_request) on_request(400);
    return bad;
  }
  SpdyRequest request{.location = location,
                      .pool = pool,
                      .endpoint = endpoint,
                      .pipes = pipes,
                      .user = user,
                      // Kubelets choose v4.
                      .protocols = {"v5.channel.k8s.io", "v4.channel.k8s.io", "v3.channel.k8s.io",
                                    "v2.channel.k8s.io", "channel.k8s.io"}};
  return AskForSpdy(
      exchange, std::move(request),
      [rules = *this, protocols](http::Exchange& asked, SpdyAnswer answer) -> http::Step {
        if (Status error = ErrorOf(answer.outcome); !error.ok()) {
          if (rules.on_request) rules.on_request(error.code());
          return error;
        }
        SpdyUpgrade::Switched& kubelet = *answer.outcome.switched;
        return http::AcceptWebSocket(
            asked, {.protocols = protocols},
            NewStreamTranslation(
                {.kubelet = std::move(kubelet.stream),
                 .loop = &rules.pool->loop(),
                 .streams = rules.streams,
                 .protocol = std::string(kubelet.head.headers.Get("X-Stream-Protocol-Version")),
                 .place = std::move(answer.place),
                 .idle_timeout = answer.limits.idle_timeout,
                 .on_outcome = rules.on_request}));
      });
}

}  // namespace apiserver::v0::proxy
