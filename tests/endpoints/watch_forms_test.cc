// The same changes in every form a watch can have.
#include <catch2/catch.hpp>

#include "dialled.h"
#include "gunzip.h"
#include "media_types.h"
#include "watch_lines.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::Dialled;
using apiserver::testing::Gunzip;
using apiserver::testing::kJson;
using apiserver::testing::kTable;
using apiserver::testing::kWidgets;
using apiserver::testing::Lines;
using apiserver::testing::ServerFrame;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
using apiserver::testing::WebSocketClient;
using apiserver::testing::Widget;

namespace {

constexpr char kPartialObject[] = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
constexpr char kPartialProtobuf[] =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

enum class Way { kHttp, kGzip, kWebSocket };

struct Form {
  const char* name;
  Way way;
  const char* accept;
  const char* content_type;
  // What every event's object begins with.
  const char* object;
};

constexpr char kProtobufObject[] = "\x12\x15PartialObjectMetadata";

const Form kForms[] = {
    {"JSON", Way::kHttp, kJson, "application/json",
     R"({"kind":"Widget","apiVersion":"example.com/v1",)"},
    {"Table", Way::kHttp, kTable, "application/json",
     R"({"kind":"Table","apiVersion":"meta.k8s.io/v1",)"},
    {"PartialObjectMetadata", Way::kHttp, kPartialObject, "application/json",
     R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"},
    {"protobuf PartialObjectMetadata", Way::kHttp, kPartialProtobuf,
     "application/vnd.kubernetes.protobuf;stream=watch", kProtobufObject},
    {"gzipped JSON", Way::kGzip, kJson, "application/json",
     R"({"kind":"Widget","apiVersion":"example.com/v1",)"},
    {"gzipped Table", Way::kGzip, kTable, "application/json",
     R"({"kind":"Table","apiVersion":"meta.k8s.io/v1",)"},
    {"gzipped protobuf", Way::kGzip, kPartialProtobuf,
     "application/vnd.kubernetes.protobuf;stream=watch", kProtobufObject},
    {"WebSocket JSON", Way::kWebSocket, kJson, "",
     R"({"kind":"Widget","apiVersion":"example.com/v1",)"},
    {"WebSocket Table", Way::kWebSocket, kTable, "",
     R"({"kind":"Table","apiVersion":"meta.k8s.io/v1",)"},
    {"WebSocket PartialObjectMetadata", Way::kWebSocket, kPartialObject, "",
     R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"},
    {"WebSocket protobuf", Way::kWebSocket, kPartialProtobuf, "", kProtobufObject},
};

// One watch in one form, read event by event.
class FormWatch {
 public:
  FormWatch(TestServer& server, Dialled& dialled, const Form& form, std::string query)
      : form_(form), protobuf_(std::string_view(form.accept) == kPartialProtobuf) {
    query += "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    apiserver::http::Headers headers{{"Accept", form.accept}};
    if (form.way == Way::kGzip) headers.Add("Accept-Encoding", "gzip");
    if (form.way == Way::kWebSocket) {
      connection_ = dialled.Connect();
      socket_ = std::make_unique<WebSocketClient>(*connection_, query, "", headers);
      REQUIRE(socket_->head().code == 101);
    } else {
      lines_ = std::make_unique<Lines>(server, query, headers);
      CHECK(lines_->head().headers.Get("Content-Type") == form.content_type);
      CHECK(lines_->head().headers.Has("Content-Encoding") == (form.way == Way::kGzip));
    }
    const std::string end = Raw();
    INFO(form.name << " " << query << " " << end);
    REQUIRE(TypeOf(end) == "BOOKMARK");
    REQUIRE(Contains(end, "initial-events-end"));
  }

  // "ADDED a"; checks the object's shape.
  std::string Next() {
    const std::string event = Raw();
    INFO(event);
    CHECK(Contains(event, form_.object));
    std::string text = TypeOf(event);
    for (const char* name : {"a", "b"}) {
      const std::string field = protobuf_ ? std::string("\x0a\x01") + name + "\x12"
                                          : R"("name":")" + std::string(name) + "\"";
      if (Contains(event, field)) return text + " " + name;
    }
    return text;
  }

 private:
  std::string TypeOf(const std::string& event) const {
    if (protobuf_) return event.substr(2, static_cast<unsigned char>(event[1]));
    REQUIRE(event.starts_with(R"({"type":")"));
    return event.substr(9, event.find('"', 9) - 9);
  }
  std::string Raw() {
    if (socket_) {
      const ServerFrame frame = socket_->Read();
      CHECK(frame.first == (protobuf_ ? 0x82 : 0x81));
      if (!protobuf_) CHECK(frame.payload.back() == '\n');
      return frame.payload;
    }
    while (true) {
      const std::size_t size = SizeOfFirst();
      if (size > 0) {
        std::string event = buffer_.substr(protobuf_ ? 4 : 0, size);
        buffer_.erase(0, size + (protobuf_ ? 4 : 0));
        return event;
      }
      const std::string more = lines_->NextBytes();
      REQUIRE_FALSE(more.empty());
      buffer_ += form_.way == Way::kGzip ? gunzip_.Add(more) : more;
    }
  }
  // Zero: it is not there yet.
  std::size_t SizeOfFirst() const {
    if (!protobuf_) return buffer_.find('\n') + 1;
    if (buffer_.size() < 4) return 0;
    std::size_t size = 0;
    for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(buffer_[i]);
    return buffer_.size() < size + 4 ? 0 : size;
  }

  const Form& form_;
  const bool protobuf_;
  std::unique_ptr<apiserver::http::Connection> connection_;
  std::unique_ptr<WebSocketClient> socket_;
  std::unique_ptr<Lines> lines_;
  Gunzip gunzip_;
  std::string buffer_;
};

void Put(TestServer& server, const std::string& name, const std::string& label) {
  const std::string body = R"({"metadata":{"name":")" + name + R"(","labels":{"l":")" + label +
                           R"("}},"spec":{"color":")" + label + R"("}})";
  REQUIRE(server.Call("POST", kWidgets, body).code == 201);
}
void Set(TestServer& server, const std::string& name, const std::string& label, int size) {
  const std::string body = R"({"metadata":{"labels":{"l":")" + label + R"("}},"spec":{"color":")" +
                           label + R"(","size":)" + std::to_string(size) + "}}";
  REQUIRE(server
              .Call("PATCH", std::string(kWidgets) + "/" + name, body,
                    {{"Content-Type", "application/merge-patch+json"}})
              .code == 200);
}
void Remove(TestServer& server, const std::string& name) {
  REQUIRE(server.Call("DELETE", std::string(kWidgets) + "/" + name).code == 200);
}

struct Selection {
  const char* name;
  std::string target;
  std::vector<std::string> events;
};

// What the changes of MakeChanges() are to each selection.
std::vector<Selection> Selections() {
  const std::string list = std::string(kWidgets) + "?watch=1";
  const std::string deprecated = "/apis/example.com/v1/watch/namespaces/default/widgets";
  const std::vector<std::string> all = {"ADDED a",    "MODIFIED a", "MODIFIED a", "ADDED b",
                                        "MODIFIED a", "MODIFIED b", "DELETED b",  "MODIFIED a",
                                        "DELETED a",  "ADDED a"};
  const std::vector<std::string> red = {"ADDED a",   "MODIFIED a", "DELETED a", "ADDED b",
                                        "DELETED b", "ADDED a",    "DELETED a"};
  const std::vector<std::string> not_red = {"ADDED a",   "DELETED a", "ADDED b", "ADDED a",
                                            "DELETED b", "DELETED a", "ADDED a"};
  const std::vector<std::string> of_a = {"ADDED a",    "MODIFIED a", "MODIFIED a", "MODIFIED a",
                                         "MODIFIED a", "DELETED a",  "ADDED a"};
  return {
      {"all", list, all},
      {"a label", list + "&labelSelector=l%3Dred", red},
      {"a label among others", list + "&labelSelector=l+in+(red,green)", red},
      {"not a label", list + "&labelSelector=l%21%3Dred", not_red},
      {"a field", list + "&fieldSelector=spec.color%3Dred", red},
      {"not a field", list + "&fieldSelector=spec.color%21%3Dred", not_red},
      {"a label and a field", list + "&labelSelector=l%3Dred&fieldSelector=spec.color%3Dred", red},
      {"a name", list + "&fieldSelector=metadata.name%3Da", of_a},
      {"a name and a label",
       list + "&fieldSelector=metadata.name%3Da&labelSelector=l%3Dred",
       {"ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a"}},
      {"not a name",
       list + "&fieldSelector=metadata.name%21%3Da",
       {"ADDED b", "MODIFIED b", "DELETED b"}},
      {"another namespace's name", list + "&fieldSelector=metadata.namespace%3Dother", {}},
      {"the deprecated path", deprecated + "?watch=1", all},
      {"the deprecated path of all namespaces", "/apis/example.com/v1/watch/widgets?watch=1", all},
      {"the deprecated path of a name", deprecated + "/a?watch=1", of_a},
      {"the deprecated path of a name, selected twice",
       deprecated + "/a?watch=1&fieldSelector=metadata.name%3Da", of_a},
      {"all namespaces", "/apis/example.com/v1/widgets?watch=1", all},
      {"all namespaces, one name",
       "/apis/example.com/v1/widgets?watch=1&fieldSelector=metadata.name%3Da", of_a},
  };
}

void MakeChanges(TestServer& server) {
  Put(server, "a", "blue");
  Set(server, "a", "red", 1);   // Enters.
  Set(server, "a", "red", 2);   // Stays.
  Put(server, "b", "blue");     // Never was in it.
  Set(server, "a", "blue", 2);  // Leaves.
  Set(server, "b", "red", 1);
  Remove(server, "b");         // Goes while in it.
  Set(server, "a", "red", 3);  // Enters once more.
  Remove(server, "a");
  Put(server, "a", "blue");
}

}  // namespace

// cacher TestWatch, TestWatchInitializationSignal; storage/testing RunTestWatch and siblings
TEST_CASE("endpoints: a change enters, stays in or leaves a selection alike in every form",
          "[endpoints]") {
  // Watches are served on the loop, or on the pool.
  const bool functions_inline = GENERATE(true, false);
  const auto server = StartWidgetServer({.listen = true}, functions_inline);
  Dialled dialled(*server);
  const std::vector<Selection> selections = Selections();
  struct Open {
    const Form& form;
    const Selection& selection;
    std::unique_ptr<FormWatch> watch;
  };
  std::vector<Open> open;
  for (const Form& form : kForms) {
    for (const Selection& selection : selections) {
      open.push_back(
          {form, selection, std::make_unique<FormWatch>(*server, dialled, form, selection.target)});
    }
  }

  MakeChanges(*server);

  for (const Open& each : open) {
    INFO(each.form.name << ", " << each.selection.name);
    for (const std::string& event : each.selection.events) CHECK(each.watch->Next() == event);
  }
}

TEST_CASE("endpoints: a name in a deprecated path and another in the selector contradict",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  const auto answer = server->Call("GET",
                                   "/apis/example.com/v1/watch/namespaces/default/widgets/a"
                                   "?fieldSelector=metadata.name%3Db");
  CHECK(answer.code == 400);
  CHECK(Contains(answer.body, "fieldSelector metadata.name doesn't match requested name"));
}

TEST_CASE("endpoints: a watch over a WebSocket ends by itself after timeoutSeconds",
          "[endpoints]") {
  const auto server = StartWidgetServer({.listen = true});
  Dialled dialled(*server);
  WebSocketClient watch(dialled.connection(),
                        std::string(kWidgets) + "?watch=1&resourceVersion=0&timeoutSeconds=1");

  CHECK(watch.head().code == 101);
  CHECK(watch.Read().close_code() == 1000);
  watch.SendClose(1000);
  CHECK(watch.Read() == ServerFrame{});
}

TEST_CASE("endpoints: a watch over a WebSocket ignores what it is told, and ends with its client",
          "[endpoints]") {
  auto server = StartWidgetServer({.listen = true});
  Dialled dialled(*server);
  WebSocketClient watch(dialled.connection(), std::string(kWidgets) + "?watch=1&resourceVersion=0");
  watch.SendText("anybody there?");
  server->Call("POST", kWidgets, Widget("a", 3));
  CHECK(watch.Read().payload.starts_with(R"({"type":"ADDED","object":{"kind":"Widget",)"));

  watch.SendClose(1001);

  CHECK(watch.Read().close_code() == 1001);
  CHECK(watch.Read() == ServerFrame{});
  // Stopping waits for whatever is still open.
  server->server().Stop();
}

TEST_CASE("endpoints: what is wrong with a watch is said before it becomes a WebSocket",
          "[endpoints]") {
  const auto server = StartWidgetServer({.listen = true});
  Dialled dialled(*server);
  struct Case {
    const char* query;
    const char* protocols;
    const char* accept;
    int code;
    const char* agreed;
  };
  const Case each =
      GENERATE(Case{"?watch=1", "", kJson, 101, ""},
               Case{"?watch=1", "any.k8s.io", kJson, 101, "any.k8s.io"},
               // golang.org/x/net/websocket agrees on one, or none.
               Case{"?watch=1", "a, b", kJson, 400, ""}, Case{"?watch=1", "", "image/png", 406, ""},
               Case{"?watch=1&labelSelector=a%21%21", "", kJson, 400, ""},
               Case{"?watch=1&resourceVersion=x", "", kJson, 422, ""},
               // Only a watch becomes a WebSocket.
               Case{"", "", kJson, 200, ""});
  WebSocketClient watch(dialled.connection(), std::string(kWidgets) + each.query, each.protocols,
                        {{"Accept", each.accept}});

  CHECK(watch.head().code == each.code);
  CHECK(watch.head().headers.Get("Sec-WebSocket-Protocol") == each.agreed);
}
