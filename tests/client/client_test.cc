#include "apiserver/client/client.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/fake_connection.h"

namespace apiserver::inline v0::client {
namespace {

const Context kCtx = Context::Background();
const Target kFlunder{
    .resource = {"wardle.example.com", "v1alpha1", "flunders"}, .namespace_ = "ns", .name = "x"};
const Target kFlunders{.resource = {"wardle.example.com", "v1alpha1", "flunders"},
                       .namespace_ = "ns"};

constexpr const char* kFlunderJson =
    R"({"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1",)"
    R"("metadata":{"name":"x","resourceVersion":"7"},"spec":{"a":1}})";

struct Fixture {
  std::shared_ptr<FakeConnection> connection = std::make_shared<FakeConnection>();
  std::unique_ptr<Client> client = NewClient(connection, "secret");

  explicit Fixture(int code = 200, std::string body = kFlunderJson) {
    connection->answers.push_back({.code = code, .headers = {}, .body = std::move(body)});
  }
  const http::ClientRequest& sent() const { return connection->requests.back(); }
};

std::unique_ptr<WatchStream> WatchOver(const std::shared_ptr<FakeConnection>& connection,
                                       std::deque<std::string> chunks,
                                       Status at_end = Status::Ok()) {
  connection->stream = std::make_unique<FakeStream>(200, std::move(chunks), std::move(at_end));
  return NewClient(connection)->Watch(kCtx, kFlunders, {}).value();
}

}  // namespace

TEST_CASE("client: a target's path is the server's", "[client]") {
  CHECK(kFlunder.Path() == "/apis/wardle.example.com/v1alpha1/namespaces/ns/flunders/x");
  CHECK(Target{.resource = {"", "v1", "nodes"}}.Path() == "/api/v1/nodes");
  CHECK(
      Target{
          .resource = {"", "v1", "pods"}, .namespace_ = "ns", .name = "x", .subresource = "status"}
          .Path() == "/api/v1/namespaces/ns/pods/x/status");
  CHECK(Target{.resource = {"", "v1", "nodes"}, .name = "a b"}.Path() == "/api/v1/nodes/a%20b");
}

TEST_CASE("client: get asks for one object as JSON, with the token", "[client]") {
  Fixture f;

  const auto object = f.client->Get(kCtx, kFlunder, {.resource_version = "0"});

  REQUIRE(object.ok());
  CHECK((*object)->name() == "x");
  CHECK((*object)->gvk() == runtime::GroupVersionKind{"wardle.example.com", "v1alpha1", "Flunder"});
  CHECK((**object)["spec"]["a"].AsInt() == 1);
  CHECK((**object)["kind"].is_null());
  CHECK(f.sent().method == "GET");
  CHECK(f.sent().target ==
        "/apis/wardle.example.com/v1alpha1/namespaces/ns/flunders/x?resourceVersion=0");
  CHECK(f.sent().headers.Get("Accept") == "application/json");
  CHECK(f.sent().headers.Get("Authorization") == "Bearer secret");
  CHECK(f.sent().headers.Get("User-Agent") == "libapiserver");
}

TEST_CASE("client: list reads items of their list's kind", "[client]") {
  Fixture f(200, R"({"kind":"FlunderList","apiVersion":"wardle.example.com/v1alpha1","metadata":)"
                 R"({"resourceVersion":"9","continue":"T","remainingItemCount":4},"items":)"
                 R"([{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})");
  meta::ListOptions options;
  options.label_selector = meta::LabelSelector::Parse("a in (b,c)").value();
  options.limit = 2;

  const auto list = f.client->List(kCtx, kFlunders, options);

  REQUIRE(list.ok());
  CHECK(list->resource_version == "9");
  CHECK(list->continue_token == "T");
  CHECK(list->remaining_item_count == 4);
  REQUIRE(list->items.size() == 2);
  CHECK(list->items[1]->name() == "b");
  CHECK(list->items[1]->gvk().kind == "Flunder");
  CHECK(f.sent().target.ends_with("/flunders?labelSelector=a%20in%20%28b%2Cc%29&limit=2"));
}

TEST_CASE("client: create and update send the object with its kind", "[client]") {
  Fixture f;
  const auto object = f.client->Get(kCtx, kFlunder);

  REQUIRE(f.client->Create(kCtx, kFlunders, **object, {.dry_run = true}).ok());
  CHECK(f.sent().method == "POST");
  CHECK(f.sent().target.ends_with("/flunders?dryRun=All"));
  CHECK(f.sent().headers.Get("Content-Type") == "application/json");
  CHECK(f.sent().body == kFlunderJson);
  REQUIRE(f.client->Update(kCtx, kFlunder, **object).ok());
  CHECK(f.sent().method == "PUT");
  CHECK(f.sent().target.ends_with("/flunders/x"));
}

TEST_CASE("client: patch sends the body under its media type", "[client]") {
  Fixture f;

  REQUIRE(f.client
              ->Patch(kCtx, kFlunder, {.media_type = "application/merge-patch+json", .text = "{}"},
                      {.field_manager = "me"})
              .ok());

  CHECK(f.sent().method == "PATCH");
  CHECK(f.sent().headers.Get("Content-Type") == "application/merge-patch+json");
  CHECK(f.sent().body == "{}");
  CHECK(f.sent().target.ends_with("/flunders/x?fieldManager=me"));
}

TEST_CASE("client: delete sends its options and answers with what the server said", "[client]") {
  Fixture f(200, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})");
  meta::DeleteOptions options;
  options.grace_period_seconds = 0;
  options.preconditions.uid = "u";
  options.propagation_policy = meta::DeletionPropagation::kForeground;
  options.dry_run = true;

  const auto answer = f.client->Delete(kCtx, kFlunder, options);

  REQUIRE(answer.ok());
  CHECK((*answer)->gvk().kind == "Status");
  CHECK((**answer)["status"].AsString() == "Success");
  CHECK(f.sent().method == "DELETE");
  CHECK(f.sent().body ==
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
        R"("preconditions":{"uid":"u"},"propagationPolicy":"Foreground","dryRun":["All"]})");
}

TEST_CASE("client: an error answer is the Status it holds", "[client]") {
  Fixture f(404,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
            R"("flunders \"x\" not found","reason":"NotFound","details":{"name":"x"},"code":404})");

  const Status status = f.client->Get(kCtx, kFlunder).status();

  CHECK(status.reason() == Reason::kNotFound);
  CHECK(status.message() == R"(flunders "x" not found)");
  CHECK(status.details()->name == "x");
}

TEST_CASE("client: an error answer without a Status is told from its code", "[client]") {
  Fixture f(503, "upstream is gone");
  f.connection->answers.front().headers.Add("Retry-After", "5");

  const Status status = f.client->Get(kCtx, kFlunder).status();

  CHECK(status.reason() == Reason::kServiceUnavailable);
  CHECK(status.code() == 503);
  CHECK(status.details()->retry_after_seconds == 5);
}

TEST_CASE("client: an answer that is no object is an error", "[client]") {
  for (const char* body : {"", "[]", "hello", "{}", R"({"kind":"Flunder"})"}) {
    CAPTURE(body);
    Fixture f(200, body);
    CHECK(f.client->Get(kCtx, kFlunder).status().reason() == Reason::kInternalError);
  }
  Fixture f;
  CHECK(f.client->List(kCtx, kFlunders).status().message() ==
        "the server answered no list but a Flunder");
}

TEST_CASE("client: a closed connection is replaced, an open one kept", "[client]") {
  std::vector<std::shared_ptr<FakeConnection>> made;
  ClientOptions options;
  options.connect = [&](const Context&) -> Result<std::shared_ptr<http::Connection>> {
    made.push_back(std::make_shared<FakeConnection>());
    made.back()->answers.push_back({.code = 200, .headers = {}, .body = kFlunderJson});
    return std::shared_ptr<http::Connection>(made.back());
  };
  const auto client = NewClient(std::move(options));

  REQUIRE(client->Get(kCtx, kFlunder).ok());
  REQUIRE(client->Get(kCtx, kFlunder).ok());
  CHECK(made.size() == 1);
  made.front()->is_closed = true;
  REQUIRE(client->Get(kCtx, kFlunder).ok());
  CHECK(made.size() == 2);
}

TEST_CASE("client: what a closing connection did not take is asked on another one", "[client]") {
  const auto [cause, calls] = GENERATE(table<std::string_view, std::size_t>(
      {{http::kNotBegunCause, 2}, {http::kUnansweredCause, 1}, {"", 1}}));
  CAPTURE(cause);
  std::vector<std::shared_ptr<FakeConnection>> made;
  ClientOptions options;
  options.connect = [&](const Context&) -> Result<std::shared_ptr<http::Connection>> {
    auto connection = std::make_shared<FakeConnection>();
    connection->is_closed = true;
    if (made.empty()) {
      connection->failure = Status(Reason::kServiceUnavailable, "closed");
      if (!cause.empty()) {
        connection->failure = connection->failure.WithDetails(
            {.causes = {{.reason = std::string(http::kUnansweredCause)},
                        {.reason = std::string(cause)}}});
      }
    } else {
      connection->answers.push_back({.code = 200, .headers = {}, .body = kFlunderJson});
      connection->stream = std::make_unique<FakeStream>(200, std::deque<std::string>());
    }
    made.push_back(connection);
    return made.back();
  };
  const auto client = NewClient(options);

  SECTION("a call") { CHECK(client->Get(kCtx, kFlunder, {}).ok() == (calls == 2)); }
  SECTION("a watch") { CHECK(client->Watch(kCtx, kFlunders, {}).ok() == (calls == 2)); }

  CHECK(made.size() == calls);
}

TEST_CASE("client: a call that no connection takes is made twice", "[client]") {
  Fixture f;
  f.connection->failure =
      Status(Reason::kServiceUnavailable, "closed")
          .WithDetails({.causes = {{.reason = std::string(http::kNotBegunCause)}}});
  CHECK(f.client->Get(kCtx, kFlunder, {}).status() == f.connection->failure);
  CHECK(f.connection->requests.size() == 2);
}

TEST_CASE("client: a watch is read event by event, however its bytes are cut", "[client]") {
  const auto connection = std::make_shared<FakeConnection>();
  const std::string events =
      std::string(R"({"type":"ADDED","object":)") + kFlunderJson + "}\n" +
      R"({"type":"DELETED","object":)" + kFlunderJson + "}\n" +
      R"({"type":"BOOKMARK","object":{"kind":"Flunder","apiVersion":"v1","metadata":)" +
      R"({"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}})" + "\n";
  const std::size_t cut = GENERATE(1, 7, 150, 100'000);
  std::deque<std::string> chunks;
  for (std::size_t i = 0; i < events.size(); i += cut) chunks.push_back(events.substr(i, cut));

  const auto stream = WatchOver(connection, std::move(chunks));

  const auto added = stream->Next(kCtx);
  REQUIRE(added.ok());
  CHECK(added->value().type == watch::EventType::kAdded);
  CHECK(added->value().object->name() == "x");
  CHECK(added->value().resource_version == "7");
  const auto deleted = stream->Next(kCtx);
  CHECK(deleted->value().type == watch::EventType::kDeleted);
  // An informer keeps many objects of one kind.
  CHECK(deleted->value().object->kind_ptr() == added->value().object->kind_ptr());
  const auto bookmark = stream->Next(kCtx);
  CHECK(bookmark->value().type == watch::EventType::kBookmark);
  CHECK(bookmark->value().initial_events_end);
  CHECK(bookmark->value().object == nullptr);
  CHECK(bookmark->value().resource_version == "12");
  CHECK_FALSE(stream->Next(kCtx)->has_value());
  CHECK(connection->requests.back().target.ends_with("/flunders?watch=true"));
}

TEST_CASE("client: an ERROR event carries the server's Status", "[client]") {
  const auto connection = std::make_shared<FakeConnection>();
  const auto stream = WatchOver(
      connection, {R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},)"
                   R"("status":"Failure","message":"too old","reason":"Expired","code":410}})"
                   "\n"});

  const auto event = stream->Next(kCtx);

  CHECK(event->value().type == watch::EventType::kError);
  CHECK(event->value().error == Status(Reason::kExpired, "too old"));
}

TEST_CASE("client: a watch that is cut, or sends something else, is an error", "[client]") {
  const auto connection = std::make_shared<FakeConnection>();
  const auto error_of = [&](std::deque<std::string> chunks, Status at_end = Status::Ok()) {
    return WatchOver(connection, std::move(chunks), std::move(at_end))->Next(kCtx).status();
  };

  CHECK(error_of({"{\"type\":"}).message() == "not a watch event: cut short");
  CHECK(error_of({"{\"type\":\"X\"}\n"}).message() == "not a watch event: of no known type");
  CHECK(error_of({"hello\n"}).reason() == Reason::kInternalError);
  CHECK(error_of({}, Status(Reason::kServiceUnavailable, "lost")).message() == "lost");
}

TEST_CASE("client: a refused watch is the Status of the refusal", "[client]") {
  const auto connection = std::make_shared<FakeConnection>();
  connection->stream = std::make_unique<FakeStream>(
      403, std::deque<std::string>{R"({"kind":"Status","status":"Failure",)",
                                   R"("message":"no","reason":"Forbidden","code":403})"});

  const Status status = NewClient(connection)->Watch(kCtx, kFlunders, {}).status();

  CHECK(status == Status(Reason::kForbidden, "no"));
}

TEST_CASE("client: a kubeconfig says how to dial", "[client]") {
  const auto options = DialOptionsFor({.server = "https://127.0.0.1:6443", .ca_pem = "CA"});
  REQUIRE(options.ok());
  CHECK(options->host == "127.0.0.1");
  CHECK(options->port == 6443);
  CHECK(options->tls->ca_pem == "CA");
  CHECK(options->tls->server_name.empty());
  CHECK(DialOptionsFor({.server = "https://a", .tls_server_name = "b"})->tls->server_name == "b");
  CHECK(DialOptionsFor({.server = "https://[::1]:6443/"})->host == "::1");
  CHECK(DialOptionsFor({.server = "https://[::1]"})->host == "::1");
  CHECK(DialOptionsFor({.server = "https://example.com"})->port == 443);
  CHECK_FALSE(DialOptionsFor({.server = "http://localhost:8080/x"})->tls.has_value());
  for (const char* bad : {"", "127.0.0.1:6443", "ftp://x", "https://", "https://x:", "https://x:y",
                          "https://x:0", "https://x:65536"}) {
    CAPTURE(bad);
    CHECK(DialOptionsFor({.server = bad}).status().reason() == Reason::kInvalid);
  }
}

}  // namespace apiserver::inline v0::client
