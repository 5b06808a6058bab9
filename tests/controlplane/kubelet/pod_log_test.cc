// Logs of pods whose kubelet is a server of the test.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iterator>

#include "controlplane/kubelet/node_world.h"
#include "proxy/front.h"

namespace kubelet_test {
namespace {

using http_test::Wire;
using proxy_test::Backend;
using proxy_test::Text;

constexpr const char* kLog = "/api/v1/namespaces/ns/pods/p/log";

int PortOfBackend(Backend& kubelet) { return kubelet.server().listener().port(); }

struct Logged {
  explicit Logged(Backend::Reply reply) : kubelet(std::move(reply), Wire::kTlsHttp2) {
    world.AddNode("n", PortOfBackend(kubelet));
    world.AddPod("p", kOneContainer);
  }
  Backend kubelet;
  World world;
};

}  // namespace

TEST_CASE("controlplane: a log is what the kubelet sends, by every option", "[controlplane]") {
  Logged logged(Text("one\ntwo\n"));
  const auto answer = logged.world.Get(std::string(kLog) +
                                       "?follow=true&previous=1&timestamps&sinceSeconds=5"
                                       "&tailLines=0&limitBytes=7&container=c&pretty=true");
  CHECK(answer.code == 200);
  CHECK(answer.body == "one\ntwo\n");
  CHECK(answer.headers.Get("Content-Type") == "text/plain");
  CHECK(logged.world.Get(std::string(kLog) + "?sinceTime=2020-01-02T03:04:05%2B01:00").code == 200);
  CHECK(logged.world.Get(std::string(kLog) + "?sinceTime=").code == 200);
  CHECK(logged.world.Get(kLog).code == 200);

  const auto seen = logged.kubelet.seen();
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].request.target ==
        "/containerLogs/ns/p/c?follow=true&limitBytes=7&previous=true&sinceSeconds=5&tailLines=0"
        "&timestamps=true");
  CHECK(seen[1].request.target == "/containerLogs/ns/p/c?sinceTime=2020-01-02T02%3A04%3A05Z");
  CHECK(seen[2].request.target == "/containerLogs/ns/p/c?sinceTime=0001-01-01T00%3A00%3A00Z");
  CHECK(seen[3].request.target == "/containerLogs/ns/p/c");
  // Nothing of the client's.
  CHECK_FALSE(seen[0].request.headers.Has("Authorization"));
  CHECK_FALSE(seen[0].request.headers.Has("X-Forwarded-For"));
}

// Pieces for as long as a test lets it.
class Tap final : public http::BodySource {
 public:
  struct State {
    std::string waiting;
    bool ended = false;
    Waker waker;
  };
  explicit Tap(std::shared_ptr<Guarded<State>> state) : state_(std::move(state)) {}
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    auto state = state_->Lock();
    state->waker = waker;
    if (!state->waiting.empty()) {
      out.Take(std::exchange(state->waiting, {}));
      return http::Pull::kMore;
    }
    return state->ended ? http::Pull::kEnd : http::Pull::kWait;
  }

 private:
  const std::shared_ptr<Guarded<State>> state_;
};

TEST_CASE("controlplane: a followed log comes as it is written", "[controlplane]") {
  const auto tap = std::make_shared<Guarded<Tap::State>>();
  const auto write = [&](const std::string& text, bool last) {
    auto state = tap->Lock();
    state->waiting += text;
    state->ended = last;
    state->waker.Wake();
  };
  Logged logged(
      [&](http::Exchange& exchange) { exchange.writer().Stream({}, std::make_unique<Tap>(tap)); });
  auto stream =
      logged.world.client().connection().Open({.target = std::string(kLog) + "?follow=true"});
  REQUIRE((*stream)->Head(http_test::Soon())->code == 200);
  write("one\n", false);
  CHECK((*stream)->Read(http_test::Soon()).value() == "one\n");
  write("two\n", false);
  CHECK((*stream)->Read(http_test::Soon()).value() == "two\n");
  write("", true);
  CHECK((*stream)->Read(http_test::Soon()).value().empty());
}

int Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// A silent container answers nothing, not even a head, until it writes.
TEST_CASE("controlplane: logs that have not begun hold no thread", "[controlplane]") {
  http_test::Journal asked;
  Guarded<std::vector<http::Resume>> held;
  http_test::TestService service([&](http::Exchange&) {
    return http::Step::Later([&](http::Resume resume) {
      held.Lock()->push_back(std::move(resume));
      asked.Add("asked");
    });
  });
  http_test::TestServer kubelet(service.service, Wire::kTlsHttp2);
  {
    World world;
    world.AddNode("n", kubelet.listener().port());
    world.AddPod("p", kOneContainer);
    constexpr int kLogs = 64;
    const int before = Threads();
    std::vector<std::unique_ptr<http::Connection>> connections;
    std::vector<std::unique_ptr<http::ClientStream>> streams;
    for (int i = 0; i < kLogs; ++i) {
      connections.push_back(world.client().Connect());
      streams.push_back(connections.back()->Open({.target = kLog}).value());
    }
    CHECK(asked.AwaitCount(kLogs));
    CHECK(Threads() < before + kLogs / 4);
  }
  auto resumes = std::exchange(*held.Lock(), {});
  for (http::Resume& resume : resumes) {
    resume(Status(Reason::kServiceUnavailable, "the test is over"));
  }
}

TEST_CASE("controlplane: a kubelet's refusal of a log is told as upstream tells it",
          "[controlplane]") {
  struct Case {
    int code;
    std::string text;
    int answered;
    std::string message;
  };
  const Case test = GENERATE(
      Case{500, "no such file", 500, "Internal error occurred: no such file"},
      Case{400, "previous terminated container not found", 400,
           "previous terminated container not found"},
      Case{404, "x", 404, "the server could not find the requested resource ( pods/log p)"},
      Case{500, std::string(100'000, 'x'), 500,
           "Internal error occurred: " + std::string(50'000, 'x')});
  Logged logged(
      [&](http::Exchange& exchange) { exchange.writer().Send({.code = test.code}, test.text); });
  const auto answer = logged.world.Get(kLog);
  CHECK(answer.code == test.answered);
  CHECK(StatusMessageOf(answer) == test.message);
}

TEST_CASE("controlplane: a log is not looked for where the kubelet redirects to",
          "[controlplane]") {
  Logged logged([](http::Exchange& exchange) {
    exchange.writer().Send({.code = 302, .headers = {{"Location", "/elsewhere"}}}, std::string());
  });
  const auto answer = logged.world.Get(kLog);
  CHECK(answer.code == 500);
  CHECK(StatusMessageOf(answer) == R"(Get "/elsewhere": redirects forbidden)");
  CHECK(logged.kubelet.seen().size() == 1);
}

TEST_CASE("controlplane: a log that cannot be asked for", "[controlplane]") {
  Logged logged(Text("x"));
  World& world = logged.world;
  world.AddPod("waiting", R"("containers":[{"name":"c"}])");
  world.AddNode("down", 1);
  world.AddPod("unreachable", R"("nodeName":"down","containers":[{"name":"c"}])");
  const auto message = [&](const std::string& path, int code) {
    const auto answer = world.Get("/api/v1/namespaces/ns/pods/" + path);
    CHECK(answer.code == code);
    return StatusMessageOf(answer);
  };
  CHECK(world.Get("/api/v1/namespaces/ns/pods/waiting/log").code == 204);
  CHECK(message("p/log?tailLines=abc", 400) ==
        R"(strconv.ParseInt: parsing "abc": invalid syntax)");
  CHECK(message("p/log?tailLines=-1", 422) ==
        R"(PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or )"
        R"(equal to 0)");
  CHECK(message("p/log?limitBytes=0", 422) ==
        R"(PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0)");
  CHECK(message("p/log?stream=Stdout", 422) ==
        R"(PodLogOptions "p" is invalid: stream: Forbidden: may not be specified)");
  CHECK(message("p/log?container=x", 400) == "container x is not valid for pod p");
  CHECK(message("missing/log", 404) == R"(pods "missing" not found)");
  CHECK(message("unreachable/log", 500) ==
        R"(Get "https://127.0.0.1:1/containerLogs/ns/unreachable/c": dial tcp 127.0.0.1:1: )"
        R"(connect: connection refused)");
}

// InsecureSkipTLSVerifyBackend, and the metrics by which its use is seen.
TEST_CASE("controlplane: a kubelet that is not trusted gives logs only to who asks for that",
          "[controlplane]") {
  Backend kubelet(Text("log\n"), Wire::kTlsHttp1);
  const auto other = http::NewCertificateAuthority("other", RealClock()).value();
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("/ca.crt", other.certificate_pem, 0600).ok());
  World world({.kubelet = {.certificate_authority = "/ca.crt"}, .files = files.get()});
  world.AddNode("n", PortOfBackend(kubelet));
  world.AddPod("p", kOneContainer);
  const auto refused = world.Get(kLog);
  CHECK(refused.code == 500);
  CHECK(StatusMessageOf(refused).find(": tls: ") != std::string::npos);
  CHECK(world.Get(std::string(kLog) + "?insecureSkipTLSVerifyBackend=true").body == "log\n");
  const std::string metrics = world.Get("/metrics").body;
  for (const char* line :
       {R"(kube_apiserver_pod_logs_insecure_backend_total{usage="enforce_tls"} 1)",
        R"(kube_apiserver_pod_logs_insecure_backend_total{usage="skip_tls_allowed"} 1)",
        "kube_apiserver_pod_logs_backend_tls_failure_total 1"}) {
    INFO(line);
    CHECK(metrics.find(line) != std::string::npos);
  }
}

}  // namespace kubelet_test
