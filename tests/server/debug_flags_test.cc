// /debug/flags/ and DELETE /metrics: k8s.io/apiserver/pkg/server/routes/flags.go and metrics.go.
#include <catch2/catch.hpp>

#include "apiserver/base/verbosity.h"
#include "apiserver/http/in_process.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::LogLevel;
using apiserver::Reason;
using apiserver::Status;
using apiserver::VerbositySink;
using apiserver::testing::Contains;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
namespace auth = apiserver::auth;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

class EverythingSink final : public apiserver::LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view, std::span<const apiserver::LogField>) override {}
};

// A server whose logs have a verbosity that changes.
struct Verbose {
  std::unique_ptr<TestServer> Start(bool profiling = true) {
    return StartWidgetServer({.log = &sink, .configure = [this, profiling](server::Config& config) {
                                config.enable_profiling = profiling;
                                config.set_verbosity = [this](std::uint32_t verbosity) {
                                  sink.SetVerbosity(verbosity);
                                  return Status();
                                };
                              }});
  }

  EverythingSink everything;
  VerbositySink sink{everything, 2};
};

class NoFlags final : public auth::Authorizer {
 public:
  apiserver::Result<auth::Verdict> Authorize(const Context&,
                                             const auth::Attributes& attributes) const override {
    const bool may = attributes.path != "/debug/flags/v" || attributes.verb != "put";
    return auth::Verdict{may ? auth::Decision::kAllow : auth::Decision::kDeny};
  }
};

}  // namespace

// TestGlogSetter, and what routes.StringFlagPutHandler makes of it.
TEST_CASE("server: PUT /debug/flags/v changes what is logged", "[server]") {
  Verbose verbose;
  const auto server = verbose.Start();
  REQUIRE_FALSE(verbose.sink.Enabled(LogLevel::kDebug));

  const auto answer = server->Call("PUT", "/debug/flags/v", "6");

  CHECK(answer.code == 200);
  CHECK(answer.body == "successfully set klog.logging.verbosity to 6\n");
  CHECK(answer.headers.Get("Content-Type") == "text/plain");
  CHECK(answer.headers.Get("X-Content-Type-Options") == "nosniff");
  CHECK(verbose.sink.verbosity() == 6);
  CHECK(verbose.sink.Enabled(LogLevel::kDebug));
}

TEST_CASE("server: what is no verbosity is refused in strconv's words", "[server]") {
  struct Case {
    std::string body;
    std::string expected;
  };
  const auto test = GENERATE(values<Case>({
      {"", R"(strconv.ParseUint: parsing "": invalid syntax)"},
      {"a lot", R"(strconv.ParseUint: parsing "a lot": invalid syntax)"},
      {"-1", R"(strconv.ParseUint: parsing "-1": invalid syntax)"},
      {"4\n", R"(strconv.ParseUint: parsing "4\n": invalid syntax)"},
      {"4294967296", R"(strconv.ParseUint: parsing "4294967296": value out of range)"},
      {"99999999999x", R"(strconv.ParseUint: parsing "99999999999x": value out of range)"},
      {"2147483648",
       "failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing \"2147483648\": "
       "value out of range"},
  }));
  Verbose verbose;
  const auto server = verbose.Start();

  const auto answer = server->Call("PUT", "/debug/flags/v", test.body);

  CHECK(answer.code == 400);
  CHECK(answer.body == test.expected + "\n");
  CHECK(verbose.sink.verbosity() == 2);
}

TEST_CASE("server: a host that cannot change its verbosity says why", "[server]") {
  const auto server = StartWidgetServer({.configure = [](server::Config& config) {
    config.set_verbosity = [](std::uint32_t) { return Status(Reason::kInternalError, "stuck"); };
  }});

  const auto answer = server->Call("PUT", "/debug/flags/v", "1");

  CHECK(answer.code == 400);
  CHECK(answer.body == "stuck\n");
}

TEST_CASE("server: /debug/flags/ names the flags, and they take nothing but PUT", "[server]") {
  Verbose verbose;
  const auto server = verbose.Start();

  const auto got = server->Call("GET", "/debug/flags/v");
  CHECK(got.code == 406);
  CHECK(got.body == "unsupported http method\n");
  const auto index = server->Call("GET", "/debug/flags/");
  CHECK(index.code == 200);
  CHECK(index.headers.Get("Content-Type") == "text/html; charset=utf-8");
  CHECK(index.body ==
        "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n"
        "<br>\nflags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n"
        "</body>\n</html>\n");
  CHECK(server->Call("GET", "/debug/flags").body == index.body);
  CHECK_FALSE(Contains(server->Call("GET", "/").body, "/debug/flags"));
}

TEST_CASE("server: flags are for those who may", "[server]") {
  Verbose verbose;
  const auto server = StartWidgetServer({.authorizer = std::make_shared<const NoFlags>(),
                                         .configure = [&verbose](server::Config& config) {
                                           config.set_verbosity = [&](std::uint32_t verbosity) {
                                             verbose.sink.SetVerbosity(verbosity);
                                             return Status();
                                           };
                                         }});

  const auto stranger = http::NewInProcessConnection(server->server().service());
  const http::ClientRequest put{.method = "PUT", .target = "/debug/flags/v", .body = "9"};
  CHECK(stranger->Call(Context::Background(), put)->code == 401);
  CHECK(server->Call("PUT", "/debug/flags/v", "9").code == 403);
  CHECK(server->Call("GET", "/debug/flags/v").code == 406);
  CHECK(verbose.sink.verbosity() == 2);
}

TEST_CASE("server: without profiling there are no flags", "[server]") {
  Verbose verbose;
  const auto server = verbose.Start(/*profiling=*/false);

  CHECK(server->Call("PUT", "/debug/flags/v", "6").code == 404);
  CHECK(server->Call("GET", "/debug/flags/").code == 404);
  CHECK(verbose.sink.verbosity() == 2);
}

TEST_CASE("server: without a host that changes its verbosity there are no flags", "[server]") {
  const auto server = StartWidgetServer();

  CHECK(server->Call("PUT", "/debug/flags/v", "6").code == 404);
}

// component-base/metrics TestResetHandler
TEST_CASE("server: DELETE /metrics sets what is counted to zero", "[server]") {
  const auto server = StartWidgetServer();
  auto& calls = server->server().metrics()->Counters({.name = "calls", .help = "", .labels = {}});
  calls.With({}).Add(3);
  REQUIRE(Contains(server->Call("GET", "/metrics").body, "\ncalls 3\n"));

  const auto answer = server->Call("DELETE", "/metrics");

  CHECK(answer.code == 200);
  CHECK(answer.body == "metrics reset\n");
  CHECK(answer.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(Contains(server->Call("GET", "/metrics").body, "\ncalls 0\n"));
}

TEST_CASE("server: DELETE /metrics changes nothing without profiling", "[server]") {
  const auto server = StartWidgetServer(
      {.configure = [](server::Config& config) { config.enable_profiling = false; }});
  auto& calls = server->server().metrics()->Counters({.name = "calls", .help = "", .labels = {}});
  calls.With({}).Add(3);

  CHECK(Contains(server->Call("DELETE", "/metrics").body, "\ncalls 3\n"));
  CHECK(calls.With({}).value() == 3);
}
