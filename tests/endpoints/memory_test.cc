// What happens when a share of the memory budget is used up.
#include <atomic>
#include <catch2/catch.hpp>

#include "media_types.h"
#include "widget_server.h"

using apiserver::FairShare;
using apiserver::testing::Contains;
using apiserver::testing::kPartialList;
using apiserver::testing::kTable;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;

namespace {

constexpr char kOldWidgets[] = "/apis/example.com/v1alpha1/namespaces/default/widgets";

void CreateWidgets(TestServer& server, int count) {
  for (int i = 0; i < count; ++i) {
    REQUIRE(server.Call("POST", kWidgets, Widget("w" + std::to_string(i), 1)).code == 201);
  }
}

const apiserver::http::Headers kAlice = {{"Impersonate-User", "alice"}};

apiserver::http::Headers MergePatchOfAlice() {
  return {{"Impersonate-User", "alice"}, {"Content-Type", "application/merge-patch+json"}};
}

// The headers of alice, who asks for a media type.
apiserver::http::Headers AliceAccepts(const std::string& type) {
  return {{"Impersonate-User", "alice"}, {"Accept", type}};
}

bool Refused(const apiserver::http::ClientResponse& response) {
  return response.code == 429 && response.headers.Get("Retry-After") == "1" &&
         Contains(response.body, R"("reason":"TooManyRequests")") &&
         Contains(response.body, R"("retryAfterSeconds":1)");
}

// What an exchange has is given back when it ends, which may be after its answer has come.
bool Comes(const FairShare& share, std::size_t used) {
  const auto until = apiserver::RealClock().Now() + std::chrono::seconds(60);
  while (share.used() != used && apiserver::RealClock().Now() < until) {
    apiserver::Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return share.used() == used;
}

}  // namespace

TEST_CASE("endpoints: bodies beyond the decoding share are refused, and change nothing",
          "[endpoints]") {
  const auto server = StartWidgetServer(
      {.memory = {.decoding_bytes_max = 1000, .room_wait_max = std::chrono::milliseconds(20)}});
  const std::string w0 = std::string(kWidgets) + "/w0";
  CreateWidgets(*server, 1);
  const auto before = server->Call("GET", w0).body;
  const auto memory = server->server().memory();
  REQUIRE(Comes(memory->decoding, 0));

  memory->decoding.Add(1000);
  CHECK(Contains(server->Call("GET", "/metrics").body,
                 "apiserver_memory_share_bytes{share=\"decoding\"} 1000\n"));
  CHECK(Refused(server->Call("POST", kWidgets, Widget("more", 1), kAlice)));
  CHECK(Refused(server->Call("PUT", w0, Widget("w0", 2), kAlice)));
  CHECK(Refused(server->Call("PATCH", w0, R"({"spec":{"size":2}})", MergePatchOfAlice())));
  CHECK(Refused(server->Call("DELETE", w0, R"({"propagationPolicy":"Background"})", kAlice)));
  CHECK(server->Call("GET", w0, "", kAlice).body == before);
  // Others cannot use what is set aside for those who are exempt.
  CHECK(server->Call("POST", kWidgets, Widget("admins", 1)).code == 201);
  CHECK(Comes(memory->decoding, 1000));

  memory->decoding.Release(1000);
  CHECK(server->Call("POST", kWidgets, Widget("more", 1), kAlice).code == 201);
  // A request gives back what it took when its work is done, which may be after its answer.
  CHECK(Comes(memory->decoding, 0));
  CHECK(server->Call("PATCH", w0, R"({"spec":{"size":2}})", MergePatchOfAlice()).code == 200);
  CHECK(Comes(memory->decoding, 0));
  CHECK(server->Call("DELETE", w0, R"({"propagationPolicy":"Background"})", kAlice).code == 200);
  CHECK(Comes(memory->decoding, 0));
  CHECK(Comes(memory->bodies, 0));
}

namespace {

// Remembers what the decoding share held while a request was admitted.
class Watching final : public apiserver::admission::Plugin {
 public:
  std::string_view name() const override { return "Watching"; }
  bool Handles(apiserver::admission::Operation) const override { return true; }
  apiserver::Status Validate(const apiserver::Context&,
                             const apiserver::admission::Attributes&) const override {
    if (const FairShare* share = watched) seen = share->used();
    return {};
  }
  std::atomic<const FairShare*> watched = nullptr;
  mutable std::atomic<std::size_t> seen = 0;
};

}  // namespace

TEST_CASE("endpoints: a request counts with what its body became until it is over", "[endpoints]") {
  const auto watching = std::make_shared<Watching>();
  const auto server = StartWidgetServer({.admission = {watching}});
  const auto memory = server->server().memory();
  watching->watched = &memory->decoding;
  const std::string body = Widget("w", 1);

  CHECK(server->Call("POST", kWidgets, body).code == 201);
  const std::size_t creating = watching->seen.exchange(0);
  CHECK(creating > 0);
  CHECK(creating < 16 * body.size() + (64 << 10));
  // A patch may become anything, again and again.
  const std::string patch = R"({"spec":{"size":2}})";
  CHECK(server
            ->Call("PATCH", std::string(kWidgets) + "/w", patch,
                   {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(watching->seen == 16 * patch.size() + (64 << 10));
  CHECK(Comes(memory->decoding, 0));
}

// Row 77.
TEST_CASE("endpoints: without memory for answers only what must be made whole is refused",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  CreateWidgets(*server, 40);
  const auto memory = server->server().memory();
  const std::string w0 = std::string(kWidgets) + "/w0";
  const auto all = server->Call("GET", kWidgets);
  memory->output.Add(memory->output.bytes_max() + 1);

  CHECK(Refused(server->Call("GET", kWidgets, "", AliceAccepts(kTable))));
  CHECK(Refused(server->Call("GET", kWidgets, "", AliceAccepts(kPartialList))));
  const auto yaml = server->Call("GET", kWidgets, "", AliceAccepts("application/yaml"));
  CHECK(yaml.code == 429);
  CHECK(Contains(yaml.body, "reason: TooManyRequests\n"));
  CHECK(Refused(server->Call("GET", std::string(kWidgets) + "?limit=3", "", kAlice)));
  CHECK(Refused(server->Call("GET", w0, "", AliceAccepts(kTable))));
  CHECK(server->Call("GET", w0 + "?pretty=true", "", kAlice).code == 429);
  // A write would have to be answered, so it does not begin.
  CHECK(Refused(server->Call("POST", kWidgets, Widget("new", 1), kAlice)));
  CHECK(Refused(server->Call("DELETE", w0, "", kAlice)));

  CHECK(server->Call("GET", w0, "", kAlice).code == 200);
  CHECK(server->Call("GET", kWidgets, "", kAlice).body == all.body);
  const auto watch = server->Call(
      "GET", std::string(kWidgets) + "?watch=true&resourceVersion=0&timeoutSeconds=1", "", kAlice);
  CHECK(Contains(watch.body, R"("name":"w0")"));
  CHECK(Contains(watch.body, R"("name":"w39")"));
  // Exempt tenants do not suffer for what others leave unread.
  CHECK(server->Call("GET", kWidgets, "", {{"Accept", kTable}}).code == 200);
  const auto created =
      server->Call("POST", kWidgets, Widget("new", 1), {{"Accept", "application/yaml"}});
  CHECK(created.code == 201);
  CHECK(Contains(created.body, "name: new"));

  memory->output.Release(memory->output.bytes_max() + 1);
  CHECK(server->Call("GET", kWidgets, "", AliceAccepts(kTable)).code == 200);
  CHECK(Comes(memory->output, 0));
}

TEST_CASE("endpoints: encodings in other versions are kept as long as there is room",
          "[endpoints]") {
  const std::size_t bytes_max = GENERATE(std::size_t{0}, std::size_t{8'000}, std::size_t{1} << 20);
  const auto server = StartWidgetServer({.memory = {.encodings_bytes_max = bytes_max}});
  CreateWidgets(*server, 100);
  const auto memory = server->server().memory();
  INFO(bytes_max);

  // The stored version shares the stored bytes.
  CHECK(server->Call("GET", kWidgets).code == 200);
  CHECK(memory->encodings.used() == 0);
  const auto first = server->Call("GET", kOldWidgets);
  CHECK(memory->encodings.used() <= bytes_max);
  CHECK((memory->encodings.used() > 0) == (bytes_max > 0));
  const auto again = server->Call("GET", kOldWidgets);

  CHECK(Contains(first.body, R"("spec":{"length":1})"));
  CHECK(again.body == first.body);
  CHECK(server->Call("GET", kOldWidgets, "", {{"Accept", kTable}}).code == 200);
  CHECK(memory->encodings.used() <= bytes_max);
}
