// CustomResourceDefinitions in protobuf: tests/testdata/apiextensions/README.md.
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "apiextensions/definitions.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "text/base64.h"

namespace {

using namespace apiserver;
using namespace apiextensions_test;
using runtime::Value;

std::unique_ptr<runtime::Object> ReadBody(codec::MediaType type, std::string body) {
  auto decoded = codec::DecodeObject(type, std::make_shared<const std::string>(std::move(body)),
                                     {.kind = apiextensions::DefinitionKind(), .version = "v1"});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

std::string MessageOf(const runtime::Object& object) {
  return codec::EncodeProtobuf(Context::Background(), object, "v1").value();
}

std::string BodyOf(const runtime::Object& object) {
  const auto body =
      codec::EncodingOf(Context::Background(), object, "v1", runtime::Format::kJson).value();
  return std::string(object.kind().JsonPrefix("v1")) + body->ToString();
}

// Returns where bytes differ from those that Go writes, with what is around. Empty: nowhere.
std::string DifferenceOf(const std::string& ours, const std::string& theirs) {
  if (ours == theirs) return "";
  std::size_t at = 0;
  while (at < ours.size() && at < theirs.size() && ours[at] == theirs[at]) ++at;
  const std::size_t from = at < 80 ? 0 : at - 80;
  const auto around = [from](const std::string& text) {
    return from < text.size() ? text.substr(from, 160) : "";
  };
  return std::to_string(at) + "\nours:   " + around(ours) + "\ntheirs: " + around(theirs);
}

TEST_CASE("apiextensions: definitions are in protobuf what Go's types make of them") {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/apiextensions/messages.jsonl");
  REQUIRE(file.good());
  std::size_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    runtime::Arena arena;
    const Value row = codec::ParseJson(line, arena).value();
    INFO(row["name"].AsString());
    const std::string json = JsonOf(row["out"]);
    const std::string message = text::DecodeBase64(row["proto"].AsString()).value();

    const auto from_json = ReadBody(codec::MediaType::kJson, JsonOf(row["in"]));
    CHECK(DifferenceOf(BodyOf(*from_json), json) == "");
    CHECK(DifferenceOf(MessageOf(*from_json), message) == "");
    const auto from_message = ReadBody(codec::MediaType::kProtobuf, message);
    CHECK(DifferenceOf(BodyOf(*from_message), json) == "");
    CHECK(DifferenceOf(MessageOf(*from_message), message) == "");
  }
  CHECK(rows >= 5);
}

}  // namespace
