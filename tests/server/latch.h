#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/http/dialer.h"
#include "apiserver/testing/server/test_server.h"

// For tests of functions of a host's that stand still: a latch in one of them, and requests that
// are served, or not, meanwhile.
namespace apiserver::inline v0::testing {

// A test that has waited so long for something has failed.
inline constexpr std::chrono::seconds kGenerous(60);

// Holds what passes it until it is let go.
class Latch {
 public:
  // False: it was never let go.
  bool Pass() {
    ++passed_;
    entered_.Notify();
    return let_go_.WaitFor(kGenerous);
  }
  bool WaitUntilEntered() const { return entered_.WaitFor(kGenerous); }
  void LetGo() { let_go_.Notify(); }
  int passed() const { return passed_; }

 private:
  Notification entered_;
  Notification let_go_;
  std::atomic<int> passed_ = 0;
};

// The options of a server whose connections all live on one loop.
inline TestServerOptions OnOneLoop() {
  return {.listen = true, .configure = [](auto& config) { config.serving->threads = 1; }};
}

// A request over a connection of its own.
inline http::ClientResponse CallAlone(TestServer& server, http::ClientRequest request) {
  const auto dialer = http::NewDialer();
  const auto options = client::DialOptionsFor(server.kubeconfig()).value();
  const auto connection = dialer->Dial(Context::Background(), options).value();
  return connection->Call(Context::Background(), std::move(request)).value();
}
inline http::ClientResponse GetAlone(TestServer& server, std::string target,
                                     http::Headers headers = {}) {
  return CallAlone(server, {.target = std::move(target), .headers = std::move(headers)});
}

// What `work` returns, on a thread of its own.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<std::string()> work)
      : thread_("meanwhile", [this, work = std::move(work)] {
          result_ = work();
          done_ = true;
        }) {}
  bool done() const { return done_; }
  const std::string& Await() {
    thread_.Join();
    return result_;
  }

 private:
  std::string result_;
  std::atomic<bool> done_ = false;
  Thread thread_;
};

}  // namespace apiserver::inline v0::testing
