#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/client/http_client.h"

namespace apiserver::inline v0::authn {

// Keeps the calls it gets until the test answers them. Any thread.
class FakeHttpClient final : public client::HttpClient {
 public:
  void Start(const Context&, client::HttpRequest request, Done done) override {
    auto calls = calls_.Lock();
    calls->requests.push_back(std::move(request));
    if (calls->answers.empty()) {
      calls->waiting.push_back(std::move(done));
      calls_.NotifyAll();
      return;
    }
    Result<http::ClientResponse> answer = std::move(calls->answers.front());
    calls->answers.pop_front();
    { auto released = std::move(calls); }
    done(std::move(answer));
  }

  // The next call that comes is answered at once.
  void AnswerNext(Result<http::ClientResponse> answer) {
    calls_.Lock()->answers.push_back(std::move(answer));
  }
  // Answers the call that has waited longest. The test knows that there is one.
  void Answer(Result<http::ClientResponse> answer) {
    Done done;
    {
      const auto calls = calls_.Lock();
      done = std::move(calls->waiting.front());
      calls->waiting.pop_front();
    }
    done(std::move(answer));
  }

  std::vector<client::HttpRequest> requests() const { return calls_.Lock()->requests; }
  std::size_t waiting() const { return calls_.Lock()->waiting.size(); }
  // False: ten seconds were not enough.
  bool WaitForWaiting(std::size_t count) {
    auto calls = calls_.Lock();
    return calls.WaitUntil(std::chrono::steady_clock::now() + std::chrono::seconds(60),
                           [&] { return calls->waiting.size() >= count; });
  }

 private:
  struct Calls {
    std::vector<client::HttpRequest> requests;
    std::deque<Result<http::ClientResponse>> answers;
    std::deque<Done> waiting;
  };
  mutable Guarded<Calls> calls_;
};

// A TokenReview with this status, as JSON.
inline http::ClientResponse Review(const std::string& status, int code = 201) {
  return {.code = code,
          .body = R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},)"
                  R"("spec":{},"status":)" +
                  status + "}"};
}

}  // namespace apiserver::inline v0::authn
