#include "apiserver/proxy/stream_tunnel.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "fake_kubelet.h"
#include "proxy/spdy_frame.h"
#include "websocket_client.h"

namespace proxy_test {
namespace {

using apiserver::testing::ClientFrame;
using apiserver::testing::ServerFrame;
using apiserver::testing::WebSocketClient;
using http_test::TestServer;
using http_test::TestService;
using http_test::Wire;

constexpr const char* kTunnel = "SPDY/3.1+portforward.k8s.io";

// A server that serves every request by a kubelet's port-forward.
struct TunnelServer {
  explicit TunnelServer(const std::string& host)
      : dialer(http::NewDialer()),
        service([this](http::Exchange& exchange) { return rules.ServeHTTP(exchange); }) {
    rules.location = {.host = host, .path = "/portForward/ns/pod"};
    rules.pool = proxy::NewUpstreamPool({.dialer = dialer.get()}).value();
    rules.on_request = [this](int code) { codes.Add(std::to_string(code)); };
    service.service.write_error = [](http::Exchange& exchange, const Status& error) {
      exchange.writer().Send({.code = error.code()}, error.ToString());
    };
    server = std::make_unique<TestServer>(service.service, Wire::kHttp1);
    connection = server->Connect();
  }
  WebSocketClient Client(std::string protocols = kTunnel) {
    return WebSocketClient(*connection, "/api/v1/portforward", std::move(protocols),
                           {{"User-Agent", "kubectl"}, {"Authorization", "Bearer secret"}});
  }

  // A client whose request `kubelet` answers so.
  WebSocketClient AnsweredBy(http_test::RawServer& kubelet, std::string_view answer) {
    std::optional<WebSocketClient> client;
    Thread asking("asking", [&] { client.emplace(Client()); });
    auto asked = kubelet.Accept();
    asked.ReadUntil("\r\n\r\n");
    asked.Send(answer);
    asking.Join();
    return *std::move(client);
  }

  http_test::Journal codes;
  std::unique_ptr<http::Dialer> dialer;
  proxy::TunnelingHandler rules;
  TestService service;
  std::unique_ptr<TestServer> server;
  std::unique_ptr<http::Connection> connection;
};

// Echoes the data streams of a port-forward.
FakeKubelet::Script EchoPorts() {
  return {.data = [](FakeKubelet::Command& command, const std::string& stream,
                     std::string_view bytes) { (void)command.Write(stream, bytes); },
          .protocol = "portforward.k8s.io"};
}

// Writes data frames down.
struct DataLog final : proxy::SpdyFrameSink {
  void OnSynStream(proxy::SpdySynStream) override {}
  void OnSynReply(proxy::SpdyStreamId, http::Headers, bool) override { ++replies; }
  void OnHeaders(proxy::SpdyStreamId, http::Headers, bool) override {}
  void OnData(proxy::SpdyStreamId, std::string_view bytes, bool) override { data += bytes; }
  void OnRstStream(proxy::SpdyStreamId, proxy::SpdyReset) override {}
  void OnPing(std::uint32_t) override {}
  void OnGoAway(proxy::SpdyStreamId, proxy::SpdyGoAway) override {}
  std::string data;
  int replies = 0;
};

}  // namespace

// TestTunnelingHandler_UpgradeStreamingAndTunneling.
TEST_CASE("proxy: a tunnel carries SPDY in the messages of a WebSocket", "[proxy]") {
  FakeKubelet kubelet(EchoPorts());
  TunnelServer tunnel(kubelet.host());
  auto client = tunnel.Client();
  REQUIRE(client.head().code == 101);
  CHECK(client.head().headers.Get("Sec-WebSocket-Protocol") == kTunnel);
  CHECK(tunnel.codes.Await("101"));
  proxy::SpdyFrameWriter writer;
  std::string bytes;
  REQUIRE(writer.SynStream(1, {{"streamtype", "data"}, {"port", "80"}}, false, bytes));
  const std::string text(std::size_t{1} << 20, 'x');
  proxy::SpdyFrameWriter::Data(1, text, false, bytes);
  Thread sending("sending", [&] {
    // The bounds of messages mean nothing: the first frame comes in three.
    client.Write(ClientFrame(0x82, bytes.substr(0, 3)));
    client.Write(ClientFrame(0x82, bytes.substr(3, 10)));
    for (std::size_t at = 13; at < bytes.size(); at += 40'000) {
      client.Write(ClientFrame(0x82, bytes.substr(at, 40'000)));
    }
  });
  proxy::SpdyFrameReader reader;
  DataLog log;
  while (log.data.size() < text.size()) {
    const ServerFrame frame = client.Read();
    REQUIRE(frame.binary());
    REQUIRE(reader.Receive(frame.payload, log).ok());
  }
  sending.Join();
  CHECK(log.data == text);
  CHECK(log.replies == 1);
  client.SendClose(1000);
  CHECK(kubelet.journal().Await("over"));
  const http::Request asked = kubelet.requests().at(0);
  CHECK(asked.method == "POST");
  CHECK(asked.target == "/portForward/ns/pod");
  CHECK(asked.headers.Get("Upgrade") == "SPDY/3.1");
  CHECK(asked.headers.GetAll("X-Stream-Protocol-Version") ==
        std::vector<std::string_view>{"portforward.k8s.io"});
  CHECK(asked.headers.Get("User-Agent") == "kubectl");
  CHECK_FALSE(asked.headers.Has("Authorization"));
  CHECK_FALSE(asked.headers.Has("Sec-WebSocket-Key"));
}

// TestTunnelingHandler_BadRequestWithoutProtcols, …_BadHandshakeError.
TEST_CASE("proxy: a tunnel is for WebSockets that offer SPDY", "[proxy]") {
  FakeKubelet kubelet(EchoPorts());
  TunnelServer tunnel(kubelet.host());
  auto client = tunnel.Client("v4.channel.k8s.io, SPDY/3.1+other");
  CHECK(client.head().code == 400);
  CHECK(client.ReadBody() == "BadRequest: unable to upgrade: no tunneling spdy protocols provided");
  CHECK(tunnel.codes.Await("400"));
  CHECK(kubelet.journal().lines().empty());
}

// TestTunnelingHandler_UpstreamSPDYServerErrorPropagated.
TEST_CASE("proxy: a refusal of the kubelet is the tunnel's answer", "[proxy]") {
  http_test::RawServer kubelet;
  TunnelServer tunnel("127.0.0.1:" + std::to_string(kubelet.port()));
  auto client = tunnel.AnsweredBy(
      kubelet,
      "HTTP/1.1 500 Internal Server Error\r\nX-Kubelet: yes\r\nContent-Type: text/plain\r\n"
      "Content-Length: 7\r\n\r\nno port");
  CHECK(client.head().code == 500);
  CHECK(client.head().headers.Get("X-Kubelet") == "yes");
  CHECK(client.ReadBody() == "no port");
  CHECK(tunnel.codes.Await("500"));
}

TEST_CASE("proxy: a 101 to another protocol opens no tunnel", "[proxy]") {
  http_test::RawServer kubelet;
  TunnelServer tunnel("127.0.0.1:" + std::to_string(kubelet.port()));
  auto client = tunnel.AnsweredBy(
      kubelet, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h3\r\n\r\n");
  CHECK(client.head().code == 500);
  CHECK(client.ReadBody().find("missing upgrade headers in response") != std::string::npos);
}

TEST_CASE("proxy: a tunnel ends with its kubelet, its client, or a text message", "[proxy]") {
  FakeKubelet::Script script = EchoPorts();
  script.opened = [](FakeKubelet::Command& command, const std::string& stream) {
    if (stream == "end") command.session->Close();
  };
  FakeKubelet kubelet(std::move(script));
  TunnelServer tunnel(kubelet.host());
  auto client = tunnel.Client();
  REQUIRE(client.head().code == 101);
  const int way = GENERATE(0, 1, 2);
  if (way == 0) {
    proxy::SpdyFrameWriter writer;
    std::string bytes;
    REQUIRE(writer.SynStream(1, {{"streamtype", "end"}}, false, bytes));
    client.Write(ClientFrame(0x82, bytes));
  } else if (way == 1) {
    client.Cancel();
  } else {
    client.SendText("what is this");
  }
  if (way != 1) {
    ServerFrame frame = client.Read();
    while (frame.binary()) frame = client.Read();
    CHECK(frame.close_code() == 1000);
    client.SendClose(1000);
  }
  CHECK(kubelet.journal().Await("over"));
  CHECK(tunnel.service.ends.AwaitCount(1));
}

// The loop of the kubelet's connection may go on without the server.
TEST_CASE("proxy: a tunnel keeps nothing of a request when its server has gone", "[proxy]") {
  struct Held {
    std::shared_ptr<int> value;
  };
  FakeKubelet kubelet(EchoPorts());
  TunnelServer tunnel(kubelet.host());
  std::weak_ptr<int> held;
  tunnel.service.AddFilter().begin = [&](http::Exchange& exchange) {
    auto value = std::make_shared<int>(1);
    held = value;
    exchange.ctx().Set(Held{std::move(value)});
    return http::Step::Next();
  };
  auto client = tunnel.Client();
  REQUIRE(client.head().code == 101);
  proxy::SpdyFrameWriter writer;
  std::string bytes;
  REQUIRE(writer.SynStream(1, {{"streamtype", "data"}, {"port", "80"}}, false, bytes));
  client.Write(ClientFrame(0x82, bytes));
  REQUIRE(client.Read().binary());
  REQUIRE_FALSE(held.expired());
  Notification go_on;
  tunnel.dialer->loop().Post([&] { go_on.Wait(); });

  tunnel.server->StopListening();

  CHECK(held.expired());
  go_on.Notify();
  CHECK(kubelet.journal().Await("over"));
}

// A refused write must not hide what came before: what a kubelet said last is why it closed.
TEST_CASE("proxy: a tunnel passes on what its kubelet sent before it closed", "[proxy]") {
  http_test::RawServer kubelet;
  TunnelServer tunnel("127.0.0.1:" + std::to_string(kubelet.port()));
  std::optional<WebSocketClient> client;
  Thread asking("asking", [&] { client.emplace(tunnel.Client()); });
  {
    auto asked = kubelet.Accept();
    asked.ReadUntil("\r\n\r\n");
    asked.Send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
        "X-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n");
    asking.Join();
    REQUIRE(client->head().code == 101);
    asked.Send("last words");
  }
  // The kubelet is gone: some of this meets a closed connection.
  for (int i = 0; i < 8; ++i) client->Write(ClientFrame(0x82, std::string(4096, 'x')));
  std::string heard;
  ServerFrame frame = client->Read();
  for (; frame.binary(); frame = client->Read()) heard += frame.payload;
  CHECK(heard == "last words");
  CHECK(frame.close_code() == 1000);
}

}  // namespace proxy_test
