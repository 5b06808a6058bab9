#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "apiserver/storage/memory/engine.h"
#include "controlplane/control/endpoints.h"
#include "controlplane/control/master_leases.h"
#include "controlplane/served.h"

// The Endpoints and EndpointSlices of a server, and the leases of servers.
namespace controlplane_test {

using Strings = std::vector<std::string>;
using apiserver::controlplane::EndpointPort;

inline const std::string kEndpoints = "/api/v1/namespaces/default/endpoints";
inline const std::string kSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

// "1.2.3.4 4.3.2.1|foo:8080:TCP": addresses and ports. "-": an object without any. "": no object.
struct Parts {
  Strings ips;
  Strings ports;
};
inline Parts Split(const std::string& text) {
  Parts parts;
  std::istringstream ips(text.substr(0, text.find('|')));
  std::istringstream ports(text.substr(text.find('|') + 1));
  for (std::string word; ips >> word;) parts.ips.push_back(word);
  for (std::string word; ports >> word;) parts.ports.push_back(word);
  return parts;
}

inline std::vector<EndpointPort> PortsOf(const std::string& text) {
  std::vector<EndpointPort> ports;
  for (const std::string& each : Split("|" + text).ports) {
    const auto first = each.find(':');
    const auto second = each.rfind(':');
    ports.push_back({.name = each.substr(0, first),
                     .port = std::stoi(each.substr(first + 1, second - first - 1)),
                     .protocol = each.substr(second + 1)});
  }
  return ports;
}

inline std::string Joined(const Strings& texts, const std::string& before,
                          const std::string& after) {
  std::string all;
  for (const std::string& each : texts) all += (all.empty() ? "" : ",") + before + each + after;
  return all;
}

inline std::string PortsJson(const std::string& text) {
  Strings all;
  for (const EndpointPort& each : PortsOf(text.substr(text.find('|') + 1))) {
    all.push_back(R"({"name":")" + each.name + R"(","port":)" + std::to_string(each.port) +
                  R"(,"protocol":")" + each.protocol + "\"}");
  }
  return Joined(all, "", "");
}

inline std::string EndpointsJson(const std::string& name, const std::string& text, bool mirror) {
  const std::string label = mirror ? "" : R"("endpointslice.kubernetes.io/skip-mirror":"true")";
  std::string json = R"({"metadata":{"name":")" + name + R"(","labels":{)" + label + "}}";
  if (text == "-") return json + "}";
  return json + R"(,"subsets":[{"addresses":[)" + Joined(Split(text).ips, R"({"ip":")", "\"}") +
         R"(],"ports":[)" + PortsJson(text) + "]}]}";
}

inline std::string SliceJson(const std::string& name, const std::string& text) {
  std::string json = R"({"metadata":{"name":")" + name +
                     R"(","labels":{"kubernetes.io/service-name":")" + name +
                     R"("}},"addressType":"IPv4","endpoints":[)";
  if (text == "-") return json + "]}";
  return json +
         Joined(Split(text).ips, R"({"addresses":[")", R"("],"conditions":{"ready":true}})") +
         R"(],"ports":[)" + PortsJson(text) + "]}";
}

inline std::string Text(const Strings& ips, const Strings& ports) {
  if (ips.empty() && ports.empty()) return "-";
  std::string text;
  for (const std::string& each : ips) text += (text.empty() ? "" : " ") + each;
  text += "|";
  for (std::size_t i = 0; i < ports.size(); ++i) text += (i == 0 ? "" : " ") + ports[i];
  return text;
}

inline Strings PortTexts(apiserver::runtime::Value ports) {
  Strings texts;
  for (const apiserver::runtime::Value& each : ports.items()) {
    texts.push_back(std::string(each["name"].AsString()) + ":" +
                    std::to_string(each["port"].AsInt()) + ":" +
                    std::string(each["protocol"].AsString()));
  }
  return texts;
}

// A server with the objects of the namespace default, and the leases.
struct World {
  World() {
    api = Start({"Endpoints", "EndpointSlice"}, nullptr);
    const auto kinds = apiserver::groups::core::Kinds();
    for (const apiserver::runtime::KindPtr& each : *kinds) {
      if (each->kind() == "Endpoints") endpoints_kind = each;
    }
    REQUIRE(endpoints_kind);
  }

  std::unique_ptr<apiserver::controlplane::MasterLeases> NewLeases() const {
    return apiserver::controlplane::NewMasterLeases(
        {.engine = engine.get(), .executor = &api->server().pool()}, endpoints_kind,
        std::chrono::seconds(15));
  }
  void Create(const std::string& name, const std::string& endpoints, const std::string& slice,
              bool mirror) const {
    if (!endpoints.empty()) {
      REQUIRE(api->Call("POST", kEndpoints, EndpointsJson(name, endpoints, mirror)).code == 201);
    }
    if (!slice.empty()) {
      REQUIRE(api->Call("POST", kSlices, SliceJson(name, slice)).code == 201);
    }
  }

  std::string EndpointsNow(const std::string& name) const {
    const auto answer = api->Call("GET", kEndpoints + "/" + name);
    if (answer.code == 404) return "";
    apiserver::runtime::Arena arena;
    const auto object = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(object.ok());
    CHECK((*object)["metadata"]["labels"]["endpointslice.kubernetes.io/skip-mirror"].AsString() ==
          "true");
    const apiserver::runtime::Value subsets = (*object)["subsets"];
    if (subsets.size() == 0) return "-";
    CHECK(subsets.size() == 1);
    Strings ips;
    for (const auto& each : subsets.items()[0]["addresses"].items()) {
      ips.emplace_back(each["ip"].AsString());
    }
    return Text(ips, PortTexts(subsets.items()[0]["ports"]));
  }
  std::string SliceNow(const std::string& name) const {
    const auto answer = api->Call("GET", kSlices + "/" + name);
    if (answer.code == 404) return "";
    apiserver::runtime::Arena arena;
    const auto object = apiserver::codec::ParseJson(answer.body, arena);
    REQUIRE(object.ok());
    Strings ips;
    for (const auto& each : (*object)["endpoints"].items()) {
      CHECK(each["conditions"]["ready"].AsBool());
      ips.emplace_back(each["addresses"].items()[0].AsString());
    }
    return Text(ips, PortTexts((*object)["ports"]));
  }

  std::unique_ptr<apiserver::storage::kv::Engine> engine = apiserver::storage::memory::NewEngine();
  std::unique_ptr<apiserver::testing::TestServer> api;
  apiserver::runtime::KindPtr endpoints_kind;
};

inline const apiserver::Context& Ctx() {
  static const apiserver::Context ctx = apiserver::Context::Background();
  return ctx;
}

}  // namespace controlplane_test
