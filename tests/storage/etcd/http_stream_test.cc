#include "storage/etcd/http_stream.h"

#include "../../http/support.h"
#include "storage/etcd/fixture.h"
#include "storage/etcd/grpc_frames.h"

// Streams of the transport with servers that are not an etcd, or no longer one.
namespace apiserver::inline v0::storage::etcd {
namespace {

using http_test::FrameServer;
using std::chrono::milliseconds;

// Writes down what a stream tells.
class Handler final : public RpcStreamHandler {
 public:
  void OnMessage(std::string message) override { journal.Add("[" + message + "]"); }
  void OnEnd(const RpcOutcome& outcome) override {
    journal.Add(std::to_string(static_cast<int>(outcome.code)) +
                (outcome.sent ? " sent: " : " unsent: ") + outcome.message);
  }
  http_test::Journal journal;
};

// Returns what a stream tells that a server answers with `frames`.
std::string StreamAfter(const std::string& frames, bool closes = false) {
  FrameServer server(frames, closes);
  const auto handler = std::make_shared<Handler>();
  const auto rpc = RpcTo({server.port()});
  const auto stream = rpc->Stream(kAnyMethod, handler);
  stream->Write("one");
  stream->Write("two");
  const auto over = [&] {
    const auto lines = handler->journal.lines();
    return !lines.empty() && !lines.back().starts_with("[");
  };
  const bool ended = Eventually(over);
  CHECK(ended);
  stream->Write("late");
  rpc->Stop();
  CHECK(server.seen().requests == 1);
  return handler->journal.Text();
}

TEST_CASE("storage.etcd: a stream tells its messages and its end", "[storage.etcd]") {
  const std::string messages = FrameOf("a") + FrameOf("") + FrameOf("bc");
  std::string pieces = kHead;
  for (const char byte : messages) pieces += Data(std::string(1, byte));
  CHECK(StreamAfter(pieces + Trailers("14")) == "[a] [] [bc] 14 sent: ");
  CHECK(StreamAfter(kHead + Data(messages) + Trailers("0")) ==
        "[a] [] [bc] 14 sent: etcd has ended the stream");
  CHECK(StreamAfter(kHead + Data(messages + "\x01zzzz" + messages)) ==
        "[a] [] [bc] 15 sent: the message is compressed");
  CHECK(StreamAfter(kHead + Frame(0, 1, messages)) ==
        "[a] [] [bc] 2 sent: the answer has no status");
  CHECK(StreamAfter(kHead + Data(messages), /*closes=*/true).starts_with("[a] [] [bc] 14 sent: "));
  CHECK(StreamAfter(kRefused) == "14 unsent: stream reset: REFUSED_STREAM");
  // None of these heads ends its stream.
  CHECK(StreamAfter(kPlainHead) == "2 sent: the server answers 200, not in gRPC");
  CHECK(StreamAfter(Frame(1, 4, "\x88" + Field("grpc-status", "7"))) == "7 sent: ");
}

TEST_CASE("storage.etcd: what is written before a stream has begun is sent", "[storage.etcd]") {
  FrameServer server("");
  const auto handler = std::make_shared<Handler>();
  const auto rpc = RpcTo({server.port()});
  const auto stream = rpc->Stream(kAnyMethod, handler);
  stream->Write("one");
  stream->Write("two");
  CHECK(Eventually([&] { return server.seen().data == FrameOf("one") + FrameOf("two"); }));
  stream->Write("three");
  CHECK(Eventually([&] { return server.seen().data.ends_with(FrameOf("three")); }));
  SECTION("its caller ends it") {
    stream->Cancel();
    stream->Cancel();
    REQUIRE(handler->journal.AwaitCount(1));
    CHECK(handler->journal.Text() == "1 sent: cancelled");
    rpc->Stop();
  }
  SECTION("the transport ends it") {
    rpc->Stop();
    CHECK(handler->journal.Text().starts_with("14 sent: "));
  }
  stream->Write("late");
  stream->Cancel();
  CHECK(handler->journal.lines().size() == 1);
}

TEST_CASE("storage.etcd: a stream without a member ends", "[storage.etcd]") {
  const auto handler = std::make_shared<Handler>();
  SECTION("when its dial fails") {
    const http_test::Deaf closed(/*listens=*/false);
    const auto rpc = RpcTo({closed.port});
    const auto stream = rpc->Stream(kAnyMethod, handler);
    REQUIRE(handler->journal.AwaitCount(1));
    CHECK(handler->journal.Text().starts_with("14 unsent: dial tcp"));
    rpc->Stop();
  }
  SECTION("when the transport stops during its dial") {
    const http_test::Deaf hangs;
    HttpRpcOptions options = OptionsTo({hangs.port});
    options.endpoints[0].tls = true;
    const auto rpc = NewHttpRpc(options);
    const auto stream = rpc->Stream(kAnyMethod, handler);
    Notification().WaitFor(milliseconds(20));
    rpc->Stop();
    CHECK(handler->journal.Text().starts_with("14 unsent: "));
  }
  CHECK(handler->journal.lines().size() == 1);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
