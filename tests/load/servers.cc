#include "load/servers.h"

#include <chrono>
#include <utility>

namespace load {

using apiserver::Context;
using apiserver::RealClock;
using apiserver::Result;
using apiserver::Status;

namespace {

constexpr auto kRequestTime = std::chrono::seconds(60);
// Both servers are gone for so long: that is no rolling restart.
constexpr auto kNoServerTime = std::chrono::seconds(60);
constexpr auto kPause = std::chrono::milliseconds(5);

}  // namespace

void Servers::Leave() {
  connection_ = nullptr;
  at_ = (at_ + 1) % addresses_.size();
  turn_ = 0;
  ++figures_.moves;
}

apiserver::http::Connection* Servers::Current() {
  if (connection_ && (connection_->closed() || (turns_ > 0 && turn_ >= turns_))) Leave();
  const auto until = RealClock().Now() + kNoServerTime;
  while (!connection_ && RealClock().Now() < until) {
    auto dialled = dialer_.Dial(Context::Child(Context::Background(), until), addresses_[at_]);
    if (dialled.ok()) {
      connection_ = *std::move(dialled);
      break;
    }
    Leave();
    apiserver::Notification never;
    (void)never.WaitFor(kPause);
  }
  return connection_.get();
}

bool Servers::NothingSent(const Status& status) {
  return status.message() == "the connection takes no more requests";
}

bool Servers::CrossedAnEnd(const Status& status) const {
  return !addresses_[at_].http2 && turn_ > 1 && status.message() == "connection closed by the peer";
}

Result<apiserver::http::ClientResponse> Servers::Call(
    const apiserver::http::ClientRequest& request) {
  for (;;) {
    apiserver::http::Connection* connection = Current();
    if (!connection) {
      Status gone(apiserver::Reason::kServiceUnavailable, "no server can be reached");
      figures_.Fail(std::string(gone.message()));
      return gone;
    }
    ++turn_;
    auto answer = connection->Call(
        Context::Child(Context::Background(), RealClock().Now() + kRequestTime), request);
    if (!answer.ok() && (NothingSent(answer.status()) || CrossedAnEnd(answer.status()))) {
      Leave();
      continue;
    }
    ++figures_.requests;
    if (!answer.ok() || answer->code < 200 || answer->code >= 300) {
      figures_.Fail(request.method + " " + request.target + ": " +
                    (answer.ok() ? std::to_string(answer->code) + " " + answer->body.substr(0, 200)
                                 : answer.status().ToString()));
    }
    return answer;
  }
}

}  // namespace load
