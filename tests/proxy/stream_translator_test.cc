#include "apiserver/proxy/stream_translator.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_kubelet.h"
#include "proxy/remote_command_outcome.h"
#include "websocket_client.h"

namespace proxy_test {
namespace {

using apiserver::testing::ClientFrame;
using apiserver::testing::ServerFrame;
using apiserver::testing::WebSocketClient;
using http_test::TestServer;
using http_test::TestService;
using http_test::Wire;
using proxy::RemoteCommandStreams;

constexpr std::string_view kSuccess = R"({"metadata":{},"status":"Success"})";
constexpr RemoteCommandStreams kAll{.stdin_open = true, .stdout_open = true, .stderr_open = true};

// A server that serves every request by a kubelet's exec.
struct Translator {
  explicit Translator(const std::string& host, RemoteCommandStreams streams)
      : dialer(http::NewDialer()),
        service([this](http::Exchange& exchange) { return rules.ServeHTTP(exchange); }) {
    rules.location = {.host = host, .path = "/exec/ns/pod/c", .raw_query = "input=1&command=cat"};
    rules.pool = proxy::NewUpstreamPool({.dialer = dialer.get()}).value();
    rules.streams = streams;
    rules.on_request = [this](int code) { codes.Add(std::to_string(code)); };
    service.service.write_error = [](http::Exchange& exchange, const Status& error) {
      exchange.writer().Send({.code = error.code()}, error.ToString());
    };
    server = std::make_unique<TestServer>(service.service, Wire::kHttp1);
    connection = server->Connect();
  }
  WebSocketClient Client(std::string protocols = "v5.channel.k8s.io") {
    return WebSocketClient(*connection, "/api/v1/exec", std::move(protocols));
  }

  http_test::Journal codes;
  std::unique_ptr<http::Dialer> dialer;
  proxy::StreamTranslatorHandler rules;
  TestService service;
  std::unique_ptr<TestServer> server;
  std::unique_ptr<http::Connection> connection;
};

std::string Message(int channel, std::string_view bytes) {
  return ClientFrame(0x82, std::string(1, static_cast<char>(channel)).append(bytes));
}

// Collects the bytes of each channel until the WebSocket is closed.
struct Heard {
  explicit Heard(WebSocketClient& client) {
    while (true) {
      const ServerFrame frame = client.Read();
      if (frame.first == 0x89) continue;
      if (!frame.binary() || frame.payload.empty()) {
        close_code = frame.close_code();
        return;
      }
      channels[frame.payload[0]] += frame.payload.substr(1);
    }
  }
  std::map<int, std::string> channels;
  int close_code = 0;
};

std::string Random(std::size_t bytes) {
  std::string text;
  std::uint64_t state = 12345;
  while (text.size() < bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += static_cast<char>(state >> 40U);
  }
  return text;
}

// Sends stdin back on `to`, and ends when stdin does.
FakeKubelet::Script Echo(const std::string& to) {
  return {
      .data =
          [to](FakeKubelet::Command& command, const std::string& stream, std::string_view bytes) {
            if (stream == "stdin") (void)command.Write(to, bytes);
          },
      .ended =
          [](FakeKubelet::Command& command, const std::string& stream) {
            if (stream == "stdin") command.Exit("");
          }};
}

}  // namespace

// TestStreamTranslator_LoopbackStdinToStdout, …ToStderr.
TEST_CASE("proxy: a translated exec carries stdin to an output and back", "[proxy]") {
  const auto [stream, channel] = GENERATE(table<std::string, int>({{"stdout", 1}, {"stderr", 2}}));
  FakeKubelet kubelet(Echo(stream));
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  REQUIRE(client.head().code == 101);
  CHECK(client.head().headers.Get("Sec-WebSocket-Protocol") == "v5.channel.k8s.io");
  // The client is told at once that it may write.
  CHECK(client.Read() == ServerFrame{0x82, std::string(1, 1)});
  const std::string text = Random(std::size_t{1} << 20);
  Thread writer("writer", [&] {
    for (std::size_t at = 0; at < text.size(); at += 10'000) {
      client.Write(Message(0, std::string_view(text).substr(at, 10'000)));
    }
    client.Write(ClientFrame(0x82, std::string("\xff\x00", 2)));
  });
  Heard heard(client);
  writer.Join();
  CHECK(heard.channels[channel] == text);
  CHECK(heard.channels[3] == kSuccess);
  CHECK(heard.close_code == 1000);
  CHECK(translator.codes.Await("200"));
  CHECK(kubelet.journal().lines().at(0) == "POST /exec/ns/pod/c?input=1&command=cat");
}

TEST_CASE("proxy: a kubelet is asked for the streams of a command, in their order", "[proxy]") {
  struct Case {
    RemoteCommandStreams streams;
    std::string opened;
  };
  const auto each =
      GENERATE(Case{kAll, "open error open stdin open stdout open stderr"},
               Case{{.stdout_open = true}, "open error open stdout"},
               Case{{.stdin_open = true, .stdout_open = true, .stderr_open = true, .tty = true},
                    "open error open stdin open stdout open resize"},
               Case{{.stderr_open = true}, "open error open stderr"});
  FakeKubelet kubelet({.opened = [](FakeKubelet::Command&, const std::string&) {}});
  Translator translator(kubelet.host(), each.streams);
  auto client = translator.Client();
  REQUIRE(client.head().code == 101);
  const std::size_t count = 1 + (each.opened.size() + 5) / 11;
  (void)kubelet.journal().AwaitCount(std::min<std::size_t>(count, 3));
  client.Write(ClientFrame(0x88, apiserver::testing::ClosePayload(1000)));
  CHECK(kubelet.journal().Await("over"));
  std::string opened;
  for (const auto& line : kubelet.journal().lines()) {
    if (line.starts_with("open")) opened += (opened.empty() ? "" : " ") + line;
  }
  CHECK(opened == each.opened);
  const auto request = kubelet.requests().at(0);
  CHECK(request.headers.Get("Upgrade") == "SPDY/3.1");
  CHECK(request.headers.GetAll("X-Stream-Protocol-Version").size() == 5);
  CHECK_FALSE(request.headers.Has("Sec-WebSocket-Key"));
}

// TestStreamTranslator_ErrorStream.
TEST_CASE("proxy: a translated exec ends with its exit code", "[proxy]") {
  FakeKubelet kubelet(
      {.data = [](FakeKubelet::Command& command, const std::string& stream, std::string_view) {
        if (stream != "stdin") return;
        (void)command.Write("stdout", "last words");
        command.Exit(
            R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit )"
            R"(code: exit status 137","reason":"NonZeroExitCode","details":{"causes":[)"
            R"({"reason":"ExitCode","message":"137"}]}})");
      }});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  client.Write(Message(0, "go"));
  Heard heard(client);
  CHECK(heard.channels[1] == "last words");
  CHECK(heard.channels[3] ==
        R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit )"
        R"(code: command terminated with exit code 137","reason":"NonZeroExitCode","details":)"
        R"({"causes":[{"reason":"ExitCode","message":"137"}]}})");
  CHECK(heard.close_code == 1000);
  CHECK(translator.codes.Await("200"));
}

// TestStreamTranslator_MultipleReadChannels.
TEST_CASE("proxy: a translated exec keeps its two outputs apart", "[proxy]") {
  const std::string text = Random(300'000);
  FakeKubelet kubelet(
      {.data = [text](FakeKubelet::Command& command, const std::string& stream, std::string_view) {
        if (stream != "stdin") return;
        for (std::size_t at = 0; at < text.size(); at += 30'000) {
          (void)command.Write("stdout", std::string_view(text).substr(at, 30'000));
          (void)command.Write("stderr", std::string_view(text).substr(at, 30'000));
        }
        command.Exit("");
      }});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  client.Write(Message(0, "go"));
  Heard heard(client);
  CHECK(heard.channels[1] == text);
  CHECK(heard.channels[2] == text);
  CHECK(heard.channels[3] == kSuccess);
}

// TestStreamTranslator_TTYResizeChannel.
TEST_CASE("proxy: the sizes of a terminal reach the kubelet as lines of JSON", "[proxy]") {
  Guarded<std::string> sizes;
  FakeKubelet kubelet({.data = [&sizes](FakeKubelet::Command& command, const std::string& stream,
                                        std::string_view bytes) {
    if (stream == "resize") *sizes.Lock() += bytes;
    if (stream == "stdin") command.Exit("");
  }});
  Translator translator(kubelet.host(), {.stdin_open = true, .stdout_open = true, .tty = true});
  auto client = translator.Client();
  client.Write(Message(4, R"({"Width":80,"Height":24})"));
  client.Write(Message(4, R"({"Width":120,"Height":50})"));
  // Empty and unknown channels are ignored.
  client.Write(Message(0, ""));
  client.Write(Message(9, "x"));
  client.Write(Message(0, "end"));
  Heard heard(client);
  CHECK(heard.channels[3] == kSuccess);
  CHECK(*sizes.Lock() == "{\"Width\":80,\"Height\":24}\n{\"Width\":120,\"Height\":50}\n");
}

// TestStreamTranslator_WebSocketServerErrors.
TEST_CASE("proxy: what is no WebSocket of v5 is refused before the kubelet is asked", "[proxy]") {
  FakeKubelet kubelet({});
  Translator translator(kubelet.host(), kAll);
  CHECK(translator.Client("v4.channel.k8s.io").head().code == 403);
  CHECK(translator.codes.Await("400"));
  const auto plain = translator.server->Connect()->Call(http_test::Soon(), {.target = "/exec"});
  REQUIRE(plain.ok());
  CHECK(plain->code == 400);
  CHECK(kubelet.journal().lines().empty());
}

// Upstream tells these on channel 3, after a 101; kubectl tries SPDY after an error of HTTP.
TEST_CASE("proxy: a kubelet that does not switch protocols is an error of HTTP", "[proxy]") {
  struct Case {
    std::string answer;
    int code;
    std::string body;
  };
  const auto each = GENERATE(
      Case{"HTTP/1.1 404 Not Found\r\nContent-Length: 17\r\n\r\nno such container", 500,
           "InternalError: Internal error occurred: unable to upgrade connection: no such "
           "container"},
      Case{"HTTP/1.1 403 Forbidden\r\nContent-Length: 85\r\n\r\n"
           R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
           R"("message":"not you","code":403})",
           403, "Unknown: not you"},
      // TestStreamTranslator_BlockRedirects.
      Case{"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", 500,
           "InternalError: Internal error occurred: unable to upgrade connection: redirect not "
           "allowed"},
      Case{"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", 500,
           "InternalError: Internal error occurred: unable to upgrade: missing upgrade headers in "
           "response"},
      Case{"", 500, ""});
  http_test::RawServer kubelet;
  Translator translator("127.0.0.1:" + std::to_string(kubelet.port()), kAll);
  std::optional<WebSocketClient> client;
  Thread asking("asking", [&] { client.emplace(translator.Client()); });
  {
    auto asked = kubelet.Accept();
    asked.ReadUntil("\r\n\r\n");
    asked.Send(each.answer);
  }
  asking.Join();
  CHECK(client->head().code == each.code);
  if (!each.body.empty()) CHECK(client->ReadBody() == each.body);
  CHECK(translator.codes.Await(std::to_string(each.code)));
}

TEST_CASE("proxy: a kubelet that cannot be reached is an error of HTTP", "[proxy]") {
  Translator translator("127.0.0.1:1", kAll);
  auto client = translator.Client();
  CHECK(client.head().code == 500);
  CHECK(client.ReadBody().find("error dialing backend: dial tcp 127.0.0.1:1") != std::string::npos);
}

// A kubelet's connection may be reset before the ends of all streams have come.
TEST_CASE("proxy: an outcome counts although the kubelet's streams did not end", "[proxy]") {
  FakeKubelet kubelet(
      {.data = [](FakeKubelet::Command& command, const std::string&, std::string_view) {
        (void)command.Write("stdout", "last words");
        (void)command.Write("error", R"({"metadata":{},"status":"Success"})");
        command.session->Close();
      }});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  client.Write(Message(0, "go"));
  Heard heard(client);
  CHECK(heard.channels[1] == "last words");
  CHECK(heard.channels[3] == kSuccess);
  CHECK(translator.codes.Await("200"));
}

TEST_CASE("proxy: a kubelet that is lost is an internal error for the client", "[proxy]") {
  FakeKubelet kubelet({.data = [](FakeKubelet::Command& command, const std::string&,
                                  std::string_view) { command.session->Cancel(); }});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  client.Write(Message(0, "die"));
  Heard heard(client);
  CHECK(heard.channels[3].find(R"("reason":"InternalError")") != std::string::npos);
  CHECK(heard.channels[3].find("error reading from") != std::string::npos);
  CHECK(heard.close_code == 1000);
  CHECK(translator.codes.Await("500"));
}

TEST_CASE("proxy: a kubelet that refuses a stream is an internal error", "[proxy]") {
  FakeKubelet kubelet({.refuses_streams = true});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  Heard heard(client);
  CHECK(heard.channels[3].find("Stream reset") != std::string::npos);
}

TEST_CASE("proxy: a command ends when its client goes", "[proxy]") {
  FakeKubelet kubelet({});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  REQUIRE(client.Read().binary());
  CHECK(kubelet.journal().Await("open stderr"));
  client.Cancel();
  CHECK(kubelet.journal().Await("end stdin"));
  CHECK(kubelet.journal().Await("over"));
  CHECK(translator.service.ends.AwaitCount(1));
  CHECK(translator.codes.Await("500"));
}

TEST_CASE("proxy: a close that names no channel ends a translated exec", "[proxy]") {
  const auto message = GENERATE(as<std::string>(), std::string("\xff"), std::string("\xff\x09", 2),
                                std::string("\xff\x00\x00", 3));
  FakeKubelet kubelet({});
  Translator translator(kubelet.host(), kAll);
  auto client = translator.Client();
  client.Write(ClientFrame(0x82, message));
  Heard heard(client);
  CHECK(heard.close_code == 1000);
  CHECK(kubelet.journal().Await("over"));
}

// The loop of the kubelet's connection belongs to the host, and may go on without the server.
TEST_CASE("proxy: a translated exec keeps nothing of a request when its server has gone",
          "[proxy]") {
  struct Held {
    std::shared_ptr<int> value;
  };
  FakeKubelet kubelet({});
  Translator translator(kubelet.host(), kAll);
  std::weak_ptr<int> held;
  translator.service.AddFilter().begin = [&](http::Exchange& exchange) {
    auto value = std::make_shared<int>(1);
    held = value;
    exchange.ctx().Set(Held{std::move(value)});
    return http::Step::Next();
  };
  auto client = translator.Client();
  REQUIRE(client.Read().binary());
  REQUIRE(kubelet.journal().Await("open stderr"));
  REQUIRE_FALSE(held.expired());
  Notification go_on;
  translator.dialer->loop().Post([&] { go_on.Wait(); });

  translator.server->StopListening();

  CHECK(held.expired());
  go_on.Notify();
  CHECK(kubelet.journal().Await("over"));
}

// Writes to stdout for as long as there is room.
struct Flood {
  static constexpr std::size_t kPiece = 64 << 10;
  static constexpr std::size_t kPieces = 1024;
  void operator()(FakeKubelet::Command& command) {
    while (pieces < kPieces) {
      ++pieces;
      if (!command.Write("stdout", std::string(kPiece, 'x'))) return;
    }
    command.Exit("");
  }
  std::atomic<std::size_t> pieces{0};
};

// Waits until `count` has stayed the same for a while, and returns it.
std::size_t Settled(const std::atomic<std::size_t>& count) {
  std::size_t before = 0;
  do {
    before = count;
    Notification().WaitFor(std::chrono::milliseconds(300));
  } while (count == 0 || before != count);
  return before;
}

TEST_CASE("proxy: a client that does not read holds its kubelet back", "[proxy]") {
  Flood flood;
  FakeKubelet kubelet(
      {.data =
           [&](FakeKubelet::Command& command, const std::string& stream, std::string_view) {
             if (stream == "stdin") flood(command);
           },
       .room = [&](FakeKubelet::Command& command) { flood(command); }});
  Translator translator(kubelet.host(), kAll);
  translator.connection = translator.server->Connect(/*window_bytes=*/64 << 10);
  auto client = translator.Client();
  REQUIRE(client.Read().binary());
  client.Write(Message(0, "go"));
  // Buffers of sockets and queues, and no more.
  CHECK(Settled(flood.pieces) < Flood::kPieces / 2);
  Heard heard(client);
  CHECK(heard.channels[1].size() == Flood::kPieces * Flood::kPiece);
  CHECK(heard.channels[3] == kSuccess);
}

TEST_CASE("proxy: a kubelet that does not read holds its client back", "[proxy]") {
  UniqueFunction<void()> resume;  // Set before "open stderr" is told.
  FakeKubelet kubelet({.opened = [&](FakeKubelet::Command& command, const std::string& stream) {
    if (stream != "stderr") return;
    command.session->Pause();
    resume = [loop = command.loop, weak = std::weak_ptr(command.session)] {
      loop->Post([weak] {
        if (const auto session = weak.lock()) session->Resume();
      });
    };
  }});
  Translator translator(kubelet.host(), kAll);
  http_test::RawClient client(translator.server->listener().port());
  client.Send(
      "GET /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  REQUIRE(kubelet.journal().Await("open stderr"));
  std::string messages;
  while (messages.size() < std::size_t{64} << 20) {
    messages += Message(0, std::string(64 << 10, 'x'));
  }
  CHECK(client.SendSome(messages) < messages.size() / 2);
  client.Reset();
  resume();
  CHECK(kubelet.journal().Await("over"));
}

TEST_CASE("proxy: a kubelet of an older protocol tells its outcome as text", "[proxy]") {
  const auto protocol = GENERATE(as<std::string>(), "", "channel.k8s.io", "v3.channel.k8s.io");
  FakeKubelet kubelet(
      {.data =
           [](FakeKubelet::Command& command, const std::string& stream, std::string_view) {
             if (stream == "stdin") command.Exit("exit status 3");
           },
       .protocol = protocol});
  Translator translator(kubelet.host(), {.stdin_open = true, .stdout_open = true, .tty = true});
  auto client = translator.Client();
  client.Write(Message(0, "go"));
  Heard heard(client);
  CHECK(heard.channels[3].find(
            R"("message":"Internal error occurred: error executing remote command: exit )"
            R"(status 3")") != std::string::npos);
  const auto lines = kubelet.journal().lines();
  const bool resizes = std::find(lines.begin(), lines.end(), "open resize") != lines.end();
  CHECK(resizes == (protocol == "v3.channel.k8s.io"));
}

// Follows client-go's errorDecoderV4.
TEST_CASE("proxy: outcomes of commands are read as client-go does", "[proxy]") {
  const auto internal = [](const std::string& why) {
    return R"({"metadata":{},"status":"Failure","message":"Internal error occurred: )" + why +
           R"(","reason":"InternalError","details":{"causes":[{"message":")" + why +
           R"("}]},"code":500})";
  };
  const auto outcome = [](std::string_view text) { return proxy::OutcomeOf(text).json; };
  CHECK(outcome("") == kSuccess);
  CHECK(outcome(R"({"status":"Success"})") == kSuccess);
  CHECK(outcome(R"({"status":"Other"})") == internal("error stream protocol error: unknown error"));
  CHECK(outcome(R"({"status":"Failure","message":"pod is gone"})") == internal("pod is gone"));
  CHECK(outcome(R"({"status":"Failure","reason":"NonZeroExitCode"})") ==
        internal("error stream protocol error: details must be set"));
  CHECK(outcome(R"({"status":"Failure","reason":"NonZeroExitCode","details":{}})") ==
        internal("error stream protocol error: no ExitCode cause given"));
  CHECK(outcome(R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[)"
                R"({"reason":"ExitCode","message":"256"}]}})")
            .find("invalid exit code value") != std::string::npos);
  CHECK(outcome("text").find("error stream protocol error: invalid character") !=
        std::string::npos);
  CHECK(proxy::OutcomeOf("text").code == 500);
}

}  // namespace proxy_test
