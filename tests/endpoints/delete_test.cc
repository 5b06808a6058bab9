// DELETE of one and of many over HTTP.
#include <catch2/catch.hpp>

#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::kWidgetA;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::Widget;

TEST_CASE("endpoints: a delete answers with Success and the object's identity", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));

  const auto deleted = server->Call("DELETE", kWidgetA);

  CHECK(deleted.code == 200);
  CHECK(Contains(deleted.body, R"("status":"Success","details":{"name":"a","group":"example.com",)"
                               R"("kind":"widgets","uid":")"));
  CHECK(server->Call("GET", kWidgetA).code == 404);
  CHECK(server->Call("DELETE", kWidgetA).code == 404);
}

TEST_CASE("endpoints: a finalizer holds the object until it is removed", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets,
               R"({"metadata":{"name":"a","finalizers":["example.com/hold"]},"spec":{}})");

  const auto deleting = server->Call("DELETE", kWidgetA);
  const auto released = server->Call("PATCH", kWidgetA, R"({"metadata":{"finalizers":null}})",
                                     {{"Content-Type", "application/merge-patch+json"}});

  CHECK(deleting.code == 200);
  CHECK(Contains(deleting.body, "\"deletionTimestamp\":\""));
  CHECK(released.code == 200);
  CHECK(server->Call("GET", kWidgetA).code == 404);
}

TEST_CASE("endpoints: preconditions and contradicting options refuse a delete", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));

  const auto uid = server->Call("DELETE", kWidgetA, R"({"preconditions":{"uid":"other"}})");
  const auto both =
      server->Call("DELETE", kWidgetA, R"({"orphanDependents":true,"propagationPolicy":"Orphan"})");
  const auto policy = server->Call("DELETE", kWidgetA + "?propagationPolicy=Sideways");
  const auto kind = server->Call("DELETE", kWidgetA, R"({"kind":"Widget","apiVersion":"v1"})");

  CHECK(uid.code == 409);
  CHECK(both.code == 422);
  CHECK(policy.code == 422);
  CHECK(kind.code == 400);
  CHECK(server->Call("GET", kWidgetA).code == 200);
}

TEST_CASE("endpoints: deletecollection deletes what the selector takes", "[endpoints]") {
  const auto server = StartWidgetServer();
  for (const char* name : {"a", "b", "c"}) {
    const std::string label = name[0] == 'c' ? "keep" : "drop";
    server->Call("POST", kWidgets,
                 R"({"metadata":{"name":")" + std::string(name) + R"(","labels":{"what":")" +
                     label + R"("}},"spec":{}})");
  }

  const auto deleted = server->Call("DELETE", std::string(kWidgets) + "?labelSelector=what%3Ddrop");
  const auto all_namespaces = server->Call("DELETE", "/apis/example.com/v1/widgets");

  CHECK(deleted.code == 200);
  CHECK(Contains(deleted.body, R"("kind":"WidgetList")"));
  CHECK(Contains(deleted.body, R"("name":"a")"));
  CHECK(server->Call("GET", kWidgetA).code == 404);
  CHECK(server->Call("GET", std::string(kWidgets) + "/c").code == 200);
  CHECK(all_namespaces.code == 405);
}
