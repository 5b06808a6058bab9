// Documents with parts that are written as JSON: openapi::Fragment.

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"

namespace {

using apiserver::openapi::BuildV2;
using apiserver::openapi::BuildV2Base;
using apiserver::openapi::BuildV3;
using apiserver::openapi::EtagOf;
using apiserver::openapi::Format;
using apiserver::openapi::Fragment;
using apiserver::openapi::FragmentPtr;
using apiserver::openapi::Info;
using apiserver::openapi::Input;
using apiserver::openapi::Lint;
using apiserver::openapi::V2Writer;
using apiserver::runtime::Arena;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Value;

// Counts how often its texts are made.
class Pot final : public Fragment {
 public:
  explicit Pot(std::string name, bool silent = false) : name_(std::move(name)), silent_(silent) {}

  std::string_view hash() const override { return name_; }
  Info info() const override { return {"Pots", "v7"}; }
  std::span<const std::string_view> References() const override {
    static constexpr std::string_view kNames[] = {
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"};
    return kNames;
  }
  std::vector<KindPtr> Kinds() const override { return {}; }
  void AppendPaths(Format format, std::string& json,
                   std::map<std::string, std::string>& parameters) const override {
    ++made;
    if (silent_) return;
    json += "\"/" + name_ + "\":{\"get\":{\"operationId\":\"read" + name_ + "\"";
    if (format == Format::kV2) {
      json += R"(,"parameters":[{"$ref":"#/parameters/pretty"}])";
      parameters.emplace("pretty", R"({"in":"query","name":"pretty","type":"string"})");
    }
    json += "}}";
  }
  void AppendDefinitions(Format format, std::string& json) const override {
    const std::string place = format == Format::kV2 ? "#/definitions/" : "#/components/schemas/";
    if (silent_) return;
    json += "\"" + name_ + R"(":{"properties":{"metadata":{"$ref":")" + place +
            R"(io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}})";
  }

  mutable int made = 0;

 private:
  const std::string name_;
  const bool silent_;
};

std::vector<FragmentPtr> TwoPots() {
  return {std::make_shared<const Pot>("Big"), std::make_shared<const Pot>("Small")};
}

std::string InPieces(const Input& input, bool protobuf) {
  V2Writer writer(std::make_shared<const apiserver::openapi::V2Base>(BuildV2Base(input)),
                  std::make_shared<const std::vector<FragmentPtr>>(input.fragments), protobuf);
  std::string all;
  for (std::string piece; writer.Append(piece); piece.clear()) all += piece;
  return all;
}

}  // namespace

TEST_CASE("openapi: a document of fragments alone has what they say and refer to", "[openapi]") {
  const Input input{.info = {"Pots", "v7"}, .kinds = {}, .routes = {}, .fragments = TwoPots()};

  const auto document = BuildV3(input);

  INFO(document.json);
  CHECK(Lint(document.json).empty());
  Arena arena;
  const Value root = apiserver::codec::ParseJson(document.json, arena).value();
  CHECK(root["info"]["title"].AsString() == "Pots");
  CHECK(root["paths"].size() == 2);
  CHECK(root["components"]["schemas"].Find("Small"));
  CHECK(root["components"]["schemas"].Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  CHECK(root["components"]["securitySchemes"].is_null());
  CHECK(document.etag == EtagOf(input.fragments));
}

TEST_CASE("openapi: fragments in another order have the same ETag", "[openapi]") {
  const std::vector<FragmentPtr> pots = TwoPots();

  CHECK(EtagOf({pots[1], pots[0]}) == EtagOf(pots));
  CHECK(EtagOf({pots[0]}) != EtagOf(pots));
  CHECK(EtagOf(pots).size() == 128);
}

TEST_CASE("openapi: v2 has fragments beside what is made of routes", "[openapi]") {
  Input input{.info = {},
              .kinds = {},
              .routes = {{.method = "GET", .path = "/x", .operation_id = "x"}},
              .fragments = TwoPots()};

  const auto document = BuildV2(input);

  INFO(document.json);
  CHECK(Lint(document.json).empty());
  Arena arena;
  const Value root = apiserver::codec::ParseJson(document.json, arena).value();
  CHECK(root["swagger"].AsString() == "2.0");
  CHECK(root["paths"].size() == 3);
  CHECK(root["definitions"].Find("Big"));
  CHECK(root["parameters"]["pretty"]["in"].AsString() == "query");
  CHECK(root["securityDefinitions"].is_map());
  for (const char* text : {"readBig", "readSmall", "#/parameters/pretty", "Bearer"}) {
    CHECK(document.protobuf.find(text) != std::string::npos);
  }
  const auto alone = BuildV2Base(input).document;
  CHECK(alone.etag != document.etag);
  CHECK(Lint(alone.json).empty());
}

TEST_CASE("openapi: v2 without routes, and fragments that say nothing, are right too",
          "[openapi]") {
  const Input input{.info = {},
                    .kinds = {},
                    .routes = {},
                    .fragments = {std::make_shared<const Pot>("No", /*silent=*/true),
                                  std::make_shared<const Pot>("Yes"),
                                  std::make_shared<const Pot>("Not", /*silent=*/true)}};

  const auto document = BuildV2(input);

  INFO(document.json);
  CHECK(Lint(document.json).empty());
  CHECK(document.json.find("\"paths\":{\"/Yes\"") != std::string::npos);
  const Input silent{.info = {}, .kinds = {}, .routes = {}, .fragments = {input.fragments[0]}};
  CHECK(Lint(BuildV2(silent).json).empty());
}

TEST_CASE("openapi: v2 in pieces is the document, and none of its pieces is large", "[openapi]") {
  Input input{.info = {}, .kinds = {}, .routes = {}, .fragments = TwoPots()};
  for (int i = 0; i < 400; ++i) {
    input.routes.push_back({.method = "GET",
                            .path = "/x" + std::to_string(i),
                            .operation_id = "x" + std::to_string(i),
                            .description = std::string(300, 'd')});
  }

  const auto document = BuildV2(input);

  CHECK(document.json.size() > 150'000);
  CHECK(InPieces(input, /*protobuf=*/false) == document.json);
  CHECK(InPieces(input, /*protobuf=*/true) == document.protobuf);
  V2Writer writer(std::make_shared<const apiserver::openapi::V2Base>(BuildV2Base(input)),
                  std::make_shared<const std::vector<FragmentPtr>>(input.fragments),
                  /*protobuf=*/false);
  for (std::string piece; writer.Append(piece); piece.clear()) CHECK(piece.size() <= 65'536);
}

TEST_CASE("openapi: lint finds references to parameters that are not there", "[openapi]") {
  const std::string path = R"({"paths":{"/a":{"get":{"parameters":[{"$ref":"#/parameters/p"}]}}},)";

  CHECK(Lint(path + R"("definitions":{},"parameters":{"p":{}}})").empty());
  CHECK(Lint(path + R"("definitions":{}})") == std::vector<std::string>{"$ref to no parameter: p"});
}

TEST_CASE("openapi: the base of v2 makes no fragment's texts", "[openapi]") {
  const auto pot = std::make_shared<const Pot>("Big");
  const Input input{.info = {}, .kinds = {}, .routes = {}, .fragments = {pot}};

  const auto base = BuildV2Base(input);
  const std::string etag = EtagOf(base, input.fragments);

  CHECK(pot->made == 0);
  CHECK(base.document.json.find("ObjectMeta") != std::string::npos);
  CHECK(BuildV2(input).etag == etag);
  CHECK(pot->made == 2);  // Once for JSON, once for protobuf.
}
