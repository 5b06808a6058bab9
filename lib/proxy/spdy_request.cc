#include "proxy/spdy_request.h"

#include <string_view>
#include <utility>

#include "http/tokens.h"
#include "proxy/forward_url.h"

namespace apiserver::v0::proxy {

namespace {

constexpr std::string_view kSpdy = "SPDY/3.1";

// One request on its way. Lives until the client was answered.
struct Asked {
  std::shared_ptr<http::Exchange> exchange;
  UniqueFunction<http::Step(http::Exchange&, SpdyAnswer)> answer;
  std::unique_ptr<Pipes::Place> place;
  PipeLimits limits;
  Context::Registration gone;
};

http::ClientRequestHead HeadOf(SpdyRequest& request, const Tenant& tenant) {
  const Location& location = request.location;
  http::ClientRequestHead head{.method = "POST",
                               .target = UpgradeTarget(location, LocationUrl(location), {}),
                               .headers = std::move(request.headers),
                               .tenant = tenant};
  if (!head.headers.Has("Host")) head.headers.Add("Host", location.host);
  head.headers.Set("Connection", "Upgrade");
  head.headers.Set("Upgrade", std::string(kSpdy));
  for (std::string& protocol : request.protocols) {
    head.headers.Add("X-Stream-Protocol-Version", std::move(protocol));
  }
  return head;
}

// Goes on with a request after its upgrade. What keeps the exchange is handed to its loop, or goes
// before the Resume does: on the loop of the upgrade the exchange must not end.
struct AfterUpgrade {
  http::Resume resume;
  std::shared_ptr<Asked> asked;  // Destroyed first.

  void operator()(SpdyUpgrade::Outcome outcome) {
    resume.OnLoop([asked = std::move(asked), outcome = std::move(outcome)]() mutable {
      asked->gone.Reset();
      return asked->answer(*asked->exchange,
                           {std::move(outcome), std::move(asked->place), asked->limits});
    });
  }
};

void Start(const std::shared_ptr<Asked>& asked, SpdyUpgrade::Setup setup, http::Resume resume) {
  const auto upgrade = NewSpdyUpgrade(std::move(setup));
  asked->gone = asked->exchange->ctx().OnDone([weak = std::weak_ptr(upgrade)] {
    if (const auto lost = weak.lock()) lost->Cancel();
  });
  upgrade->Start(AfterUpgrade{std::move(resume), asked});
}

}  // namespace

http::Step AskForSpdy(http::Exchange& exchange, SpdyRequest request,
                      UniqueFunction<http::Step(http::Exchange&, SpdyAnswer)> answer) {
  auto endpoint =
      request.endpoint ? Result<Endpoint>(*request.endpoint) : EndpointOf(request.location);
  if (!endpoint.ok()) {
    return Status(Reason::kUnknown,
                  "error dialing backend: " + std::string(endpoint.status().message()));
  }
  auto asked = std::make_shared<Asked>();
  if (request.pipes) {
    auto place = request.pipes->Enter(request.user);
    if (!place.ok()) return place.status();
    asked->place = *std::move(place);
    asked->limits = request.pipes->limits();
  }
  asked->exchange = exchange.Share();
  asked->answer = std::move(answer);
  SpdyUpgrade::Setup setup{.pool = request.pool,
                           .endpoint = *std::move(endpoint),
                           .head = HeadOf(request, exchange.decoding().tenant()),
                           .head_timeout = asked->limits.head_timeout};
  return http::Step::Later([asked, setup = std::move(setup)](http::Resume resume) mutable {
    Start(asked, std::move(setup), std::move(resume));
  });
}

bool SwitchesToSpdy(const http::ResponseHead& head) {
  return head.code == 101 && http::HasToken(head.headers.Get("Connection"), "upgrade") &&
         http::HasToken(head.headers.Get("Upgrade"), kSpdy);
}

Status InternalError(std::string_view why) {
  return {Reason::kInternalError, "Internal error occurred: " + std::string(why)};
}

}  // namespace apiserver::v0::proxy
