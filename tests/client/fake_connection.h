#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::client {

// A stream that gives out its chunks, then ends or fails.
class FakeStream final : public http::ClientStream {
 public:
  FakeStream(int code, std::deque<std::string> chunks, Status at_end = Status::Ok())
      : code_(code), chunks_(std::move(chunks)), at_end_(std::move(at_end)) {}

  Result<http::ResponseHead> Head(const Context&) override {
    return http::ResponseHead{.code = code_, .headers = {}};
  }
  Result<std::string> Read(const Context&) override {
    if (chunks_.empty()) {
      if (!at_end_.ok()) return at_end_;
      return std::string();
    }
    std::string chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return chunk;
  }
  Status Write(std::string_view) override { return Status::Ok(); }
  void Cancel() override {}

 private:
  int code_;
  std::deque<std::string> chunks_;
  Status at_end_;
};

// Records what is asked and gives prepared answers, one after the other; the last one stays.
class FakeConnection final : public http::Connection {
 public:
  std::vector<http::ClientRequest> requests;
  std::deque<http::ClientResponse> answers;
  std::unique_ptr<http::ClientStream> stream;
  Status failure;  // Of all calls, unless it is OK.
  bool is_closed = false;

  Result<http::ClientResponse> Call(const Context&, const http::ClientRequest& request) override {
    requests.push_back(request);
    if (!failure.ok()) return failure;
    if (answers.empty()) return Status(Reason::kServiceUnavailable, "connection lost");
    http::ClientResponse answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }
  Result<std::unique_ptr<http::ClientStream>> Open(const http::ClientRequest& request) override {
    requests.push_back(request);
    if (!failure.ok()) return failure;
    return std::move(stream);
  }
  bool closed() const override { return is_closed; }
};

}  // namespace apiserver::inline v0::client
