// Exec, attach and port-forward to pods whose kubelet is a script.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "controlplane/kubelet/node_world.h"
#include "proxy/fake_kubelet.h"

namespace kubelet_test {
namespace {

using http_test::Wire;
using proxy_test::FakeKubelet;
using testing::ClientFrame;
using testing::ServerFrame;
using testing::WebSocketClient;

constexpr const char* kPod = "/api/v1/namespaces/ns/pods/p";

// Answers each line of stdin on stdout, and exits with 3 when stdin ends.
FakeKubelet::Script Echoing() {
  return {.data =
              [](FakeKubelet::Command& command, const std::string& stream, std::string_view bytes) {
                if (stream == "stdin") (void)command.Write("stdout", bytes);
              },
          .ended =
              [](FakeKubelet::Command& command, const std::string& stream) {
                if (stream != "stdin") return;
                command.Exit(
                    R"({"metadata":{},"status":"Failure","reason":"NonZeroExitCode","details":{)"
                    R"("causes":[{"reason":"ExitCode","message":"3"}]}})");
              }};
}

// The bytes that the client hears on each channel until the end.
struct Heard {
  explicit Heard(WebSocketClient& client) {
    for (ServerFrame frame = client.Read(); frame.binary() || frame.first == 0x89;
         frame = client.Read()) {
      if (frame.binary()) channels[frame.payload.at(0)] += frame.payload.substr(1);
    }
  }
  std::map<int, std::string> channels;
};

}  // namespace

TEST_CASE("controlplane: a command is run by the kubelet of its pod", "[controlplane]") {
  FakeKubelet kubelet(Echoing(), Wire::kTlsHttp1);
  World world;
  world.AddNode("n", kubelet.port());
  world.AddPod("p", kOneContainer);
  WebSocketClient client(
      world.client().connection(),
      std::string(kPod) + "/exec?command=sh&command=-c&command=a+%26b&stdin=true&stdout=true",
      "v5.channel.k8s.io");
  REQUIRE(client.head().code == 101);
  client.Write(ClientFrame(0x82, std::string(1, 0) + "hello"));
  client.Write(ClientFrame(0x82, std::string("\xff\x00", 2)));
  const Heard heard(client);
  CHECK(heard.channels.at(1) == "hello");
  CHECK(heard.channels.at(3).find(R"("message":"3")") != std::string::npos);
  CHECK(kubelet.journal().lines().at(0) ==
        "POST /exec/ns/p/c?command=sh&command=-c&command=a+%26b&input=1&output=1");
  const auto metrics = world.Get("/metrics").body;
  CHECK(metrics.find(R"(apiserver_stream_translator_requests_total{code="200"} 1)") !=
        std::string::npos);
}

TEST_CASE("controlplane: a server ends while commands run", "[controlplane]") {
  FakeKubelet kubelet({}, Wire::kTlsHttp1);
  World world;
  world.AddNode("n", kubelet.port());
  world.AddPod("p", kOneContainer);
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  std::vector<std::unique_ptr<http::Connection>> connections;
  for (int i = 0; i < 8; ++i) {
    connections.push_back(world.client().Connect());
    clients.push_back(std::make_unique<WebSocketClient>(
        *connections.back(), std::string(kPod) + "/exec?command=sh&stdin=true&stdout=true",
        "v5.channel.k8s.io"));
    REQUIRE(clients.back()->head().code == 101);
  }
  clients.clear();
  connections.clear();
  world.StopServer();
  CHECK(kubelet.journal().Await("over"));
}

TEST_CASE("controlplane: commands over SPDY end when the server stops", "[controlplane]") {
  FakeKubelet kubelet({}, Wire::kTlsHttp1);
  World world;
  world.AddNode("n", kubelet.port());
  world.AddPod("p", kOneContainer);
  const auto stream = world.client().connection().Open(
      {.method = "POST",
       .target = std::string(kPod) + "/exec?command=sh&stdin=true",
       .headers = {{"Connection", "Upgrade"},
                   {"Upgrade", "SPDY/3.1"},
                   {"X-Stream-Protocol-Version", "v4.channel.k8s.io"}}});
  REQUIRE((*stream)->Head(http_test::Soon())->code == 101);
  const auto begun = RealClock().Now();

  world.server().server().Stop();

  // The grace is five seconds.
  CHECK(RealClock().Now() - begun < std::chrono::seconds(4));
  CHECK(kubelet.journal().Await("over"));
}

TEST_CASE("controlplane: attach and SPDY reach the kubelet as they are", "[controlplane]") {
  FakeKubelet kubelet({}, Wire::kTlsHttp1);
  World world;
  world.AddNode("n", kubelet.port());
  world.AddPod("p", kOneContainer);
  const auto upgrade = [&](const std::string& path) {
    const auto connection = world.client().Connect();
    auto stream =
        connection->Open({.method = "POST",
                          .target = kPod + path,
                          .headers = {{"Connection", "Upgrade"},
                                      {"Upgrade", "SPDY/3.1"},
                                      {"X-Stream-Protocol-Version", "v4.channel.k8s.io"}}});
    return (*stream)->Head(http_test::Soon())->code;
  };
  CHECK(upgrade("/attach?stdout=true&tty=true&container=c") == 101);
  CHECK(upgrade("/exec?command=ls&stderr=1") == 101);
  CHECK(upgrade("/portforward?ports=80,81") == 101);
  const auto lines = kubelet.journal().lines();
  const auto asked = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(asked("POST /attach/ns/p/c?output=1&tty=1"));
  CHECK(asked("POST /exec/ns/p/c?command=ls&error=1"));
  CHECK(asked("POST /portForward/ns/p?port=80%2C81"));
}

TEST_CASE("controlplane: a port is forwarded in the messages of a WebSocket", "[controlplane]") {
  FakeKubelet kubelet({.protocol = "portforward.k8s.io"}, Wire::kTlsHttp1);
  World world;
  world.AddNode("n", kubelet.port());
  world.AddPod("p", kOneContainer);
  WebSocketClient client(world.client().connection(), std::string(kPod) + "/portforward",
                         "SPDY/3.1+portforward.k8s.io");
  CHECK(client.head().code == 101);
  CHECK(client.head().headers.Get("Sec-WebSocket-Protocol") == "SPDY/3.1+portforward.k8s.io");
  CHECK(kubelet.journal().lines().at(0) == "POST /portForward/ns/p");
}

// TestCheckLogLocation, TestSelectableFieldLabelConversions' neighbours in strategy_test.go.
TEST_CASE("controlplane: a connection to no container is refused before a kubelet is asked",
          "[controlplane]") {
  World world;
  world.AddNode("n", 1);
  world.AddPod("p", kOneContainer);
  world.AddPod("two",
               R"("nodeName":"n","initContainers":[{"name":"i"}],"containers":[{"name":"a"},)"
               R"({"name":"b"}],"ephemeralContainers":[{"name":"e"}])");
  world.AddPod("none", R"("nodeName":"n","containers":[])");
  world.AddPod("waiting", R"("containers":[{"name":"c"}])");
  world.AddPod("lost", R"("nodeName":"gone","containers":[{"name":"c"}])");
  struct Case {
    const char* path;
    int code;
    const char* message;
  };
  const Case cases[] = {
      {"two/exec?command=x", 400,
       "a container name must be specified for pod two, choose one of: [i a b e]"},
      {"two/attach?container=z", 400, "container z is not valid for pod two"},
      {"none/exec?command=x", 400, "a container name must be specified for pod none"},
      {"waiting/exec?command=x", 400, "pod waiting does not have a host assigned"},
      {"waiting/portforward", 400, "pod waiting does not have a host assigned"},
      {"lost/attach", 404, R"(nodes "gone" not found)"},
      {"missing/exec?command=x", 404, R"(pods "missing" not found)"},
      {"p/exec?command=x", 400, "Upgrade request required"},
      {"p/portforward?ports=x", 400,
       R"(cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax)"}};
  for (const Case& test : cases) {
    INFO(test.path);
    const auto answer =
        world.server().Call("POST", std::string("/api/v1/namespaces/ns/pods/") + test.path);
    CHECK(answer.code == test.code);
    CHECK(StatusMessageOf(answer) == test.message);
  }
}

}  // namespace kubelet_test
