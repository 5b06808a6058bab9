// Calls and streams that need a token, over a transport that a test plays.
#include "storage/etcd/token_rpc.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/etcd/convert.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

// A transport whose calls a test answers.
class PlayedRpc final : public Rpc {
 public:
  struct Played {
    std::string method;
    Done done;
  };

  std::shared_ptr<RpcCall> Unary(const std::string& method, std::string /*request*/,
                                 const RpcOptions& /*options*/, Done done) override {
    calls.push_back({method, std::move(done)});
    return std::make_shared<Cancelled>(cancelled);
  }
  std::shared_ptr<RpcStream> Stream(const std::string& method,
                                    std::shared_ptr<RpcStreamHandler> handler) override {
    methods.push_back(method);
    handlers.push_back(std::move(handler));
    return std::make_shared<Written>(*this);
  }
  std::size_t members() const override { return 1; }

  // Answers the oldest call.
  void Answer(RpcOutcome outcome, std::string response = "") {
    REQUIRE_FALSE(calls.empty());
    Done done = std::move(calls.front().done);
    calls.erase(calls.begin());
    done(std::move(outcome), std::move(response));
  }
  void AnswerLogin(const std::string& token) {
    REQUIRE_FALSE(calls.empty());
    REQUIRE(calls.front().method == "/etcdserverpb.Auth/Authenticate");
    wire::AuthenticateResponse response;
    response.set_token(token);
    Answer({}, response.SerializeAsString());
  }

  std::vector<Played> calls;
  std::vector<std::string> methods;
  std::vector<std::shared_ptr<RpcStreamHandler>> handlers;
  std::vector<std::string> written;
  int cancelled = 0;

 private:
  struct Cancelled final : RpcCall {
    explicit Cancelled(int& of) : count(of) {}
    void Cancel() override { ++count; }
    int& count;
  };
  struct Written final : RpcStream {
    explicit Written(PlayedRpc& of) : rpc(of) {}
    void Write(std::string message) override { rpc.written.push_back(std::move(message)); }
    void Cancel() override { ++rpc.cancelled; }
    PlayedRpc& rpc;
  };
};

struct Token {
  std::shared_ptr<PlayedRpc> played = std::make_shared<PlayedRpc>();
  std::shared_ptr<SharedToken> token = std::make_shared<SharedToken>();
  std::shared_ptr<Rpc> rpc = NewTokenRpc(played, {"me", "secret"}, token);
  std::vector<std::string> ended;  // By Call(): its code and whether it was sent.

  std::shared_ptr<RpcCall> Call() {
    return rpc->Unary("/x", "request", {}, [this](const RpcOutcome& outcome, const std::string&) {
      ended.push_back(std::to_string(static_cast<int>(outcome.code)) +
                      (outcome.sent ? " sent" : ""));
    });
  }
};

const RpcOutcome kForgotten{RpcCode::kUnauthenticated, "etcdserver: invalid auth token"};

TEST_CASE("storage.etcd: calls that come together wait for one login", "[storage.etcd]") {
  Token t;
  for (int i = 0; i < 3; ++i) (void)t.Call();
  REQUIRE(t.played->calls.size() == 1);
  t.played->AnswerLogin("first");
  CHECK(*t.token->Lock() == "first");
  CHECK(t.played->calls.size() == 3);
  for (int i = 0; i < 3; ++i) t.played->Answer({});
  CHECK(t.ended == std::vector<std::string>{"0 sent", "0 sent", "0 sent"});
}

TEST_CASE("storage.etcd: calls refused for their token are repeated once, after one login",
          "[storage.etcd]") {
  Token t;
  for (int i = 0; i < 2; ++i) (void)t.Call();
  t.played->AnswerLogin("first");
  t.played->Answer(kForgotten);
  t.played->Answer(kForgotten);
  REQUIRE(t.played->calls.size() == 1);
  t.played->AnswerLogin("second");
  CHECK(*t.token->Lock() == "second");
  REQUIRE(t.played->calls.size() == 2);
  t.played->Answer({});
  // A second refusal is the outcome.
  t.played->Answer(kForgotten);
  CHECK(t.ended == std::vector<std::string>{"0 sent", "16 sent"});
}

TEST_CASE("storage.etcd: a failed login fails the calls that wait for it, as not sent",
          "[storage.etcd]") {
  Token t;
  for (int i = 0; i < 2; ++i) (void)t.Call();
  t.played->Answer({RpcCode::kUnavailable, "away"});
  CHECK(t.ended == std::vector<std::string>{"14", "14"});
  // The next call tries again.
  (void)t.Call();
  t.played->AnswerLogin("first");
  t.played->Answer({});
  CHECK(t.ended.back() == "0 sent");
}

TEST_CASE("storage.etcd: a call is cancelled while it waits for a token, and later",
          "[storage.etcd]") {
  Token t;
  const auto waiting = t.Call();
  waiting->Cancel();
  CHECK(t.ended == std::vector<std::string>{"1"});
  const auto running = t.Call();
  t.played->AnswerLogin("first");
  REQUIRE(t.played->calls.size() == 1);
  running->Cancel();
  CHECK(t.played->cancelled == 1);
  t.played->Answer({RpcCode::kCancelled, "cancelled"});
  CHECK(t.ended == std::vector<std::string>{"1", "1 sent"});
}

// Keeps how a stream has ended.
struct Ends final : RpcStreamHandler {
  void OnMessage(std::string /*message*/) override {}
  void OnEnd(const RpcOutcome& outcome) override { codes.push_back(outcome.code); }
  std::vector<RpcCode> codes;
};

TEST_CASE("storage.etcd: a stream opens with a token, and keeps what was written before",
          "[storage.etcd]") {
  Token t;
  const auto ends = std::make_shared<Ends>();
  const auto stream = t.rpc->Stream("/watch", ends);
  stream->Write("one");
  stream->Write("two");
  CHECK(t.played->methods.empty());
  t.played->AnswerLogin("first");
  CHECK(t.played->methods == std::vector<std::string>{"/watch"});
  stream->Write("three");
  CHECK(t.played->written == std::vector<std::string>{"one", "two", "three"});
  stream->Cancel();
  CHECK(t.played->cancelled == 1);
  CHECK(ends->codes.empty());  // The open stream tells its end itself.

  // A young token is not given up.
  CHECK_FALSE(t.rpc->RenewCredentials());
}

TEST_CASE("storage.etcd: a stream that waits for a token ends when cancelled, or without one",
          "[storage.etcd]") {
  Token t;
  const auto cancelled = std::make_shared<Ends>();
  const auto stream = t.rpc->Stream("/watch", cancelled);
  stream->Cancel();
  CHECK(cancelled->codes == std::vector<RpcCode>{RpcCode::kCancelled});
  const auto refused = std::make_shared<Ends>();
  (void)t.rpc->Stream("/watch", refused);
  t.played->Answer({RpcCode::kInvalidArgument,
                    "etcdserver: authentication failed, invalid user ID or password"});
  CHECK(refused->codes == std::vector<RpcCode>{RpcCode::kInvalidArgument});
  CHECK(cancelled->codes.size() == 1);
  CHECK(t.played->methods.empty());
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
