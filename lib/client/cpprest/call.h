#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/http_client.h"
#include "client/call_target.h"
#include "client/cpprest/body.h"
#include "client/cpprest/cpprest.h"
#include "client/cpprest/peer.h"
#include "client/cpprest/wire.h"

namespace apiserver::inline v0::client {

// A cpprestsdk client with at most one connection in use, so that the call on the connection is
// known and a connection in a doubtful state is dropped by dropping this.
struct Line {
  std::string key;
  std::string to;  // "host:port" that is connected to.
  std::shared_ptr<Peer> peer;
  std::shared_ptr<Wire> wire;
  std::unique_ptr<web::http::client::http_client> client;
};

// The argument of cpprestsdk's connect: an address, or a name that it resolves to one.
struct Endpoint {
  std::string host;
  Wire::Tcp protocol;
};

// The idle lines of a client; a call takes one and gives it back after a whole response.
class Lines {
 public:
  virtual ~Lines() = default;
  // Returns one that was given back and leads to the same target. nullopt: there is none.
  virtual std::optional<Line> TakeKept(const CallTarget& target) = 0;
  // Makes one. Throws the exceptions of cpprestsdk.
  virtual Line TakeNew(const CallTarget& target, const Endpoint& to) = 0;
  virtual void GiveBack(Line line) = 0;
};

// One call from its start to `done`. Ends by the first of: the response, an error, too many bytes,
// the timeout, the Context's end; all of them on cpprestsdk's threads.
class PendingCall final : public std::enable_shared_from_this<PendingCall> {
 public:
  PendingCall(std::shared_ptr<Lines> lines, std::size_t response_bytes_max, HttpClient::Done done);

  void Start(const Context& ctx, CallTarget target, HttpRequest request);

 private:
  using Response = web::http::http_response;
  using Resolved = boost::asio::ip::tcp::resolver::results_type;

  void Arm(const Context& ctx, std::chrono::milliseconds timeout);
  void Resolve();
  void OnResolved(const boost::system::error_code& error, const Resolved& resolved);
  // Connects to the next endpoint, or fails with the exception that is being handled.
  void TryNext();
  void Send(Line line);
  void OnHead(const pplx::task<Response>& task);
  void OnEnd(const pplx::task<Response>& task);
  // Returns the phase that the call was in when its time was up.
  std::string TimedOut();
  // Finish() with an error, from anywhere: even in the middle of a read.
  UniqueFunction<void()> FailLater(Reason reason, std::string why);
  void Fail(Reason reason, const std::string& why);
  // Fail() with the message of the exception that is being handled.
  void FailByException();
  void Finish(Result<http::ClientResponse> result);
  void Release(bool whole);
  void Unregister();

  const std::shared_ptr<Lines> lines_;
  const std::size_t response_bytes_max_;
  HttpClient::Done done_;
  std::string name_;  // `Post "https://…"`, as Go names a call in its errors.
  CallTarget target_;
  HttpRequest request_;             // Its body is read until cpprestsdk has ended its part.
  std::deque<Endpoint> endpoints_;  // Not tried yet.
  std::string not_connected_;       // The error of the first endpoint that was tried.
  bool resolved_ = false;
  std::atomic<bool> finished_{false};
  Guarded<Line> line_;
  std::shared_ptr<BoundedBody> body_;
  boost::asio::steady_timer timer_;
  boost::asio::ip::tcp::resolver resolver_;
  Guarded<Context::Registration> registration_;
};

}  // namespace apiserver::inline v0::client
