#include "controlplane/kubelet/log_stream.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "apiserver/base/executor.h"
#include "apiserver/base/field_path.h"
#include "apiserver/meta/errors.h"
#include "proxy/round_trip.h"

namespace apiserver::v0::controlplane {
namespace {

// genericHttpResponseChecker's maxReadLength.
constexpr std::size_t kErrorBytesMax = 50'000;
// Answers that Go's http.Client follows.
constexpr std::array<int, 5> kRedirects = {301, 302, 303, 307, 308};

// Collects an error's text.
class ErrorText final : public http::ChunkWriter {
 public:
  std::size_t room() const override { return kErrorBytesMax; }
  void Write(std::string_view copied) override {
    text.append(copied.substr(0, kErrorBytesMax - text.size()));
  }
  void Take(std::string owned) override { Write(owned); }
  void Write(std::shared_ptr<const void> /*owner*/, std::string_view shared) override {
    Write(shared);
  }
  bool full() const { return text.size() >= kErrorBytesMax; }
  std::string text;
};

// Reads the body of an answer to its end, or as far as an error's text goes. Everything is on the
// loop of the kubelet's connection.
class ErrorReader final : public Wakeable, public std::enable_shared_from_this<ErrorReader> {
 public:
  using Done = UniqueFunction<void(std::string text)>;
  ErrorReader(Executor& loop, std::unique_ptr<http::BodySource> body, Done done)
      : loop_(loop), body_(std::move(body)), done_(std::move(done)) {}

  void Start() {
    self_ = shared_from_this();
    OnWake();
  }
  void OnWake() override {
    if (!done_) return;
    while (!text_.full()) {
      const http::Pull pulled = body_->Next(text_, Waker(loop_, weak_from_this()));
      if (pulled == http::Pull::kWait) return;
      if (pulled != http::Pull::kMore) break;
    }
    const auto keep = std::move(self_);
    body_.reset();
    std::exchange(done_, nullptr)(std::move(text_.text));
  }

 private:
  Executor& loop_;
  std::unique_ptr<http::BodySource> body_;
  Done done_;
  ErrorText text_;
  std::shared_ptr<ErrorReader> self_;  // Until the text is there.
};

// One request for a log. On the loop of the kubelet's connection once it has started.
class LogRequest final : public std::enable_shared_from_this<LogRequest> {
 public:
  LogRequest(LogSource source, rest::ResourceStreamer::Opened opened)
      : source_(std::move(source)), opened_(std::move(opened)) {}

  void Start(const Context& ctx);

 private:
  void OnAnswer(Result<http::ResponseHead> head);
  void OnRefused(int code, std::string text);
  std::string Target() const {
    const std::string& query = source_.location.raw_query;
    return source_.location.path + (query.empty() ? "" : "?" + query);
  }
  Status GetError(std::string_view url, std::string_view why) const {
    return {Reason::kUnknown, "Get " + field::Quote(url) + ": " + std::string(why)};
  }
  Status DialError(const Status& why) const;
  // The client may go until then, which ends the request.
  void Tell(Result<rest::ResourceStreamer::Input> input) {
    gone_.Reset();
    std::exchange(opened_, nullptr)(std::move(input));
  }

  const LogSource source_;
  rest::ResourceStreamer::Opened opened_;
  std::shared_ptr<proxy::RoundTrip> trip_;
  Context::Registration gone_;
};

// The registration is made before the trip starts, as its answer resets it on another thread.
void LogRequest::Start(const Context& ctx) {
  auto endpoint = proxy::EndpointOf(source_.location);
  if (!endpoint.ok()) return Tell(DialError(endpoint.status()));
  trip_ = proxy::NewRoundTrip(
      {.pool = source_.pool,
       .endpoint = *std::move(endpoint),
       .head = {.target = Target(), .headers = {{"Host", source_.location.host}}},
       .body = nullptr,
       .deadline = ctx.deadline(),
       .memory = source_.memory});
  gone_ = ctx.OnDone([weak = std::weak_ptr(trip_)] {
    if (const auto lost = weak.lock()) lost->Cancel();
  });
  trip_->Start([self = shared_from_this()](Result<http::ResponseHead> head) {
    self->OnAnswer(std::move(head));
  });
}

Status LogRequest::DialError(const Status& why) const {
  if (why.message().starts_with("tls: ") && source_.on_tls_failure) source_.on_tls_failure();
  return GetError("https://" + source_.location.host + Target(), why.message());
}

void LogRequest::OnAnswer(Result<http::ResponseHead> head) {
  const auto trip = std::exchange(trip_, nullptr);
  if (!head.ok()) return Tell(DialError(head.status()));
  // Destroying it ends the trip, on every way out.
  auto body = trip->Body();
  const std::string_view location = head->headers.Get("Location");
  const bool redirects = std::ranges::find(kRedirects, head->code) != kRedirects.end();
  if (redirects && !location.empty()) return Tell(GetError(location, "redirects forbidden"));
  if (head->code >= 200 && head->code <= 206) {
    rest::ResourceStreamer::Input input;
    input.body = std::move(body);
    input.media_type = "text/plain";
    return Tell(std::move(input));
  }
  std::make_shared<ErrorReader>(source_.pool->loop(), std::move(body),
                                [self = shared_from_this(), code = head->code](std::string text) {
                                  self->OnRefused(code, std::move(text));
                                })
      ->Start();
}

// Follows genericHttpResponseChecker.
void LogRequest::OnRefused(int code, std::string text) {
  if (code == 500) return Tell(Status(Reason::kInternalError, "Internal error occurred: " + text));
  if (code == 400) return Tell(meta::NewBadRequest(std::move(text)));
  Tell(meta::NewGenericServerResponse(
      {.code = code, .resource = {"", "pods/log"}, .name = source_.pod, .message = text}));
}

}  // namespace

void OpenLog(const Context& ctx, LogSource source, rest::ResourceStreamer::Opened opened) {
  std::make_shared<LogRequest>(std::move(source), std::move(opened))->Start(ctx);
}

}  // namespace apiserver::v0::controlplane
