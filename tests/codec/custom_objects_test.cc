#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/runtime/validate.h"

// What apiextensions-apiserver answers about custom objects: tests/testdata/objects/README.md.
namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;

using ObjectLineVisit = std::function<void(const Value& line)>;

void ForEachObjectLine(std::string_view file, const ObjectLineVisit& visit) {
  std::ifstream lines(std::string(APISERVER_TESTDATA) + "/objects/" + std::string(file));
  REQUIRE(lines.is_open());
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(++count, line);
    Arena arena;
    visit(ParseJson(line, arena).value());
  }
  CHECK(count > 0);
}

// The kind whose member `spec` has the schema.
runtime::KindPtr KindOfSpec(const Value& spec) {
  Arena arena;
  runtime::MapBuilder properties(arena);
  properties.Add("spec", spec);
  runtime::MapBuilder root(arena);
  root.Add("type", Value::String("object"));
  root.Add("properties", properties.Build());
  runtime::KindOptions options{.group = "example.com", .kind = "Foo", .plural = "foos"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1", .schema = RootSchemaFromOpenApi(root.Build()).value()}};
  return runtime::Kind::New(std::move(options)).value();
}

std::unique_ptr<runtime::Object> ObjectOfSpec(const runtime::KindPtr& kind, const Value& spec) {
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  runtime::MapBuilder root(object->arena());
  root.Add("spec", runtime::Copy(spec, object->arena()));
  object->SetRoot(root.Build());
  return object;
}

std::vector<std::string> SortedMessages(const field::ErrorList& errors) {
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  std::sort(messages.begin(), messages.end());
  return messages;
}

std::vector<std::string> SortedTexts(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& text : list.items()) texts.emplace_back(text.AsString());
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST_CASE("codec: objects are found as invalid as Go finds them", "[codec]") {
  const std::string file = GENERATE("recorded.jsonl", "tables.jsonl", "metadata.jsonl");
  ForEachObjectLine(file, [](const Value& line) {
    const runtime::KindPtr kind = KindOfSpec(line["schema"]);
    const auto object = ObjectOfSpec(kind, line["object"]);
    const auto old = ObjectOfSpec(kind, line["old"]);
    CHECK(SortedMessages(runtime::ValidateSchema(*object)) == SortedTexts(line["errors"]));
    CHECK(SortedMessages(runtime::ValidateSchemaPart(
              *object, *old, runtime::SchemaPart::kObject)) == SortedTexts(line["updated"]));
  });
}

// Settles {"spec": spec} and checks what comes of `spec`: the same as Go, in sorted order.
void CheckSettled(const runtime::KindPtr& kind, const Value& spec, bool stored,
                  const Value& expected) {
  const auto object = ObjectOfSpec(kind, spec);
  const Status status = runtime::Settle(*object, {.stored = stored});
  CHECK(status.ok());
  std::string settled;
  std::string wanted;
  AppendJson((*object)["spec"], settled);
  AppendJson(expected, wanted);
  CHECK(settled == wanted);
}

// Returns the paths that are not in metadata: of that of resources Go tells elsewhere.
std::vector<std::string> WithoutMetadata(std::vector<std::string> paths) {
  std::erase_if(
      paths, [](const std::string& path) { return path.find("metadata.") != std::string::npos; });
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_CASE("codec: objects are pruned and defaulted as Go does it", "[codec]") {
  const std::string file = GENERATE("recorded.jsonl", "tables.jsonl", "metadata.jsonl");
  ForEachObjectLine(file, [](const Value& line) {
    const runtime::KindPtr kind = KindOfSpec(line["schema"]);
    const auto object = ObjectOfSpec(kind, line["object"]);
    std::vector<runtime::UnknownMember> unknown;
    const Status status = runtime::Settle(*object, {.unknown = &unknown});
    std::vector<std::string> paths;
    for (const runtime::UnknownMember& member : unknown) paths.push_back(member.path);
    CHECK(WithoutMetadata(std::move(paths)) == WithoutMetadata(SortedTexts(line["unknown"])));
    const Value misfit = line["misfit"];
    if (misfit.is_null()) {
      CheckSettled(kind, line["object"], false, line["settled"]);
    } else {
      CHECK(status.reason() == Reason::kBadRequest);
      CHECK(status.message() == misfit.AsString());
      CheckSettled(kind, line["object"], true, line["stored"]);
    }
  });
}

}  // namespace
}  // namespace apiserver::inline v0::codec
