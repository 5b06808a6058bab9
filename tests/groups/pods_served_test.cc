// Pods and nodes as a cluster's clients meet them: life cycle, subresources, columns, selectors.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/core.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/fake_clock.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"

namespace {

using apiserver::runtime::Arena;
using apiserver::runtime::Value;
using apiserver::testing::Contains;
using apiserver::testing::TestServer;

const std::string kClusterPods = "/api/v1/namespaces/default/pods";
const std::string kClusterNodes = "/api/v1/nodes";
const std::string kAsTable = "application/json;as=Table;v=v1;g=meta.k8s.io";

// A server of pods and nodes whose clock stands still.
class PodCluster {
 public:
  PodCluster() {
    apiserver::testing::TestServerOptions options;
    options.clock = &clock_;
    auto resources = apiserver::groups::core::ClusterResources(clock_);
    REQUIRE(resources.ok());
    options.install = [this, kinds = std::move(*resources)](auto& server) {
      auto stores = apiserver::server::InstallKinds(server, server.Storage(*engine_), kinds);
      if (!stores.ok()) return stores.status();
      return apiserver::groups::core::InstallBindings(server, stores->front(), clock_);
    };
    engine_ = apiserver::storage::memory::NewEngine({.clock = clock_});
    options.engine = engine_.get();
    auto server = apiserver::testing::StartTestServer(std::move(options));
    INFO(server.status().ToString());
    REQUIRE(server.ok());
    server_ = std::move(*server);
  }

  apiserver::http::ClientResponse Call(const std::string& method, const std::string& path,
                                       const std::string& body = "",
                                       const apiserver::http::Headers& headers = {}) {
    return server_->Call(method, path, body, headers);
  }
  // Sends a patch of that kind and expects success.
  std::string Patch(const std::string& path, const std::string& kind, const std::string& body) {
    const auto answer =
        Call("PATCH", path, body, {{"Content-Type", "application/" + kind + "+json"}});
    INFO(answer.body);
    REQUIRE(answer.code == 200);
    return answer.body;
  }
  void Create(const std::string& path, const std::string& body) {
    const auto answer = Call("POST", path, body);
    INFO(answer.body);
    REQUIRE(answer.code == 201);
  }
  std::string Get(const std::string& path) {
    const auto answer = Call("GET", path);
    INFO(answer.body);
    REQUIRE(answer.code == 200);
    return answer.body;
  }
  // The cells of the first row.
  std::string Cells(const std::string& path) {
    return Part(Call("GET", path, "", {{"Accept", kAsTable}}).body, {"rows", "0", "cells"});
  }
  // A member of a JSON document, by names and indexes.
  static std::string Part(const std::string& json, const std::vector<std::string>& path) {
    Arena arena;
    const auto document = apiserver::codec::ParseJson(json, arena);
    INFO(json);
    REQUIRE(document.ok());
    Value value = *document;
    for (const std::string& step : path) {
      value = value.is_list() ? value.at(static_cast<std::size_t>(std::stoi(step))) : value[step];
    }
    std::string text;
    apiserver::codec::AppendJson(value, text);
    return text;
  }

 private:
  apiserver::testing::FakeClock clock_;
  std::unique_ptr<apiserver::storage::kv::Engine> engine_;
  std::unique_ptr<TestServer> server_;
};

std::string PodNamed(const std::string& name, const std::string& more = "") {
  return R"({"metadata":{"name":")" + name +
         R"("},"spec":{"containers":[{"name":"c","image":"busybox"}])" + more + "}}";
}

std::string BindingOf(const std::string& pod, const std::string& node,
                      const std::string& metadata = "") {
  return R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" + pod + "\"" + metadata +
         R"(},"target":{"kind":"Node","name":")" + node + "\"}}";
}

const std::string kBoundStatus =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})";

}  // namespace

TEST_CASE("groups: a scheduler binds a pod to a node once", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("p"));

  const auto bound = cluster.Call("POST", kClusterPods + "/p/binding",
                                  BindingOf("p", "n1", R"(,"annotations":{"a":"1"})"));
  const auto again = cluster.Call("POST", kClusterPods + "/p/binding", BindingOf("p", "n2"));

  CHECK(bound.code == 201);
  CHECK(Contains(bound.body, kBoundStatus));
  const std::string pod = cluster.Get(kClusterPods + "/p");
  CHECK(PodCluster::Part(pod, {"spec", "nodeName"}) == R"("n1")");
  CHECK(PodCluster::Part(pod, {"metadata", "annotations", "a"}) == R"("1")");
  CHECK(PodCluster::Part(pod, {"metadata", "generation"}) == "1");
  CHECK(PodCluster::Part(pod, {"status", "conditions", "0", "type"}) == R"("PodScheduled")");
  CHECK(PodCluster::Part(pod, {"status", "conditions", "0", "status"}) == R"("True")");
  CHECK(again.code == 409);
  CHECK(
      Contains(again.body,
               R"(Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned )"
               R"(to node \"n1\")"));
}

TEST_CASE("groups: a binding is of the pod that is meant", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("p"));
  cluster.Create(kClusterPods, PodNamed("q"));
  const std::string uid = PodCluster::Part(cluster.Get(kClusterPods + "/q"), {"metadata", "uid"});

  const auto other = cluster.Call("POST", kClusterPods + "/p/binding", BindingOf("q", "n1"));
  const auto stale =
      cluster.Call("POST", kClusterPods + "/p/binding", BindingOf("p", "n1", R"(,"uid":"other")"));
  const auto none = cluster.Call("POST", kClusterPods + "/none/binding", BindingOf("none", "n1"));
  const auto nowhere = cluster.Call("POST", kClusterPods + "/p/binding", BindingOf("p", ""));
  const auto right =
      cluster.Call("POST", kClusterPods + "/q/binding", BindingOf("q", "n1", ",\"uid\":" + uid));
  const auto legacy =
      cluster.Call("POST", "/api/v1/namespaces/default/bindings", BindingOf("p", "n2"));

  CHECK(Contains(other.body, "name in URL does not match name in Binding object"));
  CHECK(stale.code == 409);
  CHECK(none.code == 404);
  CHECK(nowhere.code == 500);
  CHECK(Contains(nowhere.body, "target.name: Required value"));
  CHECK(right.code == 201);
  CHECK(legacy.code == 201);
  CHECK(PodCluster::Part(cluster.Get(kClusterPods + "/p"), {"spec", "nodeName"}) == R"("n2")");
}

TEST_CASE("groups: a pod without a node goes at once, one with a node when its grace is over",
          "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("free"));
  cluster.Create(kClusterPods, PodNamed("bound", R"(,"nodeName":"n1")"));

  const auto freed = cluster.Call("DELETE", kClusterPods + "/free");
  const auto marked = cluster.Call("DELETE", kClusterPods + "/bound");

  CHECK(freed.code == 200);
  CHECK(PodCluster::Part(freed.body, {"kind"}) == R"("Pod")");
  CHECK(cluster.Call("GET", kClusterPods + "/free").code == 404);
  CHECK(PodCluster::Part(marked.body, {"metadata", "deletionGracePeriodSeconds"}) == "30");
  CHECK(Contains(cluster.Cells(kClusterPods), R"("bound","0/1","Terminating","0")"));
  CHECK(cluster.Call("DELETE", kClusterPods + "/bound?gracePeriodSeconds=0").code == 200);
  CHECK(cluster.Call("GET", kClusterPods + "/bound").code == 404);
}

TEST_CASE("groups: an eviction marks a pod and deletes it", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("p", R"(,"nodeName":"n1")"));
  const auto evict = [&](const std::string& version, const std::string& more) {
    return cluster.Call("POST", kClusterPods + "/p/eviction",
                        R"({"apiVersion":"policy/)" + version +
                            R"(","kind":"Eviction","metadata":{"name":"p"})" + more + "}");
  };

  const auto stale = evict("v1", R"(,"deleteOptions":{"preconditions":{"uid":"other"}})");
  const auto rehearsed = evict("v1beta1", R"(,"deleteOptions":{"dryRun":["All"]})");
  const std::string before = cluster.Get(kClusterPods + "/p");
  const auto evicted = evict("v1", "");

  CHECK(stale.code == 409);
  CHECK(
      Contains(stale.body, "the UID in the precondition (other) does not match the UID in record"));
  CHECK(rehearsed.code == 201);
  CHECK(PodCluster::Part(before, {"metadata", "deletionTimestamp"}) == "null");
  CHECK(evicted.code == 201);
  CHECK(Contains(evicted.body, kBoundStatus));
  const std::string pod = cluster.Get(kClusterPods + "/p");
  CHECK(PodCluster::Part(pod, {"status", "conditions", "0", "type"}) == R"("DisruptionTarget")");
  CHECK(PodCluster::Part(pod, {"status", "conditions", "0", "reason"}) ==
        R"("EvictionByEvictionAPI")");
  CHECK(PodCluster::Part(pod, {"metadata", "deletionGracePeriodSeconds"}) == "30");
}

TEST_CASE("groups: kubectl debug adds an ephemeral container, which stays", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("p"));
  const std::string path = kClusterPods + "/p/ephemeralcontainers";
  const std::string debugger =
      R"({"name":"debugger","image":"busybox","targetContainerName":"c","stdin":true,"tty":true})";

  const std::string added = cluster.Patch(
      path, "strategic-merge-patch",
      R"({"spec":{"ephemeralContainers":[)" + debugger + R"(]},"metadata":{"labels":{"x":"y"}}})");
  const auto removed = cluster.Call("PATCH", path, R"({"spec":{"ephemeralContainers":[]}})",
                                    {{"Content-Type", "application/merge-patch+json"}});
  const auto with_ports =
      cluster.Call("PATCH", path,
                   R"({"spec":{"ephemeralContainers":[)" + debugger +
                       R"(,{"name":"e","image":"busybox","ports":[{"containerPort":80}]}]}})",
                   {{"Content-Type", "application/merge-patch+json"}});

  CHECK(PodCluster::Part(added, {"spec", "ephemeralContainers", "0", "terminationMessagePath"}) ==
        R"("/dev/termination-log")");
  CHECK(PodCluster::Part(added, {"metadata", "labels"}) == "null");
  CHECK(PodCluster::Part(added, {"metadata", "generation"}) == "2");
  CHECK(removed.code == 422);
  CHECK(Contains(removed.body, R"(existing ephemeral containers \"debugger\" may not be removed)"));
  CHECK(with_ports.code == 422);
  CHECK(Contains(with_ports.body,
                 "spec.ephemeralContainers[1].ports: Forbidden: cannot be set for an Ephemeral "
                 "Container"));
}

TEST_CASE("groups: a resize changes cpu and memory, and nothing else", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods,
                 R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",)"
                 R"("resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2"}}}]}})");
  const auto resize = [&](const std::string& container) {
    return cluster.Call("PATCH", kClusterPods + "/p/resize",
                        R"({"spec":{"containers":[{"name":"c",)" + container + "}]}}",
                        {{"Content-Type", "application/strategic-merge-patch+json"}});
  };

  const auto resized = resize(R"("image":"other","resources":{"requests":{"cpu":"1500m"}})");
  const auto removed = resize(R"("resources":{"limits":null})");
  const auto new_class =
      resize(R"("resources":{"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
  const auto main = cluster.Call("PATCH", kClusterPods + "/p",
                                 R"({"spec":{"containers":[{"name":"c","resources":)"
                                 R"({"requests":{"cpu":"1"}}}]}})",
                                 {{"Content-Type", "application/strategic-merge-patch+json"}});

  INFO(resized.body);
  CHECK(resized.code == 200);
  const std::vector<std::string> container = {"spec", "containers", "0"};
  CHECK(Contains(resized.body, R"("image":"i")"));
  CHECK(Contains(resized.body, R"("requests":{"cpu":"1500m","memory":"1Gi"})"));
  CHECK(Contains(removed.body, "resource limits cannot be removed"));
  CHECK(Contains(new_class.body, "Pod QOS Class may not change as a result of resizing"));
  CHECK(main.code == 422);
  CHECK(Contains(main.body, "pod updates may not change fields other than"));
}

TEST_CASE("groups: the status of a pod is its kubelet's, and shown in columns", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("p", R"(,"nodeName":"n1")"));

  const std::string status = cluster.Patch(
      kClusterPods + "/p/status", "merge-patch",
      R"({"spec":{"nodeName":"other"},"status":{"phase":"Running","podIP":"10.0.0.1",)"
      R"("conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c",)"
      R"("ready":true,"restartCount":3,"state":{"running":{}},"lastState":{"terminated":)"
      R"({"exitCode":1,"finishedAt":"1970-01-01T00:00:00Z"}}}]}})");
  const auto moved =
      cluster.Call("PATCH", kClusterPods + "/p/status", R"({"status":{"qosClass":"Burstable"}})",
                   {{"Content-Type", "application/merge-patch+json"}});

  CHECK(PodCluster::Part(status, {"spec", "nodeName"}) == R"("n1")");
  CHECK(PodCluster::Part(status, {"status", "podIPs"}) == R"([{"ip":"10.0.0.1"}])");
  CHECK(PodCluster::Part(status, {"status", "qosClass"}) == R"("BestEffort")");
  CHECK(PodCluster::Part(status, {"metadata", "generation"}) == "1");
  CHECK(Contains(moved.body,
                 "status.qosClass: Invalid value: \\\"Burstable\\\": field is immutable"));
  const std::string cells = cluster.Cells(kClusterPods);
  CHECK(Contains(cells, R"x("p","1/1","Running","3 (50y ago)")x"));
  CHECK(Contains(cells, R"("10.0.0.1","n1","\u003cnone\u003e","\u003cnone\u003e"])"));
}

TEST_CASE("groups: rows of pods that have ended say so", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("p"));
  cluster.Patch(kClusterPods + "/p/status", "merge-patch", R"({"status":{"phase":"Succeeded"}})");

  const auto table = cluster.Call("GET", kClusterPods, "", {{"Accept", kAsTable}});

  CHECK(Contains(table.body,
                 R"("conditions":[{"type":"Completed","status":"True","reason":"Succeeded",)"
                 R"("message":"The pod has completed successfully."}],"object":)"));
}

TEST_CASE("groups: pods and nodes are selected by their fields", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterPods, PodNamed("a", R"(,"nodeName":"n1")"));
  cluster.Create(kClusterPods, PodNamed("b", R"(,"hostNetwork":true)"));
  cluster.Create(kClusterNodes, R"({"metadata":{"name":"n1"},"spec":{"unschedulable":true}})");
  cluster.Create(kClusterNodes, R"({"metadata":{"name":"n2"}})");
  const auto found = [&](const std::string& path) {
    const auto answer = cluster.Call("GET", path);
    std::string names;
    Arena arena;
    const auto list = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(list.ok());
    for (const Value& item : (*list)["items"].items()) {
      names += std::string(item["metadata"]["name"].AsString());
    }
    return std::to_string(answer.code) + names;
  };

  CHECK(found(kClusterPods + "?fieldSelector=spec.nodeName=n1") == "200a");
  CHECK(found(kClusterPods + "?fieldSelector=spec.host=n1") == "200a");
  CHECK(found(kClusterPods + "?fieldSelector=spec.nodeName=") == "200b");
  CHECK(found(kClusterPods + "?fieldSelector=spec.hostNetwork=false") == "200a");
  CHECK(found(kClusterPods + "?fieldSelector=status.phase=Pending,spec.hostNetwork=true") ==
        "200b");
  CHECK(found(kClusterPods + "?fieldSelector=status.podIPs=10.0.0.1") == "200");
  CHECK(found(kClusterNodes + "?fieldSelector=spec.unschedulable=false") == "200n2");
  const auto unknown = cluster.Call("GET", kClusterPods + "?fieldSelector=spec.foo=1");
  CHECK(unknown.code == 400);
  CHECK(Contains(unknown.body, "spec.foo"));
}

TEST_CASE("groups: a node shows what it is for and whether it is ready", "[groups]") {
  PodCluster cluster;
  cluster.Create(kClusterNodes,
                 R"({"metadata":{"name":"n1","labels":{"node-role.kubernetes.io/worker":"",)"
                 R"("node-role.kubernetes.io/control-plane":"","kubernetes.io/role":"old"}},)"
                 R"("spec":{"unschedulable":true},"status":{"capacity":{"cpu":"100u"},)"
                 R"("addresses":[{"type":"InternalIP","address":"10.0.0.7"}],)"
                 R"("conditions":[{"type":"Ready","status":"True"}],)"
                 R"("nodeInfo":{"kubeletVersion":"v1.35.4","osImage":"Debian"}}})");

  CHECK(PodCluster::Part(cluster.Get(kClusterNodes + "/n1"), {"status", "allocatable", "cpu"}) ==
        R"("1m")");
  const std::string cells = cluster.Cells(kClusterNodes);
  CHECK(Contains(cells, R"(["n1","Ready,SchedulingDisabled","control-plane,old,worker",)"));
  CHECK(Contains(cells, R"("v1.35.4","10.0.0.7","\u003cnone\u003e","Debian",)"
                        R"("\u003cunknown\u003e","\u003cunknown\u003e"])"));
}
