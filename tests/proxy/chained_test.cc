// Two servers of ours, one behind the other as behind an aggregator.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "apiserver/authn/request_header.h"
#include "apiserver/proxy/upgrade_aware_handler.h"
#include "apiserver/server/handler.h"
#include "apiserver/server/route_source.h"
#include "apiserver/storage/memory/engine.h"
#include "watch_lines.h"
#include "widget_server.h"

namespace chained_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::kWidgetA;
using testing::kWidgets;
using testing::Widget;

// Forwards what belongs to the group version of widgets, in the user's name. Where to may change.
class Forwarded final : public server::Route {
 public:
  void Set(proxy::UpgradeAwareHandler rules) { *rules_.Lock() = std::move(rules); }
  http::Step Serve(http::Exchange& exchange) override {
    proxy::UpgradeAwareHandler rules = *rules_.Lock();
    rules.location.path = exchange.request().path;
    rules.location.raw_query = proxy::EncodeQuery(exchange.request().query);
    rules.identity = exchange.Get<auth::UserInfoPtr>();
    return rules.ServeHTTP(exchange);
  }
  Status CheckBeforeBody(http::Exchange& /*exchange*/) const override { return {}; }
  bool LongRunning(const request::RequestInfo& info, std::string_view /*method*/) const override {
    return info.verb == "watch";
  }
  std::optional<storage::Stats> GetStats() const override { return std::nullopt; }

 private:
  Guarded<proxy::UpgradeAwareHandler> rules_;
};

class Registered final : public server::RouteSource {
 public:
  explicit Registered(std::shared_ptr<server::Route> route) : route_(std::move(route)) {}
  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override {
    const bool own = (std::string(info.path) + "/").starts_with("/apis/example.com/v1/");
    return own ? route_ : nullptr;
  }

 private:
  const std::shared_ptr<server::Route> route_;
};

// Writes down which user each request of the extension server has.
class Watching final : public auth::Authorizer {
 public:
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& attributes) const override {
    *last_.Lock() = *attributes.user;
    return auth::Verdict{.decision = auth::Decision::kAllow};
  }
  auth::UserInfo last() const { return *last_.Lock(); }

 private:
  mutable Guarded<auth::UserInfo> last_;
};

struct Chain {
  Chain() {
    StartExtension();
    testing::TestServerOptions before;
    before.install = [this](server::GenericAPIServer& api) -> Status {
      return api
          .AddHandler({.name = "aggregator", .routes = std::make_shared<Registered>(forwarded)})
          .status();
    };
    front = std::move(testing::StartTestServer(std::move(before))).value();
  }

  // Starts an extension server on the objects of the one before, with a port and a certificate of
  // its own.
  void StartExtension() {
    authn::RequestHeaderNames names;
    names.uid = {"X-Remote-Uid"};
    testing::TestServerOptions behind{
        .authorizer = watching, .engine = engine.get(), .listen = true};
    behind.configure = [&](server::Config& config) {
      config.authenticator = authn::NewRequestHeader(
          {.ca = std::make_shared<Variable<std::string>>(authority.certificate_pem),
           .names = std::make_shared<Variable<authn::RequestHeaderNames>>(names)});
    };
    extension = testing::StartWidgetServer(std::move(behind));
    http::ClientTls tls{.ca_pem = extension->kubeconfig().ca_pem};
    tls.client =
        http::NewCertificate(authority, {.common_name = "aggregator", .client = true}, RealClock())
            .value();
    const int port = extension->server().port();
    forwarded->Set({.location = {.scheme = "https", .host = "127.0.0.1:" + std::to_string(port)},
                    .pool = proxy::NewUpstreamPool({.dialer = dialer.get(), .tls = tls}).value(),
                    .wrap_transport = true,
                    .reject_forwarding_redirects = true,
                    .new_request = true,
                    .responder = proxy::RespondUnavailable});
  }

  const http::KeyPair authority =
      http::NewCertificateAuthority("front-proxy-ca", RealClock()).value();
  const std::shared_ptr<Watching> watching = std::make_shared<Watching>();
  const std::shared_ptr<Forwarded> forwarded = std::make_shared<Forwarded>();
  const std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  const std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> extension;
  std::unique_ptr<testing::TestServer> front;
};

TEST_CASE("proxy: an extension server of ours is used through another server of ours", "[proxy]") {
  const Chain chain;
  testing::TestServer& front = *chain.front;

  CHECK(front.Call("POST", kWidgets, Widget("a", 3)).code == 201);
  // The user of the front's own calls, told by the certificate of a front proxy.
  CHECK(chain.watching->last().name == "system:apiserver");
  CHECK(chain.watching->last().InGroup("system:masters"));
  const auto got = front.Call("GET", kWidgetA);
  CHECK(got.code == 200);
  CHECK(got.body == chain.extension->Call("GET", kWidgetA).body);
  CHECK(front.Call("GET", std::string(kWidgets) + "?labelSelector=a%3Db").body ==
        chain.extension->Call("GET", std::string(kWidgets) + "?labelSelector=a%3Db").body);
  CHECK(front
            .Call("PATCH", kWidgetA, R"({"spec":{"size":4}})",
                  {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(front.Call("POST", kWidgets, Widget("b", 11)).code == 422);
  CHECK(front.Call("GET", "/apis/example.com/v1").body ==
        chain.extension->Call("GET", "/apis/example.com/v1").body);
  CHECK(front.Call("DELETE", kWidgetA).code == 200);
  CHECK(front.Call("GET", kWidgetA).code == 404);
}

TEST_CASE("proxy: a watch goes through a server of ours, and ends with its backend", "[proxy]") {
  Chain chain;
  testing::TestServer& front = *chain.front;
  testing::Lines watch(front, std::string(kWidgets) + "?watch=1");
  CHECK(watch.head().code == 200);
  CHECK(front.Call("POST", kWidgets, Widget("a", 3)).code == 201);
  CHECK(watch.Next().starts_with(R"({"type":"ADDED","object":{)"));
  CHECK(chain.extension->Call("DELETE", kWidgetA).code == 200);
  CHECK(watch.Next().starts_with(R"({"type":"DELETED","object":{)"));

  chain.extension.reset();
  CHECK(watch.Next().empty());
  const auto gone = front.Call("GET", kWidgetA);
  CHECK(gone.code == 503);
  CHECK(gone.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(gone.body.starts_with("error trying to reach service: dial tcp 127.0.0.1:"));
  CHECK(gone.body.ends_with(": connect: connection refused\n"));
}

// Returns the text between `before` and the next `end`; empty if there is none.
std::string Between(std::string_view text, std::string_view before, std::string_view end) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = text.substr(found + before.size());
  return std::string(rest.substr(0, rest.find(end)));
}
std::string VersionOf(std::string_view json) {
  return Between(json, R"("resourceVersion":")", R"(")");
}

// The sizes of widgets by name.
using Sizes = std::map<std::string, int>;

// Writes widgets of its own one after the other, and reads each again.
struct LoadWriter {
  bool Right(const http::ClientResponse& answer, std::initializer_list<int> codes) {
    if (answer.code == 503 || answer.code == 502) {
      ++refused;
      return false;
    }
    if (std::find(codes.begin(), codes.end(), answer.code) != codes.end()) return true;
    wrong = std::to_string(answer.code) + " " + answer.body;
    return false;
  }
  // A refused write may have been done, so that either size is right then.
  void Turn(testing::TestServer& front, const std::string& name, int size) {
    const std::string path = std::string(kWidgets) + "/" + name;
    const bool made = Right(front.Call("POST", kWidgets, Widget(name, 1)), {201, 409});
    const bool set =
        Right(front.Call("PATCH", path, R"({"spec":{"size":)" + std::to_string(size) + "}}",
                         {{"Content-Type", "application/merge-patch+json"}}),
              {200, 404});
    const auto got = front.Call("GET", path);
    if (Right(got, {200, 404}) && made && set) {
      const int seen = std::atoi(Between(got.body, R"("size":)", "}").c_str());
      if (got.code != 200 || seen != size) wrong = "lost " + name + ": " + got.body;
    }
    if (size % 3 == 0) Right(front.Call("DELETE", path), {200, 404});
    ++turns;
  }

  int turns = 0;
  int refused = 0;
  std::string wrong;
};

// Follows all widgets by a watch, which it begins anew where the last one ended.
struct LoadFollower {
  void Read(testing::TestServer& front, const Context& ctx) {
    const std::string target =
        std::string(kWidgets) + "?watch=1&resourceVersion=" + (version.empty() ? "0" : version);
    const auto connection = front.server().LoopbackConnection();
    auto stream = std::move(connection->Open({.target = target})).value();
    const auto head = stream->Head(ctx);
    if (!head.ok() || head->code != 200) {
      if (head.ok() && head->code != 503 && head->code != 502) wrong = std::to_string(head->code);
      return;
    }
    ++watches;
    for (std::string left;;) {
      const auto more = stream->Read(ctx);
      if (!more.ok() || more->empty()) return;
      left += *more;
      for (std::size_t end = 0; (end = left.find('\n')) != std::string::npos;) {
        Take(left.substr(0, end));
        left.erase(0, end + 1);
      }
    }
  }
  void Take(const std::string& line) {
    const std::string type = Between(line, R"("type":")", R"(")");
    if (type == "ERROR") {
      wrong = line;
      return;
    }
    const std::string at = VersionOf(line);
    // The first watch begins with what there is, in the order of names.
    if (!version.empty() && watches > 1 && std::stoull(at) <= std::stoull(version)) wrong = line;
    if (version.empty() || std::stoull(at) > std::stoull(version)) version = at;
    seen = std::stoull(version);
    const std::string name = Between(line, R"("name":")", R"(")");
    if (type == "DELETED") {
      sizes.erase(name);
    } else {
      sizes[name] = std::atoi(Between(line, R"("size":)", "}").c_str());
    }
    ++events;
  }

  Sizes sizes;
  std::string version;
  std::atomic<std::uint64_t> seen{0};  // `version`, for other threads.
  int events = 0;
  int watches = 0;
  std::string wrong;
};

Sizes ListedBy(testing::TestServer& server) {
  Sizes sizes;
  std::string body = server.Call("GET", kWidgets).body;
  constexpr std::string_view kName = R"("name":")";
  for (std::size_t at = body.find(kName); at != std::string::npos; at = body.find(kName, at + 1)) {
    const std::string_view rest = std::string_view(body).substr(at);
    sizes[Between(rest, kName, R"(")")] = std::atoi(Between(rest, R"("size":)", "}").c_str());
  }
  return sizes;
}

// Restarts the extension server again and again under writers and followers.
void RunLoad(std::chrono::milliseconds time, std::chrono::milliseconds between_restarts) {
  constexpr std::size_t kClients = 4;
  Chain chain;
  std::array<LoadWriter, kClients> writers;
  std::array<LoadFollower, kClients> followers;
  std::atomic<bool> over{false};
  const Context ctx = Context::Child(Context::Background(), std::nullopt);
  std::vector<Thread> threads;
  for (std::size_t i = 0; i < kClients; ++i) {
    threads.emplace_back("writer", [&, i] {
      for (int n = 0; !over; ++n) {
        writers[i].Turn(*chain.front, "w-" + std::to_string(i) + "-" + std::to_string(n % 7),
                        1 + n % 9);
      }
    });
    threads.emplace_back("follower", [&, i] {
      while (!ctx.done()) followers[i].Read(*chain.front, ctx);
    });
  }
  int restarts = 0;
  for (const auto until = RealClock().Now() + time; RealClock().Now() < until; ++restarts) {
    Notification().WaitFor(between_restarts);
    chain.extension.reset();
    chain.StartExtension();
  }
  over = true;
  for (std::size_t i = 0; i < threads.size(); i += 2) threads[i].Join();

  const Sizes listed = ListedBy(*chain.extension);
  // The followers have all when they have the last write.
  const auto last = chain.front->Call("POST", kWidgets, Widget("last", 1));
  REQUIRE(last.code == 201);
  const std::uint64_t all = std::stoull(VersionOf(last.body));
  const auto patience = RealClock().Now() + std::chrono::seconds(20);
  while (RealClock().Now() < patience &&
         std::any_of(followers.begin(), followers.end(),
                     [all](const LoadFollower& follower) { return follower.seen < all; })) {
    Notification().WaitFor(std::chrono::milliseconds(5));
  }
  ctx.Cancel(Status(Reason::kTimeout, "the test is over"));
  for (std::size_t i = 1; i < threads.size(); i += 2) threads[i].Join();
  int turns = 0;
  int refused = 0;
  for (const LoadWriter& writer : writers) {
    CHECK(writer.wrong.empty());
    turns += writer.turns;
    refused += writer.refused;
  }
  for (LoadFollower& follower : followers) {
    CHECK(follower.wrong.empty());
    CHECK(follower.version == VersionOf(last.body));
    follower.sizes.erase("last");
    CHECK(follower.sizes == listed);
    CHECK(follower.watches > 1);
  }
  CHECK(turns > 10 * restarts);
  WARN(turns << " turns of four requests, " << refused << " of them refused, " << restarts
             << " restarts, " << followers[0].events << " events by " << followers[0].watches
             << " watches");
}

TEST_CASE("proxy: restarts behind a server of ours lose nothing, and watches go on", "[proxy]") {
  RunLoad(std::chrono::seconds(2), std::chrono::milliseconds(500));
}

TEST_CASE("proxy: restarts behind a server of ours under half a minute of load", "[.load]") {
  RunLoad(std::chrono::seconds(30), std::chrono::seconds(3));
}

}  // namespace
}  // namespace chained_test
