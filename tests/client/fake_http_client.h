#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/client/http_client.h"

namespace apiserver::inline v0::testing {

// Answers at once with what `answer` says, or keeps the call until the test ends it.
class FakeHttpClient final : public client::HttpClient {
 public:
  using Answer = std::function<Result<http::ClientResponse>(const client::HttpRequest&)>;

  explicit FakeHttpClient(Answer answer = nullptr) : answer_(std::move(answer)) {}

  void Start(const Context& /*ctx*/, client::HttpRequest request, Done done) override {
    requests.push_back(std::move(request));
    if (answer_) return done(answer_(requests.back()));
    open.push_back(std::move(done));
  }
  // Ends the oldest call that is open.
  void End(Result<http::ClientResponse> result) {
    Done done = std::move(open.front());
    open.pop_front();
    done(std::move(result));
  }

  std::vector<client::HttpRequest> requests;
  std::deque<Done> open;

 private:
  Answer answer_;
};

}  // namespace apiserver::inline v0::testing
