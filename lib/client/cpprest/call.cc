#include "client/cpprest/call.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace apiserver::v0::client {
namespace {

// The most bytes that a peer may send for a response of `bytes`, with its head, chunk sizes and
// TLS.
constexpr std::size_t FramingBytesMax(std::size_t bytes) { return bytes + (256 << 10); }

std::string CallName(const std::string& method, const std::string& url) {
  std::string name = method;
  std::transform(name.begin() + 1, name.end(), name.begin() + 1, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name + " \"" + url + "\"";
}

// The message of cpprestsdk if nothing was sent.
constexpr std::string_view kNotConnected = "Failed to connect to any resolved endpoint";

// Returns why a connection was not made, in the words of Go's net.
std::string NotConnected(const std::string& to, const std::error_code& code) {
  std::string why = code.message();
  // cpprestsdk reports both as this.
  if (code == std::errc::host_unreachable) why = "connection refused or no route to host";
  if (!why.empty() && why[0] >= 'A' && why[0] <= 'Z') why[0] += 'a' - 'A';
  return "dial tcp " + to + ": connect: " + why;
}

// The request refers to the body of `from`.
web::http::http_request NewRequest(const CallTarget& target, const HttpRequest& from) {
  web::http::http_request request(from.method);
  request.set_request_uri(web::uri(target.resource));
  auto& headers = request.headers();
  if (!from.body.empty()) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(from.body.data());
    request.set_body(
        concurrency::streams::rawptr_stream<std::uint8_t>::open_istream(bytes, from.body.size()),
        from.body.size());
    headers.remove(web::http::header_names::content_type);
  }
  headers.add(web::http::header_names::host, target.host_line);
  for (const auto& field : from.headers) headers.add(field.name, field.value);
  return request;
}

}  // namespace

PendingCall::PendingCall(std::shared_ptr<Lines> lines, std::size_t response_bytes_max,
                         HttpClient::Done done)
    : lines_(std::move(lines)),
      response_bytes_max_(response_bytes_max),
      done_(std::move(done)),
      timer_(crossplat::threadpool::shared_instance().service()),
      resolver_(crossplat::threadpool::shared_instance().service()) {}

void PendingCall::Start(const Context& ctx, CallTarget target, HttpRequest request) {
  name_ = CallName(request.method, request.url);
  target_ = std::move(target);
  request_ = std::move(request);
  try {
    Arm(ctx, request_.timeout);
    if (auto kept = lines_->TakeKept(target_)) return Send(*std::move(kept));
    Resolve();
  } catch (...) {
    FailByException();
  }
}

void PendingCall::Arm(const Context& ctx, std::chrono::milliseconds timeout) {
  std::chrono::nanoseconds left = timeout;
  if (const auto deadline = ctx.deadline()) left = std::min(left, *deadline - RealClock().Now());
  timer_.expires_after(std::max(left, std::chrono::nanoseconds(0)));
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->Fail(Reason::kTimeout, self->TimedOut());
  });
  auto registration = ctx.OnDone(FailLater(Reason::kTimeout, "context canceled"));
  std::swap(*registration_.Lock(), registration);
  // The call may have ended already, before there was anything to unregister.
  if (finished_) Unregister();
}

void PendingCall::Resolve() {
  resolved_ = true;
  resolver_.async_resolve(target_.to_host, target_.to_port,
                          [self = shared_from_this()](const auto& error, const Resolved& resolved) {
                            self->OnResolved(error, resolved);
                          });
}

void PendingCall::OnResolved(const boost::system::error_code& error, const Resolved& resolved) {
  if (finished_) return;
  if (error) {
    const bool nobody = error == boost::asio::error::host_not_found;
    return Fail(Reason::kServiceUnavailable, "dial tcp: lookup " + target_.to_host + ": " +
                                                 (nobody ? "no such host" : error.message()));
  }
  // Untried addresses of the other family are left to cpprestsdk, by the name; it cannot parse
  // those of IPv6.
  bool other = false;
  for (const auto& entry : resolved) {
    const auto address = entry.endpoint().address();
    other = other || !address.is_v4();
    if (address.is_v4()) endpoints_.push_back({address.to_string(), Wire::Tcp::v4()});
  }
  if (other) endpoints_.push_back({target_.to_host, Wire::Tcp::v6()});
  TryNext();
}

void PendingCall::TryNext() {
  try {
    if (!resolved_) return Resolve();
    Endpoint next = std::move(endpoints_.front());
    endpoints_.pop_front();
    Send(lines_->TakeNew(target_, next));
  } catch (...) {
    FailByException();
  }
}

void PendingCall::Send(Line line) {
  body_ = std::make_shared<BoundedBody>(
      response_bytes_max_,
      FailLater(Reason::kRequestEntityTooLarge,
                "the answer is longer than " + std::to_string(response_bytes_max_) + " bytes"));
  line.wire->Begin();
  line.peer->Allow(response_bytes_max_ + FramingBytesMax(response_bytes_max_),
                   FailLater(Reason::kRequestEntityTooLarge,
                             "the answer's head and framing are longer than they may be"));
  web::http::http_request request = NewRequest(target_, request_);
  request.set_response_stream(
      concurrency::streams::ostream(concurrency::streams::streambuf<std::uint8_t>(body_)));
  pplx::task<Response> sent;
  {
    auto mine = line_.Lock();
    std::swap(*mine, line);
    if (finished_) return;  // The end may have cut only the previous connection.
    sent = mine->client->request(request);
  }
  // Every task's outcome is read: cpprestsdk ends the process over an unobserved exception.
  sent.then([self = shared_from_this()](const pplx::task<Response>& task) { self->OnHead(task); });
}

void PendingCall::OnHead(const pplx::task<Response>& task) {
  try {
    const Response response = task.get();
    const auto length = response.headers().content_length();
    response.content_ready().then(
        [self = shared_from_this()](const pplx::task<Response>& whole) { self->OnEnd(whole); });
    if (length > response_bytes_max_) {
      FailLater(Reason::kRequestEntityTooLarge, "the answer has " + std::to_string(length) +
                                                    " bytes, more than " +
                                                    std::to_string(response_bytes_max_))();
    }
  } catch (const web::http::http_exception& error) {
    if (error.what() != kNotConnected) return FailByException();
    if (finished_) return;
    const bool kept = !resolved_;
    if (!kept && not_connected_.empty()) {
      not_connected_ = NotConnected(line_.Lock()->to, error.error_code());
    }
    if (kept || !endpoints_.empty()) return TryNext();
    Fail(Reason::kServiceUnavailable, not_connected_);
  } catch (...) {
    FailByException();
  }
}

void PendingCall::OnEnd(const pplx::task<Response>& task) {
  try {
    const Response response = task.get();
    // cpprestsdk passes interim responses on like others.
    if (response.status_code() < 200 || response.status_code() > 999) {
      return Fail(Reason::kServiceUnavailable,
                  "the server answered " + std::to_string(response.status_code()));
    }
    http::ClientResponse answer{.code = response.status_code()};
    for (const auto& [name, value] : response.headers()) answer.headers.Add(name, value);
    answer.body = body_->Take();
    body_->WhenGone([self = shared_from_this(), answer = std::move(answer)]() mutable {
      self->Finish(std::move(answer));
    });
    body_.reset();
  } catch (...) {
    FailByException();
  }
}

UniqueFunction<void()> PendingCall::FailLater(Reason reason, std::string why) {
  return [weak = weak_from_this(), reason, why = std::move(why)] {
    crossplat::threadpool::shared_instance().service().post([weak, reason, why] {
      if (const auto self = weak.lock()) self->Fail(reason, why);
    });
  };
}

std::string PendingCall::TimedOut() {
  const auto line = line_.Lock();
  if (!line->wire || line->wire->Connected()) return "context deadline exceeded";
  return "dial tcp " + line->to + ": i/o timeout";
}

void PendingCall::Fail(Reason reason, const std::string& why) {
  Finish(Status(reason, name_ + ": " + why));
}

void PendingCall::FailByException() {
  std::string why = "unknown error";
  try {
    throw;
  } catch (const web::http::http_exception& error) {
    why = error.what();
    if (error.error_code() == std::errc::connection_reset) {
      return Finish(ConnectionReset(name_ + ": " + why + ": connection reset by peer"));
    }
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): what has no words is unknown
  }
  const auto peer = line_.Lock()->peer;
  const std::string tls = peer ? peer->Why() : "";
  Fail(Reason::kServiceUnavailable, tls.empty() ? why : "tls: " + tls);
}

void PendingCall::Finish(Result<http::ClientResponse> result) {
  if (finished_.exchange(true)) return;
  HttpClient::Done done = std::exchange(done_, nullptr);
  try {
    Release(result.ok());
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing that the answer depends on
  }
  try {
    done(std::move(result));
  } catch (...) {  // NOLINT(bugprone-empty-catch): cpprestsdk's threads must not see it
  }
}

void PendingCall::Release(bool whole) {
  timer_.cancel();
  Unregister();
  // After an error the connection is closed: bytes that may still arrive belong to no later call.
  auto line = line_.Lock();
  if (whole) {
    lines_->GiveBack(std::move(*line));
  } else if (line->wire) {
    line->wire->Cut();
  }
}

void PendingCall::Unregister() {
  Context::Registration dropped;  // After the lock is given up.
  std::swap(*registration_.Lock(), dropped);
}

}  // namespace apiserver::v0::client
