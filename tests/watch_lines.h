#pragma once

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/testing/server/test_server.h"

namespace apiserver::inline v0::testing {

// One open watch in process, read line by line; a line that does not come within ten seconds fails
// the test.
class Lines {
 public:
  Lines(TestServer& server, std::string target, http::Headers headers = {})
      : connection_(server.server().LoopbackConnection()) {
    http::ClientRequest request{.target = std::move(target), .headers = std::move(headers)};
    stream_ = std::move(connection_->Open(request)).value();
    head_ = std::move(stream_->Head(Deadline())).value();
  }

  const http::ResponseHead& head() const { return head_; }

  // Without its newline; empty: the stream has ended.
  std::string Next() {
    while (true) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      const std::string more = NextBytes();
      if (more.empty()) return "";
      buffer_ += more;
    }
  }
  // As they come; empty: the stream has ended.
  std::string NextBytes() {
    auto more = stream_->Read(Deadline());
    REQUIRE(more.ok());
    return *more;
  }

 private:
  static Context Deadline() {
    return Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
  }

  std::unique_ptr<http::Connection> connection_;
  std::unique_ptr<http::ClientStream> stream_;
  http::ResponseHead head_;
  std::string buffer_;
};

}  // namespace apiserver::inline v0::testing
