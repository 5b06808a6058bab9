#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "apiserver/audit/context.h"
#include "apiserver/meta/errors.h"
#include "apiserver/request/latency.h"
#include "apiserver/runtime/time.h"
#include "http/caught.h"
#include "request/attributes.h"
#include "server/filters/filters.h"
#include "server/requests/auditing.h"
#include "server/requests/redact.h"
#include "server/requests/source_ips.h"

namespace apiserver::v0::server {

namespace {

using audit::AuditContext;
using audit::Event;
using audit::ObjectReference;
using audit::ResponseStatus;
using audit::Stage;

constexpr std::size_t kUserAgentMax = 1024;

// Set once the first event is recorded, so that the others follow.
struct Audited {};

std::string UserAgentOf(const http::Request& request) {
  const std::string_view agent = request.headers.Get("User-Agent");
  if (agent.size() <= kUserAgentMax) return std::string(agent);
  return std::string(agent.substr(0, kUserAgentMax)) + "...TRUNCATED";
}

// True if the body of the request or of the response is a credential. Go leaves it to the policy;
// here such bodies are recorded at no level.
bool CarriesToken(const auth::Attributes& attributes) {
  if (attributes.group == "authentication.k8s.io") return attributes.resource == "tokenreviews";
  return attributes.group.empty() && attributes.resource == "serviceaccounts" &&
         attributes.subresource == "token";
}

// Asks the policy and, if it wants anything, records the facts known before the request is served:
// evaluatePolicyAndCreateAuditEvent. False: nothing is recorded.
bool Evaluate(const Auditing& auditing, const http::Exchange& exchange, AuditContext& context) {
  const auth::Attributes attributes = request::AttributesOf(exchange);
  audit::RequestAuditConfig config = auditing.policy().EvaluatePolicyRule(attributes);
  if (CarriesToken(attributes)) config.level = std::min(config.level, audit::Level::kMetadata);
  auditing.metrics().ObservePolicyLevel(config.level);
  const http::Request& request = exchange.request();
  context.InitWith(config, [&](Event& event) {
    event.verb = attributes.verb;
    event.request_uri = RedactedTarget(request.target);
    event.user_agent = UserAgentOf(request);
    event.source_ips = SourceIPs(request);
    event.user = attributes.user;
    if (!attributes.resource_request) return;
    ObjectReference& ref = event.object_ref.emplace();
    ref.resource = attributes.resource;
    ref.namespace_ = attributes.namespace_;
    ref.name = attributes.name;
    ref.api_group = attributes.group;
    ref.api_version = attributes.version;
    ref.subresource = attributes.subresource;
  });
  return config.level != audit::Level::kNone;
}

// Annotates a slow request with where its time went: writeLatencyToAnnotation.
void AnnotateLatency(const http::Exchange& exchange, AuditContext& context, Clock::Wall now) {
  constexpr std::chrono::milliseconds kLong(500);
  const std::chrono::nanoseconds total = now - context.received();
  const auto* trackers = exchange.Find<request::LatencyTrackers>();
  if (total <= kLong || !trackers) return;
  bool any = false;
  for (std::size_t i = 0; i < request::kLayers; ++i) {
    const auto layer = static_cast<request::Layer>(i);
    const std::chrono::nanoseconds took = trackers->Of(layer);
    if (took.count() == 0) continue;
    any = true;
    audit::AddAnnotation(exchange.ctx(), request::LatencyAnnotation(layer),
                         runtime::FormatDuration(took));
  }
  if (!any) return;
  audit::AddAnnotation(exchange.ctx(), "apiserver.latency.k8s.io/total",
                       runtime::FormatDuration(total));
}

// Returns the authentication methods that the client tried: getAuthMethods.
std::string AuthenticationTried(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  std::string tried;
  const auto add = [&tried](std::string_view method) {
    if (!tried.empty()) tried += ", ";
    tried += method;
  };
  const std::string_view sent = request.headers.Get("Authorization");
  const std::string_view scheme = sent.substr(0, sent.find(' '));
  if (sent.size() > scheme.size() && http::EqualIgnoreCase(scheme, "basic")) add("basic");
  if (sent.size() > scheme.size() && http::EqualIgnoreCase(scheme, "bearer")) add("bearer");
  if (!exchange.query().Get("access_token").empty()) add("access_token");
  if (request.peer && !request.peer->der.empty()) add("x509");
  if (tried.empty()) return "Authentication failed, no credentials provided";
  return "Authentication failed, attempted: " + tried;
}

// Sets audit::AuditContextPtr, and records unauthenticated requests: WithFailedAuthenticationAudit.
class AuditInit final : public http::Filter {
 public:
  explicit AuditInit(const Auditing& auditing) : auditing_(auditing) {}

  std::string_view name() const override { return "audit-init"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const Clock& clock = auditing_.clock();
    exchange.Set(std::make_shared<AuditContext>(
        exchange.Get<AuditId>().value, exchange.FilterBeganWall(clock), clock, auditing_.log()));
    return http::Step::Next();
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    if (head.code != 401) return;
    AuditContext* const context = audit::AuditContextFrom(exchange.ctx());
    if (!context || context->initialized() || exchange.Find<auth::UserInfoPtr>()) return;
    if (!Evaluate(auditing_, exchange, *context)) return;
    context->Visit([&](Event& event) {
      event.response_status =
          ResponseStatus{.message = AuthenticationTried(exchange), .code = head.code};
    });
    auditing_.Process(*context, Stage::kResponseStarted, /*last=*/true);
  }

 private:
  const Auditing& auditing_;
};

// Records the stages of a request.
class Audit final : public http::Filter {
 public:
  explicit Audit(const Auditing& auditing) : auditing_(auditing) {}

  std::string_view name() const override { return "audit"; }

  http::Step Begin(http::Exchange& exchange) const override {
    AuditContext* const context = audit::AuditContextFrom(exchange.ctx());
    if (!context || !Evaluate(auditing_, exchange, *context)) return http::Step::Next();
    if (!context->Wants(Stage::kRequestReceived) || !auditing_.backend().Holds()) {
      auditing_.Process(*context, Stage::kRequestReceived);
      exchange.Set(Audited());
      return http::Step::Next();
    }
    return http::Step::Later([this, &exchange, context](http::Resume resume) {
      auditing_.metrics().ObserveEvent();
      auditing_.backend().ProcessEvents(
          {std::make_shared<const Event>(context->Snapshot(Stage::kRequestReceived))},
          [this, &exchange, resume = std::move(resume)](bool processed) mutable {
            resume.OnLoop([this, &exchange, processed] { return Received(exchange, processed); });
          });
    });
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    AuditContext* const context = ContextOf(exchange);
    if (!context) return;
    context->SetCode(head.code);
    if (!IsLongRunning(exchange)) return;
    auditing_.Process(*context, Stage::kResponseStarted);
    context->Pack();
  }

  void End(http::Exchange& exchange, const http::Outcome& outcome) const override {
    AuditContext* const context = ContextOf(exchange);
    if (!context) return;
    if (const auto* caught = exchange.Find<http::Caught>()) {
      context->Visit([caught](Event& event) {
        event.response_status = ResponseStatus{.status = "Failure",
                                               .message = "APIServer panic'd: " + caught->what,
                                               .reason = "InternalError",
                                               .code = 500};
      });
      return auditing_.Process(*context, Stage::kPanic, /*last=*/true);
    }
    if (outcome.code == 0) {
      context->Visit([](Event& event) {
        event.response_status =
            ResponseStatus{.status = "Success", .message = "Connection closed early", .code = 200};
      });
      if (IsLongRunning(exchange)) auditing_.Process(*context, Stage::kResponseStarted);
    }
    const Clock::Wall now = exchange.FilterBeganWall(auditing_.clock());
    AnnotateLatency(exchange, *context, now);
    auditing_.Process(*context, Stage::kResponseComplete, /*last=*/true, now);
  }

 private:
  http::Step Received(http::Exchange& exchange, bool processed) const {
    if (!processed) {
      auditing_.metrics().ObserveRejected();
      return meta::NewInternalError("failed to store audit event");
    }
    exchange.Set(Audited());
    return http::Step::Next();
  }

  // Null: nothing is recorded of this request.
  static AuditContext* ContextOf(const http::Exchange& exchange) {
    return exchange.Find<Audited>() ? audit::AuditContextFrom(exchange.ctx()) : nullptr;
  }

  const Auditing& auditing_;
};

}  // namespace

FilterPtr NewAuditInit(const Auditing& auditing) { return std::make_unique<AuditInit>(auditing); }

FilterPtr NewAudit(const Auditing& auditing) { return std::make_unique<Audit>(auditing); }

}  // namespace apiserver::v0::server
