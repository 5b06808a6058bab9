#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "codec/counted_new.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::SchemaPool;
using runtime::SchemaPtr;

// What a description takes in a CustomResourceDefinition, mostly.
constexpr std::string_view kSays =
    "says what the controller should do about this part when it is changed.\n\"None\": nothing.";

constexpr std::string_view kEscaped =
    R"(says what the controller should do about this part when it is changed.\n\"None\": nothing.)";

// Writes the schema of a CustomResourceDefinition in which no two names or descriptions are the
// same: objects of ten properties each, among them texts with a length, a pattern or an enum,
// numbers with bounds, lists and maps of texts and lists of objects.
class Sample {
 public:
  explicit Sample(int nodes) : nodes_(nodes) {}

  std::string Write() {
    std::string text = R"({"type":"object","properties":{"spec":)";
    left_ = nodes_ - 1;
    Object(text, 0);
    return text + "}}";
  }

 private:
  void Begin(std::string& text, std::string_view type) {
    --left_;
    text.append(R"({"description":"Number )").append(std::to_string(left_)).append(" ");
    text.append(kEscaped).append(R"(","type":")").append(type).append("\"");
  }
  void Scalar(std::string& text, std::string_view type, std::string_view rest = "") {
    Begin(text, type);
    text.append(rest).append("}");
  }

  void Object(std::string& text, int depth) {
    Begin(text, "object");
    text += R"(,"required":["name)" + std::to_string(left_) + R"("],"properties":{)";
    const int first = left_;
    for (int i = 0; i < 10 && left_ > 0; ++i) {
      const std::string_view name = i == 0 ? "name" : "setting";
      text.append(i == 0 ? "\"" : ",\"").append(name);
      text.append(std::to_string(i == 0 ? first : left_)).append("\":");
      Property(text, i, depth);
    }
    text += "}}";
  }

  void Property(std::string& text, int i, int depth) {
    const std::string number = std::to_string(left_);
    switch (i) {
      case 0:
        return Scalar(text, "string", R"(,"maxLength":63,"pattern":"^[a-z]+$")");
      case 1:
        return Scalar(text, "integer", R"(,"format":"int32","minimum":0,"maximum":)" + number);
      case 2:
        return Scalar(text, "string", R"(,"enum":["Always","Never)" + number + R"("])");
      case 3:
        return Scalar(text, "boolean", R"(,"default":true)");
      case 4:
        Begin(text, "array");
        text += R"(,"x-kubernetes-list-type":"set","items":)";
        Scalar(text, "string");
        text += "}";
        return;
      case 5:
        Begin(text, "object");
        text += R"(,"additionalProperties":)";
        Scalar(text, "string");
        text += "}";
        return;
      case 6:
        if (depth == kDepthMax) return Scalar(text, "string", R"(,"format":"byte")");
        Begin(text, "array");
        text += R"(,"maxItems":16,"items":)";
        Object(text, depth + 1);
        text += "}";
        return;
      case 7:
        return depth == kDepthMax ? Scalar(text, "number") : Object(text, depth + 1);
      default:
        return Scalar(text, "string", i == 8 ? R"(,"default":"none")" : "");
    }
  }

  // Of 10 x 2^7 nodes, more than any test asks for.
  static constexpr int kDepthMax = 6;
  int nodes_;
  int left_ = 0;
};

int CountNodes(const runtime::Value& schema) {
  int count = 1;
  for (const runtime::Member& property : schema["properties"].members()) {
    count += CountNodes(property.value);
  }
  for (const char* const below : {"items", "additionalProperties"}) {
    if (schema[below].is_map()) count += CountNodes(schema[below]);
  }
  return count;
}

struct Loaded {
  SchemaPtr schema;
  std::ptrdiff_t bytes = 0;  // That it keeps on the heap, without the source.
};

// `pinned`: the schema is read from bytes that it may refer to.
Loaded Load(const std::shared_ptr<const std::string>& source, bool pinned) {
  // Made already: what every kind shares.
  (void)SchemaFromText("{type: object, properties: {a: {type: string}}}");
  runtime::Arena arena;
  const auto json = ParseJson(*source, arena);
  REQUIRE(json.ok());
  const std::ptrdiff_t before = counted_new::LiveBytes();
  Loaded loaded;
  {
    SchemaPool pool;
    if (pinned) pool.ReadFrom(source);
    loaded.schema = SchemaFromOpenApi(*json, pool).value();
  }
  loaded.bytes = counted_new::LiveBytes() - before;
  return loaded;
}

TEST_CASE("codec: a kind's schema of 1,000 nodes takes at most 64 KB", "[codec]") {
  auto source = std::make_shared<const std::string>(Sample(1000).Write());
  runtime::Arena arena;
  REQUIRE(CountNodes(ParseJson(*source, arena).value()) >= 1000);

  const Loaded loaded = Load(source, /*pinned=*/true);

  CAPTURE(loaded.bytes, loaded.schema->MemoryBytes());
  CHECK(loaded.bytes <= 64'000);
  // What the schema says of itself is what it takes but for rounding, and patterns.
  const auto told = static_cast<std::ptrdiff_t>(loaded.schema->MemoryBytes());
  CHECK(told <= loaded.bytes);
  CHECK(told * 10 >= loaded.bytes * 9);
  const runtime::Schema& spec = *loaded.schema->FindField("spec")->schema;
  CHECK(loaded.schema->DescriptionOf(*loaded.schema->FindField("spec")).ends_with(kSays));
  CHECK(spec.DescriptionOf(spec.fields()[1]).ends_with(kSays));
}

TEST_CASE("codec: versions that differ little share their schemas", "[codec]") {
  const std::string one = Sample(300).Write();
  auto source = std::make_shared<const std::string>("[" + one + "," + one + "]");
  runtime::Arena arena;
  const auto json = ParseJson(*source, arena);
  REQUIRE(json.ok());
  SchemaPool pool;
  pool.ReadFrom(source);

  const SchemaPtr first = SchemaFromOpenApi(json->at(0), pool).value();
  const std::size_t schemas = pool.size();
  const SchemaPtr second = SchemaFromOpenApi(json->at(1), pool).value();

  CHECK(second == first);
  CHECK(pool.size() == schemas);
}

TEST_CASE("codec: a schema gives back all its memory", "[codec]") {
  auto source = std::make_shared<const std::string>(Sample(1000).Write());
  const std::ptrdiff_t before = counted_new::LiveBytes();
  {
    const Loaded loaded = Load(source, /*pinned=*/false);
    CHECK(counted_new::LiveBytes() > before + 64'000);  // Descriptions are copied.
  }
  CHECK(counted_new::LiveBytes() == before);
}

}  // namespace
}  // namespace apiserver::inline v0::codec
