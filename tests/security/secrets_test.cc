// Rows 23, 24 and 28 of docs/security.md: what must not be written down, and what must not be
// written as it came.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "apiserver/audit/options.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/sync.h"
#include "widget_server.h"

namespace {

using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
namespace audit = apiserver::audit;
namespace runtime = apiserver::runtime;

constexpr char kMark[] = "s3cr3t-m4rk";

// Keeps every line, of every level.
class EveryLine final : public apiserver::LogSink {
 public:
  bool Enabled(apiserver::LogLevel) const override { return true; }
  void Write(apiserver::LogLevel, std::string_view message,
             std::span<const apiserver::LogField> fields) override {
    auto text = text_.Lock();
    *text += message;
    for (const auto& field : fields) text->append(" ").append(field.key).append("=" + field.value);
    *text += '\n';
  }
  std::string text() const { return *text_.Lock(); }

 private:
  apiserver::Guarded<std::string> text_;
};

// TokenReview as far as this test needs it.
runtime::KindPtr TokenReviewKind() {
  const auto spec = runtime::StructBuilder("io.k8s.api.authentication.v1.TokenReviewSpec", "Spec.")
                        .Field("token", runtime::StringSchema())
                        .Build();
  return runtime::Kind::New(
             {.group = "authentication.k8s.io",
              .kind = "TokenReview",
              .plural = "tokenreviews",
              .versions = {{.version = "v1",
                            .schema = runtime::StructBuilder(
                                          "io.k8s.api.authentication.v1.TokenReview", "Review.")
                                          .Field("metadata", runtime::ObjectMetaSchema())
                                          .Field("spec", spec)
                                          .Build()}}})
      .value();
}

class ClusterStrategy final : public apiserver::rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  apiserver::field::ErrorList Validate(const apiserver::Context&,
                                       const runtime::Object&) const override {
    return {};
  }
};

// A server whose audit log is a file, with one rule for everything.
class World {
 public:
  explicit World(const std::string& level, const std::string& format = "json") {
    folder_ = (std::filesystem::temp_directory_path() / "secrets-XXXXXX").string();
    REQUIRE(mkdtemp(folder_.data()) != nullptr);
    REQUIRE(apiserver::RealFileSystem()
                .WriteAtomically(
                    folder_ + "/policy.yaml",
                    "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: " + level + "\n",
                    0600)
                .ok());
    auto made = audit::NewAudit(
        {.policy_file = folder_ + "/policy.yaml", .log_path = path(), .log_format = format});
    REQUIRE(made.ok());
    apiserver::testing::TestServerOptions options;
    options.resources = {
        {apiserver::testing::WidgetKind(), std::make_shared<apiserver::testing::WidgetStrategy>()},
        {TokenReviewKind(), std::make_shared<ClusterStrategy>()}};
    options.log = &log;
    options.configure = [&made](apiserver::server::Config& config) {
      config.audit_policy = made->policy;
      config.audit_backend = made->backend;
    };
    server = std::move(apiserver::testing::StartTestServer(std::move(options))).value();
  }
  ~World() {
    server = nullptr;
    std::filesystem::remove_all(folder_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::string path() const { return folder_ + "/audit.log"; }
  // Stops the server; the whole audit log.
  std::string AuditLog() {
    server->server().Stop();
    return apiserver::RealFileSystem().Read(path()).value();
  }

  EveryLine log;
  std::unique_ptr<apiserver::testing::TestServer> server;

 private:
  std::string folder_;
};

std::size_t Count(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) {
    ++count;
  }
  return count;
}

std::string Marked(const std::string& name, const std::string& more = "") {
  return R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" + name + "\"" +
         more + R"(},"spec":{"color":")" + kMark + "\"}}";
}

// Writes a marked object in every way, and reads it in every way.
void UseMarkedObjects(apiserver::testing::TestServer& server) {
  const std::string one = std::string(kWidgets) + "/one";
  CHECK(server.Call("POST", kWidgets, Marked("one")).code == 201);
  CHECK(server
            .Call("PATCH", one, std::string(R"({"spec":{"color":")") + kMark + "-2\"}}",
                  {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(server
            .Call("PATCH", one,
                  std::string(R"([{"op":"replace","path":"/spec/color","value":")") + kMark +
                      "-3\"}]",
                  {{"Content-Type", "application/json-patch+json"}})
            .code == 200);
  CHECK(server
            .Call("PATCH", one, std::string(R"({"spec":{"color":")") + kMark + "-4\"}}",
                  {{"Content-Type", "application/strategic-merge-patch+json"}})
            .code == 200);
  CHECK(server
            .Call("PATCH", one + "?fieldManager=m&force=true", Marked("one"),
                  {{"Content-Type", "application/apply-patch+yaml"}})
            .code == 200);
  CHECK(Contains(server.Call("GET", one).body, kMark));
  CHECK(Contains(server.Call("GET", kWidgets).body, kMark));
  CHECK(Contains(server.Call("GET", std::string(kWidgets) + "?watch=1&timeoutSeconds=1").body,
                 kMark));
  CHECK(server.Call("DELETE", kWidgets).code == 200);
}

}  // namespace

TEST_CASE("security: row 23: credentials are in no log, event, metric or answer", "[security]") {
  World world("RequestResponse");
  const std::string mark = kMark;
  std::string answers;
  const auto call = [&](const std::string& target, apiserver::http::Headers headers) {
    const auto answer = world.server->Call("GET", target, "", std::move(headers));
    answers += answer.body;
    for (const auto& header : answer.headers) answers += header.name + ": " + header.value + "\n";
    return answer.code;
  };
  CHECK(call(kWidgets, {{"Authorization", "Bearer " + mark}}) == 401);
  CHECK(call(kWidgets, {{"Authorization", "Bearer  " + mark}}) == 401);
  CHECK(call(kWidgets, {{"Authorization", "Basic " + mark}}) == 401);
  CHECK(call(kWidgets, {{"Authorization", mark}}) == 401);
  CHECK(call(std::string(kWidgets) + "?access_token=" + mark, {{"Authorization", "x"}}) == 401);
  CHECK(call(std::string(kWidgets) + "?access_token=" + mark, {}) == 200);
  CHECK(call(kWidgets, {{"Cookie", "session=" + mark}}) == 200);
  CHECK(call(kWidgets,
             {{"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io." + mark + ", x"},
              {"Authorization", "x"}}) == 401);
  answers += world.server->server().metrics()->Serialize();
  CHECK_FALSE(Contains(answers, mark));
  const std::string events = world.AuditLog();
  CHECK(Count(events, "\n") >= 10);
  CHECK_FALSE(Contains(events, mark));
  CHECK_FALSE(Contains(world.log.text(), mark));
}

TEST_CASE("security: row 24: what the policy leaves out of events is nowhere else", "[security]") {
  struct Case {
    std::string level;
    std::size_t marks;  // In the audit log.
  };
  // Five writes bring the mark; reads and answers have it from RequestResponse on only.
  for (const Case& each : {Case{"None", 0}, Case{"Metadata", 0}, Case{"Request", 5}}) {
    CAPTURE(each.level);
    World world(each.level);
    UseMarkedObjects(*world.server);
    CHECK_FALSE(Contains(world.server->server().metrics()->Serialize(), kMark));
    const std::string events = world.AuditLog();
    CHECK((events.empty()) == (each.level == "None"));
    CHECK(Count(events, kMark) == each.marks);
    CHECK_FALSE(Contains(events, std::string("\"responseObject\"")));
    CHECK_FALSE(Contains(world.log.text(), kMark));
  }
  World all("RequestResponse");
  UseMarkedObjects(*all.server);
  CHECK(Count(all.AuditLog(), kMark) > 10);
  CHECK_FALSE(Contains(all.log.text(), kMark));
}

TEST_CASE("security: row 24: bodies of token reviews are recorded at no level", "[security]") {
  World world("RequestResponse");
  const std::string review =
      std::string(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)") +
      R"("metadata":{"name":"r"},"spec":{"token":")" + kMark + "\"}}";
  const auto answer =
      world.server->Call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review);
  CHECK(answer.code == 201);
  CHECK(Contains(answer.body, kMark));  // Here it is the generic store's.
  const std::string events = world.AuditLog();
  CHECK(Contains(events, "\"resource\":\"tokenreviews\""));
  CHECK(Contains(events, "\"level\":\"Metadata\""));
  CHECK_FALSE(Contains(events, kMark));
}

TEST_CASE("security: row 24: the audit log is its owner's alone", "[security]") {
  const World world("Metadata");
  struct stat found {};
  REQUIRE(stat(world.path().c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
}

TEST_CASE("security: row 28: control bytes of strangers are escaped in the audit log",
          "[security]") {
  for (const char* format : {"json", "legacy"}) {
    World world("RequestResponse", format);
    CHECK(world.server
              ->Call("GET", std::string(kWidgets) + "?x=\x1b[2J", "",
                     {{"User-Agent", "evil\x1b]0;owned\x07\x7f"}, {"Audit-ID", "a\x1b[31m"}})
              .code == 200);
    CHECK(
        world.server->Call("POST", kWidgets, Marked("x", ",\"annotations\":{\"a\":\"\\u001b[2J\"}"))
            .code == 201);
    const std::string events = world.AuditLog();
    CHECK(Contains(events, "evil"));
    for (const char c : events) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte != '\n') CHECK(byte >= 0x20);
    }
  }
}
