#include "storage/etcd/http_stream.h"

#include <utility>

namespace apiserver::v0::storage::etcd {

HttpStream::~HttpStream() {
  if (handler_ != nullptr) Finish({RpcCode::kUnavailable, "the transport has ended"});
}

void HttpStream::Write(std::string message) {
  loop_->Post([self = shared_from_this(), frame = FrameOf(message)]() mutable {
    if (self->stream_ != nullptr) {
      (void)self->stream_->Write(std::move(frame));
    } else if (self->handler_ != nullptr) {
      self->waiting_.push_back(std::move(frame));
    }
  });
}

void HttpStream::Cancel() {
  loop_->Post([self = shared_from_this()] { self->Finish({RpcCode::kCancelled, "cancelled"}); });
}

void HttpStream::Start(Result<MemberLink::ConnectionPtr> connection, std::string token) {
  if (handler_ == nullptr) return;
  if (!connection.ok()) {
    RpcOutcome outcome = OutcomeOf(connection.status());
    outcome.sent = false;
    return Finish(outcome);
  }
  connection_ = *std::move(connection);
  http::Headers headers = RequestHeaders(1, std::move(token));
  // Without this etcd leaves a watch open on a member that has lost its cluster.
  headers.Add("hasleader", "true");
  auto stream = connection_->OpenStream({.method = "POST",
                                         .target = method_,
                                         .headers = std::move(headers),
                                         .body_bytes = std::nullopt});
  if (!stream.ok()) return Finish(OutcomeOf(stream.status()));
  stream_ = *std::move(stream);
  stream_->Start(shared_from_this());
  for (std::string& frame : std::exchange(waiting_, {})) (void)stream_->Write(std::move(frame));
}

namespace {

// Also the end that etcd calls good breaks a stream off: watches have none of their own.
RpcOutcome Broken(RpcOutcome outcome) {
  if (!outcome.ok()) return outcome;
  return {RpcCode::kUnavailable, "etcd has ended the stream"};
}

}  // namespace

// A failure ends the stream with its head: its body may have no end.
void HttpStream::OnHead(const http::ResponseHead& head) {
  if (auto outcome = OutcomeOf(head)) Finish(Broken(*std::move(outcome)));
}

void HttpStream::OnData(std::string_view bytes) {
  while (handler_ != nullptr && !bytes.empty()) {
    auto message = reader_.Next(bytes);
    if (!message.ok()) {
      return Finish({RpcCode::kDataLoss, std::string(message.status().message())});
    }
    const auto handler = handler_;
    if (*message) handler->OnMessage(**std::move(message));
  }
}

void HttpStream::OnTrailers(const http::Headers& trailers) { told_ = OutcomeOf(trailers); }

void HttpStream::OnEnd(const Status& status) {
  if (!status.ok()) return Finish(OutcomeOf(status));
  Finish(told_ ? Broken(*std::move(told_))
               : RpcOutcome{RpcCode::kUnknown, "the answer has no status"});
}

// Destroying the stream cancels it, if it is not over.
void HttpStream::Finish(const RpcOutcome& outcome) {
  const auto handler = std::exchange(handler_, nullptr);
  if (handler == nullptr) return;
  waiting_.clear();
  stream_.reset();
  connection_.reset();
  handler->OnEnd(outcome);
}

}  // namespace apiserver::v0::storage::etcd
