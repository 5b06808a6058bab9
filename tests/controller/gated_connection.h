#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/http/dialer.h"

namespace controller_test {

// A connection whose requests a test holds, refuses or loses.
class GatedConnection final : public apiserver::http::Connection {
 public:
  explicit GatedConnection(std::unique_ptr<Connection> to) : to_(std::move(to)) {}

  // Keeps requests until Open(), whatever their contexts say. They are sent then.
  void Hold() { state_.Lock()->held = true; }
  void Open() {
    *state_.Lock() = {};
    state_.NotifyAll();
  }
  // Answers requests with this Status instead of sending them.
  void Refuse(apiserver::http::ClientResponse with) { state_.Lock()->refusal = std::move(with); }
  // Fails requests as if no server were there.
  void Cut() { state_.Lock()->cut = true; }
  int waiting() const { return *waiting_.Lock(); }
  // Returns how many requests the server has answered.
  int answered() const { return *answered_.Lock(); }
  // The method and target of each request that was made.
  std::vector<std::string> requests() const { return *requests_.Lock(); }

  apiserver::Result<apiserver::http::ClientResponse> Call(
      const apiserver::Context& ctx, const apiserver::http::ClientRequest& request) override {
    using namespace apiserver;
    requests_.Lock()->push_back(request.method + " " + request.target);
    bool late = false;
    {
      auto state = state_.Lock();
      if (state->cut) return Status(Reason::kServiceUnavailable, "no route to host");
      if (state->refusal) return *state->refusal;
      if (state->held) {
        late = true;
        ++*waiting_.Lock();
        state.Wait([&] { return !state->held; });
        --*waiting_.Lock();
      }
    }
    auto answer = to_->Call(late ? Context::Background() : ctx, request);
    ++*answered_.Lock();
    return answer;
  }
  apiserver::Result<std::unique_ptr<apiserver::http::ClientStream>> Open(
      const apiserver::http::ClientRequest& request) override {
    return to_->Open(request);
  }
  bool closed() const override { return false; }

 private:
  struct State {
    bool held = false;
    bool cut = false;
    std::optional<apiserver::http::ClientResponse> refusal = {};
  };
  const std::unique_ptr<Connection> to_;
  apiserver::Guarded<State> state_;
  apiserver::Guarded<int> waiting_{0};
  apiserver::Guarded<int> answered_{0};
  apiserver::Guarded<std::vector<std::string>> requests_;
};

// The body of a refusal.
inline apiserver::http::ClientResponse Refusal(int code, const std::string& reason,
                                               const std::string& message) {
  return {.code = code,
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + reason +
                  R"(","message":")" + message + R"(","code":)" + std::to_string(code) + "}"};
}

}  // namespace controller_test
