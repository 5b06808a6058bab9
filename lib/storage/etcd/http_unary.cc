#include "storage/etcd/http_unary.h"

#include <utility>

#include "http/causes.h"

namespace apiserver::v0::storage::etcd {

RpcOutcome OutcomeOf(const Status& status) {
  RpcOutcome outcome{RpcCode::kUnavailable, std::string(status.message())};
  outcome.sent = !http::HasNotBegun(status);
  return outcome;
}

std::optional<RpcOutcome> OutcomeOf(const http::ResponseHead& head) {
  if (head.code != 200) return OutcomeOfCode(head.code);
  // An answer without messages has its trailers in the head.
  if (head.headers.Has("grpc-status")) return OutcomeOf(head.headers);
  if (!head.headers.Get("content-type").starts_with("application/grpc")) {
    return OutcomeOfCode(head.code);
  }
  return std::nullopt;
}

http::Headers RequestHeaders(std::size_t more, std::string token) {
  http::Headers headers;
  headers.Reserve(3 + more);
  headers.Add("content-type", "application/grpc");
  headers.Add("te", "trailers");
  if (!token.empty()) headers.Add("token", std::move(token));
  return headers;
}

HttpUnary::HttpUnary(std::shared_ptr<http::Loop> loop, std::string method, std::string request,
                     const RpcOptions& options, Rpc::Done done)
    : loop_(std::move(loop)),
      method_(std::move(method)),
      request_(std::move(request)),
      options_(options),
      give_up_at_(std::min(options.deadline, RealClock().Now() + options.connect_wait_max)),
      done_(std::move(done)) {}

HttpUnary::~HttpUnary() {
  if (!over()) Finish({RpcCode::kUnavailable, "the transport has ended", started()}, "");
}

void HttpUnary::Cancel() {
  loop_->Post([self = shared_from_this()] {
    self->Abandon({RpcCode::kCancelled, "cancelled", self->started()});
  });
}

void HttpUnary::Expire() {
  Abandon({RpcCode::kDeadlineExceeded, "the deadline has passed", started()});
}

void HttpUnary::Abandon(RpcOutcome outcome) {
  if (over()) return;
  Executor::Cancel cancel = std::move(cancel_);
  Finish(std::move(outcome), "");
  if (cancel) cancel();
}

void HttpUnary::Start(MemberLink::ConnectionPtr connection, std::string token) {
  if (over()) return;
  connection_ = std::move(connection);
  http::Headers headers = RequestHeaders(1, std::move(token));
  if (options_.deadline != Clock::Monotonic::max()) {
    headers.Add("grpc-timeout", TimeoutText(options_.deadline - RealClock().Now()));
  }
  auto cancel = connection_->Observe({.method = "POST",
                                      .target = method_,
                                      .headers = std::move(headers),
                                      .body = FrameOf(request_)},
                                     shared_from_this());
  if (!cancel.ok()) return Finish(OutcomeOf(cancel.status()), "");
  cancel_ = *std::move(cancel);
}

// A failure is final: what follows its head is not waited for, as it may have no end.
void HttpUnary::OnHead(const http::ResponseHead& head) {
  if (over()) return;
  auto outcome = OutcomeOf(head);
  if (!outcome) return;
  if (outcome->ok()) outcome = {RpcCode::kInternal, "the answer has no message"};
  Abandon(*std::move(outcome));
}

void HttpUnary::OnData(std::string_view bytes) {
  while (!over() && !bytes.empty()) {
    if (response_) return Abandon({RpcCode::kInternal, "the answer has more than one message"});
    auto message = reader_.Next(bytes);
    // Unreadable is not failed: the request may have been carried out.
    if (!message.ok()) {
      return Abandon({RpcCode::kDataLoss, std::string(message.status().message())});
    }
    if (*message) response_ = **std::move(message);
  }
}

void HttpUnary::OnTrailers(const http::Headers& trailers) { told_ = OutcomeOf(trailers); }

void HttpUnary::OnEnd(const Status& status) {
  if (over()) return;
  if (status.ok()) {
    RpcOutcome outcome = Judged();
    std::string response = outcome.ok() ? *std::move(response_) : "";
    return Finish(std::move(outcome), std::move(response));
  }
  RpcOutcome outcome = OutcomeOf(status);
  if (outcome.sent || std::exchange(sent_again_, true)) return Finish(std::move(outcome), "");
  connection_.reset();
  cancel_ = nullptr;
  owner_->OnRefused(shared_from_this());
}

RpcOutcome HttpUnary::Judged() const {
  if (!told_) return {RpcCode::kUnknown, "the answer has no status"};
  if (told_->ok() && !response_) return {RpcCode::kInternal, "the answer has no message"};
  return *told_;
}

// The callback is moved out: the caller may keep the call, and must not keep with it what `done`
// owns.
void HttpUnary::Finish(RpcOutcome outcome, std::string response) {
  Rpc::Done done = std::exchange(done_, nullptr);
  if (const auto owner = std::exchange(owner_, nullptr)) owner->OnOver(*this, outcome.code);
  connection_.reset();
  request_ = {};
  done(std::move(outcome), std::move(response));
}

}  // namespace apiserver::v0::storage::etcd
