#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/http/dialer.h"
#include "apiserver/http/stream.h"
#include "storage/etcd/http_unary.h"
#include "storage/etcd/member_link.h"

namespace apiserver::inline v0::storage::etcd {

// A stream of messages both ways. Its methods are for the loop, except for Write() and Cancel().
class HttpStream final : public RpcStream,
                         public http::StreamSink,
                         public std::enable_shared_from_this<HttpStream> {
 public:
  HttpStream(std::shared_ptr<http::Loop> loop, std::string method,
             std::shared_ptr<RpcStreamHandler> handler)
      : loop_(std::move(loop)), method_(std::move(method)), handler_(std::move(handler)) {}
  // Ends a stream that the loop has dropped.
  ~HttpStream() override;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  void Write(std::string message) override;
  void Cancel() override;

  // Ends it before it has begun.
  void GiveUp(const RpcOutcome& outcome) { Finish(outcome); }
  // Begins it over a connection, or ends it with the error of the dial. `token`: as that of a
  // call.
  void Start(Result<MemberLink::ConnectionPtr> connection, std::string token);

  void OnHead(const http::ResponseHead& head) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(const http::Headers& trailers) override;
  void OnEnd(const Status& status) override;

 private:
  // Ends it: nothing is told or sent any more.
  void Finish(const RpcOutcome& outcome);

  const std::shared_ptr<http::Loop> loop_;
  const std::string method_;
  std::shared_ptr<RpcStreamHandler> handler_;  // Null: it is over.
  MemberLink::ConnectionPtr connection_;
  std::unique_ptr<http::Stream> stream_;
  std::vector<std::string> waiting_;  // Messages that were written before there was a stream.
  MessageReader reader_{kMessageBytesMax};
  std::optional<RpcOutcome> told_;  // By the trailers.
};

}  // namespace apiserver::inline v0::storage::etcd
