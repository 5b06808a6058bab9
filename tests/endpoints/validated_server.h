#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "widget_server.h"

// A Deployment and two custom resources, one of which preserves what its schema does not know: what
// upstream's tests of field validation write to.
namespace apiserver::inline v0::testing {

using http::ClientResponse;
using runtime::SchemaPtr;
using Strings = std::vector<std::string>;

// Whatever is asked for is stored.
class AnyStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

inline SchemaPtr Merged(const SchemaPtr& list, const std::string& key) {
  runtime::SchemaParts tagged(*list);
  tagged.patch_strategy = "merge";
  tagged.patch_merge_key = key;
  return MakeSchema(tagged);
}

// As much of apps/v1 Deployment as the tables need.
inline runtime::KindPtr DeploymentKind() {
  const auto labels = runtime::MapOf(runtime::StringSchema());
  const auto container = runtime::StructBuilder("io.k8s.api.core.v1.Container")
                             .Field("name", runtime::StringSchema())
                             .Field("image", runtime::StringSchema())
                             .Field("imagePullPolicy", runtime::StringSchema())
                             .Build();
  const auto pod = runtime::StructBuilder("io.k8s.api.core.v1.PodSpec")
                       .Field("containers", Merged(runtime::ListOf(container), "name"))
                       .Build();
  const auto pod_template = runtime::StructBuilder("io.k8s.api.core.v1.PodTemplateSpec")
                                .Field("metadata", runtime::ObjectMetaSchema())
                                .Field("spec", pod)
                                .Build();
  const auto selector = runtime::StructBuilder("io.k8s.apimachinery.v1.LabelSelector")
                            .Field("matchLabels", labels)
                            .Build();
  const auto spec = runtime::StructBuilder("io.k8s.api.apps.v1.DeploymentSpec")
                        .Field("replicas", runtime::IntegerSchema(32))
                        .Field("selector", selector)
                        .Field("template", pod_template)
                        .Field("paused", runtime::BooleanSchema())
                        .Build();
  const auto schema = runtime::StructBuilder("io.k8s.api.apps.v1.Deployment")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New({.group = "apps.example.com",
                             .kind = "Deployment",
                             .plural = "deployments",
                             .versions = {{.version = "v1", .schema = schema}}})
      .value();
}

// A custom resource whose spec keeps what it does not know, or not.
inline runtime::KindPtr CustomKind(const std::string& group, bool preserve) {
  const auto port = runtime::StructBuilder("")
                        .Field("containerPort", runtime::IntegerSchema(32))
                        .Field("hostIP", runtime::StringSchema())
                        .Field("hostPort", runtime::IntegerSchema(32))
                        .Field("name", runtime::StringSchema())
                        .Field("protocol", runtime::StringSchema())
                        .Build();
  runtime::SchemaParts spec(
      *runtime::StructBuilder("")
           .Field("cronSpec", runtime::StringSchema())
           .Field("knownField1", runtime::StringSchema())
           .Field("ports", runtime::ListMapOf(port, {"containerPort", "protocol"}))
           .Build());
  spec.preserve_unknown_fields = preserve;
  const auto schema = runtime::StructBuilder("com." + group + ".v1beta1.Noxu")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", MakeSchema(spec))
                          .Build();
  return runtime::Kind::New({.group = group,
                             .kind = "Noxu",
                             .plural = "noxus",
                             .semantics = runtime::Semantics::kCustomResource,
                             .versions = {{.version = "v1beta1", .schema = schema}}})
      .value();
}

inline std::unique_ptr<TestServer> StartServer() {
  testing::TestServerOptions options;
  const auto strategy = std::make_shared<AnyStrategy>();
  options.resources = {{DeploymentKind(), strategy},
                       {CustomKind("schema.example.com", false), strategy},
                       {CustomKind("schemaless.example.com", true), strategy}};
  return std::move(StartTestServer(std::move(options))).value();
}

inline const std::string kDeployments = "/apis/apps.example.com/v1/namespaces/default/deployments";
inline const std::string kSchema = "/apis/schema.example.com/v1beta1/namespaces/default/noxus";
inline const std::string kSchemaless =
    "/apis/schemaless.example.com/v1beta1/namespaces/default/noxus";

inline constexpr char kValidDeployment[] = R"({
  "apiVersion": "apps.example.com/v1",
  "kind": "Deployment",
  "metadata": {"name": "a", "labels": {"app": "nginx"}},
  "spec": {
    "selector": {"matchLabels": {"app": "nginx"}},
    "template": {
      "metadata": {"labels": {"app": "nginx"}},
      "spec": {"containers": [
        {"name": "nginx", "image": "nginx:latest", "imagePullPolicy": "Always"}]}
    }
  }
})";

inline constexpr char kValidNoxu[] = R"({
  "kind": "Noxu",
  "metadata": {"name": "a"},
  "spec": {"knownField1": "val1", "ports": [
    {"name": "portName", "containerPort": 8080, "protocol": "TCP", "hostPort": 8081}]}
})";

inline const std::string kJsonType = "application/json";
inline const std::string kYamlType = "application/yaml";
inline const std::string kMergeType = "application/merge-patch+json";
inline const std::string kJsonPatchType = "application/json-patch+json";
inline const std::string kStrategicType = "application/strategic-merge-patch+json";

struct Row {
  std::string name;
  std::string method;
  std::string resource;
  std::string content_type;
  std::string body;
  Strings errors;  // In the order of the warnings.
};

// The texts of the Warning headers.
inline Strings Warnings(const ClientResponse& response) {
  Strings texts;
  for (const std::string_view header : response.headers.GetAll("Warning")) {
    const std::string text(header.substr(7, header.size() - 8));
    texts.push_back(std::regex_replace(text, std::regex(R"(\\(.))"), "$1"));
  }
  return texts;
}

// A message as it stands in the JSON of a Status.
inline std::string InJson(const std::string& text) {
  std::string out;
  codec::AppendJsonString(text, out);
  return out.substr(1, out.size() - 2);
}

// Returns a Noxu with the apiVersion of its resource, which the bodies of tests leave out. Its
// lines keep their numbers: the first of a YAML is empty.
inline std::string OfResource(const std::string& resource, std::string body) {
  const std::string group_version = resource.substr(6, resource.find("/namespaces") - 6);
  if (body.starts_with("\nkind: \"Noxu\"")) return "apiVersion: " + group_version + body;
  if (body.starts_with("{\n  \"kind\": \"Noxu\"")) {
    body.insert(1, "\"apiVersion\": \"" + group_version + "\",");
  }
  return body;
}

inline ClientResponse Send(TestServer& server, const Row& row, const std::string& validation) {
  const bool post = row.method == "POST";
  const std::string query = validation.empty() ? "" : "?fieldValidation=" + validation;
  if (!post) {
    const bool typed = row.resource == kDeployments;
    const auto created = server.Call(
        "POST", row.resource, typed ? kValidDeployment : OfResource(row.resource, kValidNoxu));
    REQUIRE(created.code == 201);
  }
  const auto response =
      server.Call(row.method, row.resource + (post ? "" : "/a") + query,
                  OfResource(row.resource, row.body), {{"Content-Type", row.content_type}});
  server.Call("DELETE", row.resource + "/a");
  return response;
}

}  // namespace apiserver::inline v0::testing
