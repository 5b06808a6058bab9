// RFC 6455, the server's side: frames as tables, then whole connections (docs/security.md, row 94).
#include "apiserver/http/websocket.h"

#include <catch2/catch.hpp>

#include "http/websocket_frame.h"
#include "support.h"
#include "websocket_client.h"

namespace http_test {
namespace {

using apiserver::testing::ClientFrame;
using apiserver::testing::ClosePayload;
using apiserver::testing::ServerFrame;
using apiserver::testing::WebSocketClient;

// Everything a reader says, as one line.
class Said final : public WebSocketReader::Sink {
 public:
  void OnData(WebSocketMessage message) override {
    Add((message.binary ? "binary " : "text ") + message.data);
  }
  void OnPing(std::string_view payload) override { Add("ping " + std::string(payload)); }
  void OnCloseFrame(int code, std::string_view reason) override {
    Add("close " + std::to_string(code) + " " + std::string(reason));
  }
  void Add(const std::string& what) { line += (line.empty() ? "" : "|") + what; }
  std::string line;
};

std::string ReadAs(std::string_view bytes, std::size_t piece, std::size_t message_bytes_max = 64) {
  WebSocketReader reader(message_bytes_max);
  Said said;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (const auto failure = reader.Receive(bytes.substr(at, piece), said)) {
      said.Add("fail " + std::to_string(failure->code));
    }
  }
  return said.line;
}

struct FrameCase {
  const char* what;
  std::string bytes;
  std::string said;
};

std::string Header(std::initializer_list<int> bytes) {
  std::string header;
  for (const int byte : bytes) header += static_cast<char>(byte);
  return header;
}

const std::vector<FrameCase> kFrames = {
    {"a text", ClientFrame(0x81, "Hello"), "text Hello"},
    {"RFC 6455, 5.7: a masked text", "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "text Hello"},
    {"an empty text", ClientFrame(0x81, ""), "text "},
    {"binary", ClientFrame(0x82, "\xff\xfe"), "binary \xff\xfe"},
    {"two in a row", ClientFrame(0x81, "a") + ClientFrame(0x82, "b"), "text a|binary b"},
    {"fragments", ClientFrame(0x01, "Hel") + ClientFrame(0x00, "") + ClientFrame(0x80, "lo"),
     "text Hello"},
    {"a ping between fragments",
     ClientFrame(0x02, "a") + ClientFrame(0x89, "p") + ClientFrame(0x80, "b"), "ping p|binary ab"},
    {"a character in two fragments", ClientFrame(0x01, "\xc3") + ClientFrame(0x80, "\xa4"),
     "text \xc3\xa4"},
    {"a ping of 125 bytes", ClientFrame(0x89, std::string(125, 'p')),
     "ping " + std::string(125, 'p')},
    {"a pong that nobody asked for", ClientFrame(0x8a, "x") + ClientFrame(0x81, "a"), "text a"},
    {"a message of the longest size", ClientFrame(0x81, std::string(64, 'x')),
     "text " + std::string(64, 'x')},
    {"a close", ClientFrame(0x88, ClosePayload(1000, "bye")), "close 1000 bye"},
    {"a close without code", ClientFrame(0x88, ""), "close 1005 "},
    {"a close of an application", ClientFrame(0x88, ClosePayload(4999)), "close 4999 "},
    {"what follows a close", ClientFrame(0x88, ClosePayload(1001)) + ClientFrame(0x81, "a"),
     "close 1001 "},

    {"no mask", "\x81\x05Hello", "fail 1002"},
    {"RSV1", ClientFrame(0xc1, "a"), "fail 1002"},
    {"RSV2", ClientFrame(0xa1, "a"), "fail 1002"},
    {"RSV3", ClientFrame(0x91, "a"), "fail 1002"},
    {"opcode 3", ClientFrame(0x83, "a"), "fail 1002"},
    {"opcode 7", ClientFrame(0x87, "a"), "fail 1002"},
    {"opcode 11", ClientFrame(0x8b, "a"), "fail 1002"},
    {"opcode 15", ClientFrame(0x8f, "a"), "fail 1002"},
    {"a fragmented ping", ClientFrame(0x09, "a"), "fail 1002"},
    {"a fragmented close", ClientFrame(0x08, ""), "fail 1002"},
    {"a ping of 126 bytes", ClientFrame(0x89, std::string(126, 'p')), "fail 1002"},
    {"nothing to continue", ClientFrame(0x80, "a"), "fail 1002"},
    {"nothing to continue any more",
     ClientFrame(0x01, "a") + ClientFrame(0x80, "b") + ClientFrame(0x80, "c"), "text ab|fail 1002"},
    {"a text in a text", ClientFrame(0x01, "a") + ClientFrame(0x81, "b"), "fail 1002"},
    {"a length in two bytes that fits one", Header({0x82, 0xfe, 0, 125, 0, 0, 0, 0}), "fail 1002"},
    {"a length in eight bytes that fits two",
     Header({0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0}), "fail 1002"},
    {"a length of 2^63", Header({0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "fail 1002"},
    {"a length of 2^63 - 1",
     Header({0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}), "fail 1009"},
    {"a message too big", ClientFrame(0x81, std::string(65, 'x')), "fail 1009"},
    {"fragments too big",
     ClientFrame(0x01, std::string(60, 'x')) + ClientFrame(0x80, std::string(5, 'x')), "fail 1009"},
    {"a close code in one byte", ClientFrame(0x88, "\x03"), "fail 1002"},
    {"close code 0", ClientFrame(0x88, ClosePayload(0)), "fail 1002"},
    {"close code 999", ClientFrame(0x88, ClosePayload(999)), "fail 1002"},
    {"close code 1004", ClientFrame(0x88, ClosePayload(1004)), "fail 1002"},
    {"close code 1005", ClientFrame(0x88, ClosePayload(1005)), "fail 1002"},
    {"close code 1006", ClientFrame(0x88, ClosePayload(1006)), "fail 1002"},
    {"close code 1015", ClientFrame(0x88, ClosePayload(1015)), "fail 1002"},
    {"close code 2999", ClientFrame(0x88, ClosePayload(2999)), "fail 1002"},
    {"close code 5000", ClientFrame(0x88, ClosePayload(5000)), "fail 1002"},
    {"a reason that is no UTF-8", ClientFrame(0x88, ClosePayload(1000, "\xff")), "fail 1007"},
    {"text that is no UTF-8", ClientFrame(0x81, "a\xff"), "fail 1007"},
    {"half a character", ClientFrame(0x81, "\xe2\x82"), "fail 1007"},
    {"an overlong character", ClientFrame(0x81, "\xc0\xaf"), "fail 1007"},
    {"an overlong character of three bytes", ClientFrame(0x81, "\xe0\x9f\xbf"), "fail 1007"},
    {"a surrogate", ClientFrame(0x81, "\xed\xa0\x80"), "fail 1007"},
    {"beyond U+10FFFF", ClientFrame(0x81, "\xf4\x90\x80\x80"), "fail 1007"},
    {"U+10FFFF", ClientFrame(0x81, "\xf4\x8f\xbf\xbf"), "text \xf4\x8f\xbf\xbf"},
    {"what follows a failure", ClientFrame(0x83, "a") + ClientFrame(0x81, "a"), "fail 1002"},
};

// Answers "x" with "<x>"; knows a few words besides.
class Host final : public WebSocketHandler {
 public:
  explicit Host(Journal& journal) : journal_(journal) {}
  void OnOpen(const std::shared_ptr<WebSocket>& socket) override {
    journal_.Add("open " + socket->protocol());
  }
  void OnMessage(WebSocket& socket, WebSocketMessage message) override {
    if (message.data == "close") return socket.Close(4001, "asked to");
    if (message.data == "throw") throw std::runtime_error("a host's mistake");
    socket.Send({.data = "<" + message.data + ">", .binary = message.binary});
  }
  void OnClose(int code, const std::string& reason) override {
    journal_.Add("close " + std::to_string(code) + " " + reason);
  }

 private:
  Journal& journal_;
};

struct HostServer {
  explicit HostServer(WebSocketOptions options = {}, Wire wire = Wire::kHttp1)
      : service([this, options](Exchange& exchange) {
          return AcceptWebSocket(exchange, options, std::make_unique<Host>(journal));
        }),
        server(service.service, wire),
        connection(server.Connect()) {}

  Journal journal;
  TestService service;
  TestServer server;
  std::unique_ptr<Connection> connection;
};

}  // namespace

TEST_CASE("http: a WebSocket's frames are read as RFC 6455 says, in whatever pieces", "[http]") {
  for (const FrameCase& each : kFrames) {
    INFO(each.what);
    CHECK(ReadAs(each.bytes, each.bytes.size()) == each.said);
    CHECK(ReadAs(each.bytes, 1) == each.said);
    CHECK(ReadAs(each.bytes, 3) == each.said);
  }
}

TEST_CASE("http: a server's frames carry the shortest length and no mask", "[http]") {
  const auto begin = [](std::size_t size) {
    std::string frame;
    AppendWebSocketFrame(WebSocketOpcode::kBinary, std::string(size, 'x'), frame);
    return frame.substr(0, frame.size() - size);
  };
  CHECK(begin(0) == Header({0x82, 0}));
  CHECK(begin(125) == Header({0x82, 125}));
  CHECK(begin(126) == Header({0x82, 126, 0, 126}));
  CHECK(begin(65535) == Header({0x82, 126, 0xff, 0xff}));
  CHECK(begin(65536) == Header({0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}));
}

TEST_CASE("http: a close reason is cut between characters", "[http]") {
  const std::string long_reason = std::string(122, 'a') + "\xc3\xa4";
  CHECK(WebSocketClosePayload(1000, long_reason).size() == 124);
  CHECK(WebSocketClosePayload(1005, "x").empty());
}

TEST_CASE("http: a WebSocket echoes messages and closes when the client does", "[http]") {
  HostServer host({.protocols = {"chat"}}, GENERATE(Wire::kHttp1, Wire::kTlsHttp1));
  WebSocketClient client(*host.connection, "/chat", "superchat, chat");

  REQUIRE(client.head().code == 101);
  // RFC 6455, 1.3.
  CHECK(client.head().headers.Get("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(client.head().headers.Get("Sec-WebSocket-Protocol") == "chat");
  CHECK(client.head().headers.Get("Upgrade") == "websocket");
  client.SendText("hello");
  CHECK(client.Read() == ServerFrame{0x81, "<hello>"});
  client.Write(ClientFrame(0x89, "are you there"));
  CHECK(client.Read() == ServerFrame{0x8a, "are you there"});
  client.Write(ClientFrame(0x02, std::string(70000, 'x')) + ClientFrame(0x80, "y"));
  CHECK(client.Read() == ServerFrame{0x82, "<" + std::string(70000, 'x') + "y>"});
  client.Write(ClientFrame(0x88, ClosePayload(1001, "bye")));
  CHECK(client.Read() == ServerFrame{0x88, ClosePayload(1001)});
  CHECK(client.Read() == ServerFrame{});
  CHECK(host.service.ends.Await("101 ok"));
  CHECK(host.journal.Text() == "open chat close 1001 bye");
}

TEST_CASE("http: a host closes a WebSocket with a code and a reason", "[http]") {
  HostServer host;
  WebSocketClient client(*host.connection, "/");

  client.Write(ClientFrame(0x81, "close") + ClientFrame(0x81, "ignored"));
  CHECK(client.Read() == ServerFrame{0x88, ClosePayload(4001, "asked to")});
  client.SendClose(4001);
  CHECK(client.Read() == ServerFrame{});
  CHECK(host.service.ends.Await("101 ok"));
  CHECK(host.journal.Text() == "open  close 4001 ");
}

TEST_CASE("http: a peer that does not answer a Close is cut off", "[http]") {
  HostServer host({.close_timeout = std::chrono::milliseconds(1)});
  WebSocketClient client(*host.connection, "/");

  client.SendText("close");
  CHECK(client.Read().close_code() == 4001);
  CHECK(client.Read() == ServerFrame{});
  CHECK(host.journal.Await("close 1006 "));
}

TEST_CASE("http: a client that breaks the rules of WebSockets is told the code", "[http]") {
  HostServer host({.message_bytes_max = 10});
  struct Case {
    std::string bytes;
    int code;
  };
  const auto [bytes, code] =
      GENERATE(Case{"\x81\x05Hello", 1002}, Case{ClientFrame(0x81, "\xff"), 1007},
               Case{ClientFrame(0x81, "0123456789a"), 1009});
  WebSocketClient client(*host.connection, "/");

  client.Write(bytes);

  const ServerFrame frame = client.Read();
  CHECK(frame.close_code() == code);
  CHECK(client.Read() == ServerFrame{});
  CHECK(host.journal.Await("close " + std::to_string(code) + " " + frame.payload.substr(2)));
}

TEST_CASE("http: a host hears of a client that just goes", "[http]") {
  HostServer host;
  WebSocketClient client(*host.connection, "/");
  client.SendText("hello");
  REQUIRE(client.Read().text());

  client.Cancel();

  CHECK(host.journal.Await("close 1006 "));
  CHECK(host.service.ends.Await("101 ok"));
}

TEST_CASE("http: a host's exception ends the WebSocket, not the server", "[http]") {
  HostServer host;
  WebSocketClient client(*host.connection, "/");

  client.SendText("throw");

  CHECK(client.Read() == ServerFrame{});
  WebSocketClient next(*host.server.Connect(), "/");
  CHECK(next.head().code == 101);
}

TEST_CASE("http: what asks for no WebSocket, or wrongly, is refused", "[http]") {
  HostServer host({.protocols = {"chat"}});
  struct Case {
    const char* what;
    const char* name;
    const char* value;
    int code;
  };
  const auto each =
      GENERATE(Case{"another version", "Sec-WebSocket-Version", "8", 400},
               Case{"no version", "Sec-WebSocket-Version", nullptr, 400},
               Case{"no key", "Sec-WebSocket-Key", nullptr, 400},
               Case{"a short key", "Sec-WebSocket-Key", "YWJj", 400},
               Case{"no base64", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j!Q==", 400},
               Case{"no upgrade", "Upgrade", nullptr, 400},
               Case{"another upgrade", "Upgrade", "SPDY/3.1", 400},
               Case{"no connection", "Connection", "keep-alive", 400},
               Case{"other protocols", "Sec-WebSocket-Protocol", "a, b", 403},
               Case{"no protocol", "Sec-WebSocket-Protocol", nullptr, 403});
  Headers headers{{"Connection", "keep-alive, Upgrade"},
                  {"Upgrade", "WebSocket"},
                  {"Sec-WebSocket-Version", "13"},
                  {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                  {"Sec-WebSocket-Protocol", "chat"}};
  if (each.value != nullptr) {
    headers.Set(each.name, each.value);
  } else {
    headers.Remove(each.name);
  }

  const auto answer = host.connection->Call(Soon(), {.target = "/", .headers = headers});

  INFO(each.what);
  REQUIRE(answer.ok());
  CHECK(answer->code == each.code);
  if (std::string_view(each.name) == "Sec-WebSocket-Version") {
    CHECK(answer->headers.Get("Sec-WebSocket-Version") == "13");
  }
}

TEST_CASE("http: a peer that answers no ping is cut off, one that does is not", "[http][slow]") {
  HostServer host({.ping_interval = std::chrono::milliseconds(700)});
  WebSocketClient client(*host.connection, "/");
  for (int i = 0; i < 2; ++i) {
    REQUIRE(client.Read() == ServerFrame{0x89, ""});
    client.Write(ClientFrame(0x8a, ""));
  }

  while (client.Read().first == 0x89) {
  }

  CHECK(host.journal.Await("close 1006 "));
}

namespace {

// Counts up for ever, as fast as the peer reads.
class Counter final : public WebSocketHandler {
 public:
  explicit Counter(std::atomic<std::size_t>& written) : written_(written) {}
  Pull Next(WebSocketWriter& out, const Waker&) override {
    const std::string piece(std::min<std::size_t>(out.room(), 4096), 'x');
    out.Write(piece, /*binary=*/true);
    written_ += piece.size();
    return Pull::kMore;
  }

 private:
  std::atomic<std::size_t>& written_;
};

}  // namespace

TEST_CASE("http: a WebSocket's stream waits for a peer that does not read, pings are answered",
          "[http]") {
  std::atomic<std::size_t> written{0};
  TestService service([&](Exchange& exchange) {
    return AcceptWebSocket(exchange, {}, std::make_unique<Counter>(written));
  });
  TestServer server(service.service, Wire::kHttp1);
  const auto connection = server.Connect(/*window_bytes=*/64 << 10);
  WebSocketClient client(*connection, "/");
  REQUIRE(client.Read().binary());
  client.Write(ClientFrame(0x89, "p"));

  std::size_t read = 0;
  ServerFrame frame = client.Read();
  while (frame.binary()) {
    read += frame.payload.size();
    frame = client.Read();
  }

  CHECK(frame == ServerFrame{0x8a, "p"});
  // Socket buffers on both sides, and no more.
  CHECK(written < read + (std::size_t{32} << 20));
}

// Row 88 of docs/security.md.
TEST_CASE("http: a client that takes no answers is not read, and gets all of them in the end",
          "[http]") {
  constexpr std::size_t kMessages = 512;
  const std::string payload(64 << 10, 'm');
  TestService service([](Exchange& exchange) {
    return AcceptWebSocket(
        exchange, {.unsent_bytes_max = std::size_t{1} << 20},
        [](WebSocket& socket, WebSocketMessage message) { socket.Send(std::move(message)); });
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send(
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  std::string messages;
  for (std::size_t i = 0; i < kMessages; ++i) messages += ClientFrame(0x82, payload);

  const std::size_t sent = client.SendSome(messages);
  CHECK(sent < messages.size());
  Thread rest("rest", [&] {
    client.Send(std::string_view(messages).substr(sent));
    client.Send(ClientFrame(0x88, ClosePayload(1000)));
  });
  const std::string answers = client.ReadAll();
  rest.Join();

  // A frame of 64 KiB has a header of ten bytes; the last is the Close.
  CHECK(answers.size() == kMessages * (payload.size() + 10) + 4);
  CHECK(service.ends.Await("101 ok"));
}

TEST_CASE("http: a host that pauses is sent no messages until it resumes", "[http]") {
  constexpr std::size_t kMessages = 256;
  const std::string payload(64 << 10, 'm');
  // Takes one message at a time.
  struct Taker final : WebSocketHandler {
    explicit Taker(Guarded<std::shared_ptr<WebSocket>>& its_kept,
                   std::atomic<std::size_t>& its_taken)
        : kept(its_kept), taken(its_taken) {}
    void OnOpen(const std::shared_ptr<WebSocket>& socket) override { *kept.Lock() = socket; }
    void OnMessage(WebSocket& socket, WebSocketMessage /*message*/) override {
      ++taken;
      socket.Pause();
    }
    Guarded<std::shared_ptr<WebSocket>>& kept;
    std::atomic<std::size_t>& taken;
  };
  Guarded<std::shared_ptr<WebSocket>> kept;
  std::atomic<std::size_t> taken{0};
  TestService service([&](Exchange& exchange) {
    return AcceptWebSocket(exchange, {}, std::make_unique<Taker>(kept, taken));
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send(
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  std::string messages;
  for (std::size_t i = 0; i < kMessages; ++i) messages += ClientFrame(0x82, payload);

  const std::size_t sent = client.SendSome(messages);
  CHECK(sent < messages.size());
  // One read of the socket holds a few messages.
  CHECK(taken < 8);
  Thread rest("rest", [&] {
    client.Send(std::string_view(messages).substr(sent));
    client.Send(ClientFrame(0x88, ClosePayload(1000)));
  });
  while (taken < kMessages) {
    if (const auto socket = *kept.Lock()) socket->Resume();
  }
  (*kept.Lock())->Resume();
  rest.Join();

  CHECK(client.ReadAll().size() == 4);
  CHECK(service.ends.Await("101 ok"));
}

TEST_CASE("http: Send from another thread reaches the client, in order", "[http]") {
  class Keeper final : public WebSocketHandler {
   public:
    explicit Keeper(Guarded<std::shared_ptr<WebSocket>>& kept) : kept_(kept) {}
    void OnOpen(const std::shared_ptr<WebSocket>& socket) override {
      *kept_.Lock() = socket;
      kept_.NotifyAll();
    }

   private:
    Guarded<std::shared_ptr<WebSocket>>& kept_;
  };
  Guarded<std::shared_ptr<WebSocket>> kept;
  TestService service([&](Exchange& exchange) {
    return AcceptWebSocket(exchange, {}, std::make_unique<Keeper>(kept));
  });
  TestServer server(service.service, Wire::kHttp1);
  const auto connection = server.Connect();
  WebSocketClient client(*connection, "/");
  std::shared_ptr<WebSocket> socket;
  {
    auto locked = kept.Lock();
    REQUIRE(locked.WaitUntil(RealClock().Now() + kPatience, [&] { return *locked != nullptr; }));
    socket = *locked;
  }

  for (int i = 0; i < 3; ++i) socket->Send({.data = std::to_string(i)});
  socket->Close(1000, "done");
  socket->Send({.data = "too late"});

  CHECK(client.Read() == ServerFrame{0x81, "0"});
  CHECK(client.Read() == ServerFrame{0x81, "1"});
  CHECK(client.Read() == ServerFrame{0x81, "2"});
  CHECK(client.Read() == ServerFrame{0x88, ClosePayload(1000, "done")});
}

}  // namespace http_test
