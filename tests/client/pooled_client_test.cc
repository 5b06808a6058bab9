// What the library's own HttpClient does beyond the suite of http_client/: HTTP/2, sharing, ends.
#include "apiserver/client/pooled_client.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apiserver/base/executor.h"
#include "apiserver/http/listener.h"
#include "client/http_client/raw_server.h"

namespace http_client_test {

const Tested& Implementation() {
  static const Tested tested = {
      .factory = NewHttpClient,
      .key_mismatch = "tls: private key does not match the certificate: key values mismatch",
      .head =
          [](const std::string& host) {
            return "POST /x HTTP/1.1\r\nContent-Type: application/json\r\nX-A: b\r\n"
                   "User-Agent: test\r\nHost: " +
                   host + "\r\nContent-Length: 2\r\n\r\n";
          },
      .refused = "connection refused",
      .reset = "connection lost: Connection reset by peer",
      .reads_interim = true,
      .endless_framing = Reason::kServiceUnavailable,
  };
  return tested;
}

namespace {

// Our own listener over TLS as "server.test". Holds the requests of /held until it is told to go
// on.
struct Server {
  explicit Server(const std::string& address = "127.0.0.1")
      : pool(NewThreadPool({.name = "server"})) {
    service.pool = pool.get();
    service.handler = [this](http::Exchange& exchange) -> http::Step {
      const int major = exchange.request().http_major;
      http::ResponseHead head;
      head.close_connection = exchange.request().path == "/last";
      exchange.writer().Send(head, "HTTP/" + std::to_string(major));
      if (exchange.request().path != "/held") return http::Step::Done();
      return http::Step::Later([this](http::Resume resume) {
        auto held = resumes.Lock();
        held->push_back(std::move(resume));
        resumes.NotifyAll();
      });
    };
    listener = http::Listen({.address = address, .tls = http::NewServerTls(pair(address)).value()},
                            service)
                   .value();
  }
  ~Server() { listener->Stop(std::chrono::milliseconds(0)); }
  static http::KeyPair pair(const std::string& address) {
    return http::NewCertificate(
               Pki().ca,
               {.common_name = "x", .dns_names = {"server.test"}, .ip_addresses = {address}},
               RealClock())
        .value();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(listener->port()); }
  bool AwaitHeld(std::size_t count) {
    auto held = resumes.Lock();
    return held.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                          [&] { return held->size() >= count; });
  }
  void GoOn() {
    auto held = std::exchange(*resumes.Lock(), {});
    for (auto& resume : held) resume(http::Step::Done());
  }

  std::unique_ptr<ThreadPool> pool;
  http::Service service;
  Guarded<std::vector<http::Resume>> resumes;
  std::unique_ptr<http::Listener> listener;
};

TEST_CASE("client: many calls at a time share one HTTP/2 connection", "[client]") {
  constexpr std::size_t kCalls = 50;
  Server server;
  const auto client = NewClient(Trusting(server.address()));
  const auto answers = std::make_shared<Guarded<std::vector<std::string>>>();
  for (std::size_t i = 0; i < kCalls; ++i) {
    client->Start(
        Context::Background(),
        {.method = "GET", .url = "https://server.test/held", .timeout = std::chrono::seconds(60)},
        [answers](Result<http::ClientResponse> answer) {
          answers->Lock()->push_back(answer.ok() ? answer->body : answer.status().ToString());
          answers->NotifyAll();
        });
  }

  REQUIRE(server.AwaitHeld(kCalls));
  CHECK(server.listener->connections() == 1);
  server.GoOn();

  auto all = answers->Lock();
  REQUIRE(all.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                        [&] { return all->size() == kCalls; }));
  for (const std::string& each : *all) CHECK(each == "HTTP/2");
}

TEST_CASE("client: a connection that the server ends is not used again", "[client]") {
  Server server;
  const auto client = NewClient(Trusting(server.address()));
  for (int i = 0; i < 5; ++i) {
    const auto answer = Get(*client, "https://server.test/last");
    REQUIRE(answer.status().ToString() == Status().ToString());
    CHECK(answer->body == "HTTP/2");
  }
}

TEST_CASE("client: a call that gives up leaves the others of its connection alone", "[client]") {
  Server server;
  const auto client = NewClient(Trusting(server.address()));
  const Context ctx = Context::Child(Context::Background());
  Notification ended;
  client->Start(ctx, {.method = "GET", .url = "https://server.test/held"},
                [&](const Result<http::ClientResponse>& answer) {
                  CHECK(answer.status().reason() == Reason::kTimeout);
                  ended.Notify();
                });
  REQUIRE(server.AwaitHeld(1));

  ctx.Cancel(Status(Reason::kTimeout, "enough"));
  REQUIRE(ended.WaitFor(std::chrono::seconds(60)));

  CHECK(Get(*client, "https://server.test/")->body == "HTTP/2");
  CHECK(server.listener->connections() == 1);
  server.GoOn();
}

TEST_CASE("client: an answer that came before all of its request ends the connection", "[client]") {
  std::string rest;
  std::atomic<int> connections{0};
  RawServer server([&](Wire& wire) {
    wire.ReadUntil("\r\n\r\n");
    if (++connections == 1) {
      wire.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
      rest = wire.ReadUntil("GET /next");
    } else {
      wire.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  const auto client = NewClient();
  const auto refused =
      client->Call(Context::Background(), {.url = "http://" + server.address() + "/",
                                           .body = std::string(64 << 20, 'x'),
                                           .timeout = std::chrono::seconds(60)});
  REQUIRE(refused.status().ToString() == Status().ToString());
  CHECK(refused->code == 413);

  CHECK(Get(*client, "http://" + server.address() + "/next")->body == "ok");
  CHECK(connections == 2);
  CHECK(rest.find("GET /next") == std::string::npos);
}

TEST_CASE("client: the last owner of a client may be what it calls", "[client]") {
  Server server;
  for (int i = 0; i < 20; ++i) {
    auto client =
        std::make_shared<std::shared_ptr<HttpClient>>(NewClient(Trusting(server.address())));
    const auto called = std::make_shared<Notification>();
    HttpClient& borrowed = **client;
    borrowed.Start(Context::Background(), {.method = "GET", .url = "https://server.test/"},
                   [client = std::move(client), called](const auto& answer) mutable {
                     CHECK(answer.ok());
                     client.reset();
                     called->Notify();
                   });
    REQUIRE(called->WaitFor(std::chrono::seconds(60)));
  }
}

TEST_CASE("client: an IPv6 address needs no name", "[client]") {
  Server server("::1");
  const auto client = NewClient({.tls = {.ca_pem = Pki().ca.certificate_pem}});
  const auto answer =
      Get(*client, "https://[::1]:" + std::to_string(server.listener->port()) + "/");
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == "HTTP/2");
}

TEST_CASE("client: without authorities of its own a client trusts the machine's", "[client]") {
  Server server;
  const auto file = std::filesystem::temp_directory_path() /
                    ("apiserver-roots-" + std::to_string(server.listener->port()) + ".pem");
  std::ofstream(file) << Pki().ca.certificate_pem;
  const HttpClientOptions options{.address = server.address()};
  CHECK_FALSE(Get(*NewClient(options), "https://server.test/").ok());

  ::setenv("SSL_CERT_FILE", file.c_str(), 1);
  const auto answer = Get(*NewClient(options), "https://server.test/");
  ::unsetenv("SSL_CERT_FILE");
  std::filesystem::remove(file);

  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == "HTTP/2");
  CHECK_FALSE(Get(*NewClient(options), "https://another.test/").ok());
}

}  // namespace
}  // namespace http_client_test
