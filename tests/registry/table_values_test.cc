#include <catch2/catch.hpp>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"

// What columns of a CustomResourceDefinition show: Test_cellForJSONValue in
// pkg/registry/customresource/tableconvertor of apiextensions-apiserver, and lists, objects and
// missing values.
namespace apiserver::inline v0::registry {
namespace {

class StillClock final : public Clock {
 public:
  Monotonic Now() const override { return RealClock().Now(); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(1'700'000'000)); }
};

// The cell, as JSON, of a column of `type` for an object {v: value}.
std::string CellOf(const std::string& type, std::string_view value,
                   const std::string& path = ".v") {
  runtime::SchemaParts root(
      *runtime::StructBuilder("").Field("metadata", runtime::ObjectMetaSchema()).Build());
  root.preserve_unknown_fields = true;
  runtime::KindOptions options{.group = "example.com", .kind = "Foo", .plural = "foos"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1", .schema = MakeSchema(root)}};
  runtime::Arena arena;
  std::string yaml = "{metadata: {name: n}, v: ";
  const runtime::Value content = codec::ParseYaml(yaml.append(value).append("}"), arena).value();
  const auto object = std::make_shared<runtime::Object>(
      runtime::Kind::New(std::move(options)).value(), "v1", std::move(arena), content);
  static const StillClock clock;
  const auto convertor = NewColumnTableConvertor({{"V", type, path}}, clock);
  const auto table = convertor->ConvertToTable(Context::Background(), {object}, {}).value();
  std::string cell;
  codec::AppendJson(table.rows.at(0).cells.at(1), cell);
  return cell;
}

TEST_CASE("registry: a cell shows a value if it fits the column's type", "[registry]") {
  CHECK(CellOf("integer", "42") == "42");
  CHECK(CellOf("integer", "3.14") == "3");
  CHECK(CellOf("integer", "true") == "null");
  CHECK(CellOf("integer", "foo") == "null");
  CHECK(CellOf("number", "42") == "42");
  CHECK(CellOf("number", "3.14") == "3.14");
  CHECK(CellOf("number", "true") == "null");
  CHECK(CellOf("boolean", "42") == "null");
  CHECK(CellOf("boolean", "true") == "true");
  CHECK(CellOf("boolean", "foo") == "null");
  CHECK(CellOf("string", "foo") == R"("foo")");
  CHECK(CellOf("unknown", "foo") == "null");
}

TEST_CASE("registry: a date shows how long ago it is", "[registry]") {
  CHECK(CellOf("date", "42") == "null");
  CHECK(CellOf("date", "true") == "null");
  CHECK(CellOf("date", "'2023-11-14T09:43:20Z'") == R"("12h")");
  CHECK(CellOf("date", "'2023-11-15T10:43:20Z'") == R"("\u003cinvalid\u003e")");
  CHECK(CellOf("date", "foo") == R"("\u003cinvalid\u003e")");
  CHECK(CellOf("date", "''") == R"("\u003cunknown\u003e")");
  CHECK(CellOf("date", "1", ".none") == "null");
}

TEST_CASE("registry: a text column prints whatever it finds", "[registry]") {
  CHECK(CellOf("string", "42") == R"("42")");
  CHECK(CellOf("string", "true") == R"("true")");
  CHECK(CellOf("string", "[a, 1]") == R"("[\"a\",1]")");
  CHECK(CellOf("string", "{a: x, b: 1}") == R"("{\"a\":\"x\",\"b\":1}")");
  CHECK(CellOf("string", "[a, b]", ".v[1]") == R"("b")");
  CHECK(CellOf("string", "[]", ".v[0]") == "null");
  CHECK(CellOf("string", "x", ".none.at.all") == "null");
}

// Test_convertor_ConvertToTable
TEST_CASE("registry: a column of several values shows the first", "[registry]") {
  const std::string hosts = "[{hosts: [foo]}, {hosts: [bar, baz]}]";
  CHECK(CellOf("string", hosts, ".v[0].hosts[0]") == R"("foo")");
  CHECK(CellOf("string", hosts, ".v[0].hosts") == R"("[\"foo\"]")");
  CHECK(CellOf("string", hosts, ".v[1].hosts") == R"("[\"bar\",\"baz\"]")");
  CHECK(CellOf("string", hosts, ".v[*].hosts") == R"("[\"foo\"]")");
  const std::string bars = "[{bar: [1]}, {bar: [2, 3]}]";
  CHECK(CellOf("string", bars, ".v[0].bar[0]") == R"("1")");
  CHECK(CellOf("string", bars, ".v[0].bar") == R"("[1]")");
  CHECK(CellOf("string", bars, ".v[1].bar") == R"("[2,3]")");
  CHECK(CellOf("string", bars, ".v[*].bar") == R"("[1]")");
  CHECK(CellOf("integer", bars, ".v[0].bar[0]") == "1");
  CHECK(CellOf("integer", bars, ".v[0].bar") == "null");
  CHECK(CellOf("integer", bars, ".v[*].bar") == "null");
}

}  // namespace
}  // namespace apiserver::inline v0::registry
