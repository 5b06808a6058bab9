#include "apiserver/proxy/upgrade_aware_handler.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/proxy/auth_headers.h"
#include "base/status_macros.h"
#include "proxy/forward_headers.h"
#include "proxy/forward_url.h"
#include "proxy/location_rewriter.h"
#include "proxy/page_body.h"
#include "proxy/pipe.h"
#include "proxy/round_trip.h"

namespace apiserver::v0::proxy {
namespace {

constexpr std::string_view kRedirectRefused =
    "the backend attempted to redirect this request, which is not permitted";

http::ResponseHead TextHead(int code) {
  return {.code = code, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}};
}

// Returns the announced length of a request's body; nullopt: it is not known.
std::optional<std::uint64_t> BodyBytes(const http::Exchange& exchange) {
  if (!exchange.has_body()) return 0;
  const std::string_view text = exchange.request().headers.Get("Content-Length");
  std::uint64_t length = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return length;
}

// One request on its way. Lives until the answer's head was given.
struct Forwarding {
  UpgradeAwareHandler rules;
  std::shared_ptr<http::Exchange> exchange;
  text::GoUrl asked;
  std::string host;  // The Host header of the forwarded request.
  Context::Registration gone;

  http::Step Fail(const Status& error) const {
    if (rules.responder) return rules.responder(*exchange, error);
    return error;
  }
};
using ForwardingPtr = std::shared_ptr<Forwarding>;

// Goes on with a request after its way, a RoundTrip or a Pipe. What keeps the exchange is handed to
// its loop, or goes before the Resume does: it must not end on the loop of the way, which may go on
// when the server has gone.
template <class Way>
struct AfterWay {
  using PassOn = http::Step (*)(Forwarding&, Result<http::ResponseHead>,
                                const std::shared_ptr<Way>&);
  PassOn pass_on;
  http::Resume resume;
  std::weak_ptr<Way> way;
  ForwardingPtr forwarding;  // Destroyed first.

  void operator()(Result<http::ResponseHead> answer) {
    resume.OnLoop([pass_on = pass_on, forwarding = std::move(forwarding), way = way.lock(),
                   answer = std::move(answer)]() mutable {
      return pass_on(*forwarding, std::move(answer), way);
    });
  }
};

// An error of the client's own is not the backend's.
Status BackendError(const Forwarding& forwarding, const Status& why) {
  if (why.reason() == Reason::kBadRequest || why.code() == 408) return why;
  if (!forwarding.rules.wrap_transport) {
    return Status(Reason::kUnknown, std::string(why.message()));
  }
  return Status(Reason::kServiceUnavailable,
                "error trying to reach service: " + std::string(why.message()));
}

http::Step Redirect(http::Exchange& exchange, std::string to) {
  exchange.writer().Send({.code = 301, .headers = {{"Location", std::move(to)}}}, {});
  return http::Step::Done();
}

LocationRewriter RewriterFor(const Forwarding& forwarding) {
  return {.scheme = forwarding.asked.scheme,
          .host = forwarding.asked.host,
          .path_prepend = PathPrefix(forwarding.rules.location, forwarding.asked),
          .source_host = forwarding.rules.location.host,
          .request_host = forwarding.host};
}

// Lets Location lead through this server.
Status RewriteLocation(const Forwarding& forwarding, http::Headers& headers) {
  const std::string_view location = headers.Get("Location");
  if (location.empty()) return {};
  auto url = text::ParseGoUrl(location);
  if (!url.ok()) {
    return Status(
        Reason::kInternalError,
        "Internal error occurred: error trying to parse Location header: " + url.error().message());
  }
  headers.Set("Location", RewriterFor(forwarding).Rewrite(*std::move(url)));
  return {};
}

// Lets the links of a page lead through this server. A redirect's page is left as it is.
void RewriteLinks(const Forwarding& forwarding, http::ResponseHead& head,
                  std::unique_ptr<http::BodySource>& body) {
  const bool page = head.headers.Get("Location").empty() && IsRewritablePage(head.headers) &&
                    forwarding.exchange->request().method != "HEAD";
  if (!page) return;
  (void)head.headers.Remove("Content-Length");
  body = NewPageBody(std::move(body), RewriterFor(forwarding),
                     std::string(head.headers.Get("Content-Encoding")), forwarding.exchange);
}

// Gives the client the backend's answer. On the exchange's loop.
http::Step PassOn(Forwarding& forwarding, Result<http::ResponseHead> answer,
                  const std::shared_ptr<RoundTrip>& trip) {
  forwarding.gone.Reset();
  http::Exchange& exchange = *forwarding.exchange;
  if (!answer.ok()) return forwarding.Fail(BackendError(forwarding, answer.status()));
  // Destroying it ends the trip, on every way out.
  auto body = trip->Body();
  http::ResponseHead head = *std::move(answer);
  head.close_connection = false;
  RemoveHopByHop(head.headers);
  const bool redirects =
      head.code >= 300 && head.code <= 399 && !head.headers.Get("Location").empty();
  if (redirects && forwarding.rules.reject_forwarding_redirects) {
    exchange.writer().Send(TextHead(502), std::string(kRedirectRefused));
    return http::Step::Done();
  }
  if (forwarding.rules.wrap_transport) {
    if (Status bad = RewriteLocation(forwarding, head.headers); !bad.ok()) {
      return forwarding.Fail(bad);
    }
    RemoveCorsHeaders(head.headers);
    RewriteLinks(forwarding, head, body);
  }
  exchange.writer().Stream(std::move(head), std::move(body));
  return http::Step::Done();
}

http::ClientRequestHead PlainHead(const Forwarding& forwarding) {
  http::Exchange& exchange = *forwarding.exchange;
  const UpgradeAwareHandler& rules = forwarding.rules;
  http::ClientRequestHead head{
      .method = exchange.request().method,
      .target = PlainTarget(rules.location, forwarding.asked,
                            {rules.use_request_location, rules.append_location_path}),
      .headers = PlainRequestHeaders(exchange.request()),
      .body_bytes = BodyBytes(exchange),
      .tenant = exchange.decoding().tenant()};
  if (!forwarding.host.empty()) head.headers.Add("Host", forwarding.host);
  if (rules.identity) SetAuthProxyHeaders(head.headers, *rules.identity);
  if (rules.wrap_transport) {
    SetForwardedUrl(head.headers,
                    ForwardedUrlOf(PlainUrl(rules.location, forwarding.asked), forwarding.asked,
                                   PathPrefix(rules.location, forwarding.asked)));
  }
  return head;
}

Result<Endpoint> EndpointFor(const UpgradeAwareHandler& rules) {
  if (rules.endpoint) return *rules.endpoint;
  return EndpointOf(rules.location);
}

// The client may go before the answer comes. The registration is made before the trip starts, as
// the end of the trip resets it on another thread.
void StartTrip(const ForwardingPtr& forwarding, RoundTrip::Setup setup, http::Resume resume) {
  const auto trip = NewRoundTrip(std::move(setup));
  forwarding->gone = forwarding->exchange->ctx().OnDone([weak = std::weak_ptr(trip)] {
    if (const auto lost = weak.lock()) lost->Cancel();
  });
  trip->Start(AfterWay<RoundTrip>{&PassOn, std::move(resume), trip, forwarding});
}

// A body that a filter has read is sent as a whole.
Status TakeBody(http::Exchange& exchange, RoundTrip::Setup& setup) {
  if (!exchange.has_body()) return {};
  auto opened = exchange.OpenBody({});
  if (opened.ok()) {
    setup.body = *std::move(opened);
    return {};
  }
  if (opened.status().reason() != Reason::kConflict) return opened.status();
  setup.whole_body = exchange.body();
  setup.head.body_bytes = setup.whole_body->size();
  return {};
}

http::Step ServePlain(const ForwardingPtr& forwarding) {
  http::Exchange& exchange = *forwarding->exchange;
  const UpgradeAwareHandler& rules = forwarding->rules;
  if (auto to = RootRedirect(PlainUrl(rules.location, forwarding->asked), forwarding->asked,
                             exchange.request().method)) {
    return Redirect(exchange, *std::move(to));
  }
  auto endpoint = EndpointFor(rules);
  if (!endpoint.ok()) return forwarding->Fail(BackendError(*forwarding, endpoint.status()));
  RoundTrip::Setup setup{.pool = rules.pool->On(exchange.shared_loop()),
                         .endpoint = *std::move(endpoint),
                         .head = PlainHead(*forwarding),
                         .deadline = exchange.ctx().deadline(),
                         .memory = exchange.memory()};
  RETURN_IF_ERROR(TakeBody(exchange, setup));
  return http::Step::Later([forwarding, setup = std::move(setup)](http::Resume resume) mutable {
    StartTrip(forwarding, std::move(setup), std::move(resume));
  });
}

http::ClientRequestHead UpgradeHead(const Forwarding& forwarding) {
  http::Exchange& exchange = *forwarding.exchange;
  const UpgradeAwareHandler& rules = forwarding.rules;
  http::ClientRequestHead head{
      .method = exchange.request().method,
      .target = UpgradeTarget(rules.location, forwarding.asked,
                              {rules.use_request_location, rules.append_location_path}),
      .headers = UpgradeRequestHeaders(exchange.request(), forwarding.host),
      .tenant = exchange.decoding().tenant()};
  if (rules.identity) SetAuthProxyHeaders(head.headers, *rules.identity);
  if (exchange.request().headers.Has("Content-Length")) head.headers.Add("Content-Length", "0");
  return head;
}

// Ends a pipe whose client's side never came.
class Joining final {
 public:
  explicit Joining(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
  Joining(Joining&&) noexcept = default;
  Joining& operator=(Joining&&) = delete;
  ~Joining() {
    if (pipe_) pipe_->Cancel();
  }
  void operator()(std::unique_ptr<http::Tunnel> client) {
    std::exchange(pipe_, nullptr)->Join(std::move(client));
  }

 private:
  std::shared_ptr<Pipe> pipe_;
};

// Gives the client the backend's answer to an upgrade. On the exchange's loop.
http::Step PassUpgradeOn(Forwarding& forwarding, Result<http::ResponseHead> answer,
                         const std::shared_ptr<Pipe>& pipe) {
  forwarding.gone.Reset();
  http::Exchange& exchange = *forwarding.exchange;
  if (!answer.ok()) return forwarding.Fail(answer.status());
  http::ResponseHead head = *std::move(answer);
  if (head.code == 101) {
    head.verbatim = true;
    RETURN_IF_ERROR(exchange.writer().Upgrade(std::move(head), Joining(pipe)));
    return http::Step::Done();
  }
  RemoveHopByHop(head.headers);
  head.close_connection = true;
  exchange.writer().Stream(std::move(head), pipe->Body());
  return http::Step::Done();
}

void StartPipe(const ForwardingPtr& forwarding, Pipe::Setup setup, http::Resume resume) {
  const auto pipe = NewPipe(std::move(setup));
  forwarding->gone = forwarding->exchange->ctx().OnDone([weak = std::weak_ptr(pipe)] {
    if (const auto lost = weak.lock()) lost->Cancel();
  });
  pipe->Start(AfterWay<Pipe>{&PassUpgradeOn, std::move(resume), pipe, forwarding});
}

http::Step ServeUpgrade(const ForwardingPtr& forwarding) {
  http::Exchange& exchange = *forwarding->exchange;
  const UpgradeAwareHandler& rules = forwarding->rules;
  // A backend that does not switch protocols could take the body for another request.
  if (exchange.has_body()) {
    return forwarding->Fail(
        Status(Reason::kBadRequest, "a request for an upgrade must not have a body"));
  }
  auto endpoint = EndpointFor(rules);
  if (!endpoint.ok()) {
    return forwarding->Fail(Status(
        Reason::kUnknown, "error dialing backend: " + std::string(endpoint.status().message())));
  }
  Pipe::Setup setup{.pool = rules.pool,
                    .endpoint = *std::move(endpoint),
                    .head = UpgradeHead(*forwarding),
                    .bytes_per_second_max = rules.max_bytes_per_sec,
                    .memory = exchange.memory()};
  if (rules.pipes) {
    auto place = rules.pipes->Enter(rules.user);
    if (!place.ok()) return forwarding->Fail(place.status());
    setup.place = *std::move(place);
    setup.limits = rules.pipes->limits();
  }
  return http::Step::Later([forwarding, setup = std::move(setup)](http::Resume resume) mutable {
    StartPipe(forwarding, std::move(setup), std::move(resume));
  });
}

}  // namespace

http::Step RespondText(http::Exchange& exchange, int code, std::string_view line) {
  http::ResponseHead head = TextHead(code);
  head.headers.Add("X-Content-Type-Options", "nosniff");
  exchange.writer().Send(std::move(head), std::string(line) + "\n");
  return http::Step::Done();
}

http::Step RespondUnavailable(http::Exchange& exchange, const Status& error) {
  return RespondText(exchange, 503, error.message());
}

http::Step UpgradeAwareHandler::ServeHTTP(http::Exchange& exchange) const {
  const http::Request& request = exchange.request();
  const auto forwarding = std::make_shared<Forwarding>();
  forwarding->rules = *this;
  forwarding->exchange = exchange.Share();
  forwarding->asked = new_request ? LocationUrl(location) : RequestUrl(request);
  forwarding->host = new_request || use_location_host ? location.host : request.host;
  if (IsUpgradeRequest(request)) return ServeUpgrade(forwarding);
  if (upgrade_required) {
    return forwarding->Fail(Status(Reason::kBadRequest, "Upgrade request required"));
  }
  return ServePlain(forwarding);
}

}  // namespace apiserver::v0::proxy
