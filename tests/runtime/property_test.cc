#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::Print;
using Omit = Field::Omit;
using Presence = Field::Presence;

constexpr std::uint32_t kSeed = 20240131;

// Random content; repeatable.
class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::size_t Below(std::size_t bound) { return random_() % bound; }

  Value Scalar(Arena& arena) {
    constexpr const char* kTexts[] = {"",     "text", "2020-01-01T00:00:00+02:00",  "1024Ki", "90s",
                                      "YWI=", "0",    "2020-01-01T00:00:00.000001Z"};
    switch (Below(6)) {
      case 0:
        return Value();
      case 1:
        return Value::Bool(Below(2) == 0);
      case 2:
        return Value::Int(static_cast<std::int64_t>(Below(3)));
      case 3:
        return Value::Double(static_cast<double>(Below(5)) / 2);
      default:
        return Value::String(arena.Copy(kTexts[Below(std::size(kTexts))]));
    }
  }

  Value Tree(Arena& arena, int depth) {
    const std::size_t shape = depth == 0 ? 0 : Below(3);
    if (shape == 0) return Scalar(arena);
    if (shape == 1) {
      ListBuilder list(arena);
      for (std::size_t i = Below(4); i > 0; --i) list.Add(Tree(arena, depth - 1));
      return list.Build();
    }
    MapBuilder map(arena);
    std::vector<std::string> keys = {"c", "a", "d", "b", "e"};
    std::shuffle(keys.begin(), keys.end(), random_);
    keys.resize(Below(keys.size() + 1));
    for (const std::string& key : keys) map.Add(arena.Copy(key), Tree(arena, depth - 1));
    return map.Build();
  }

  SchemaPtr ScalarSchema() {
    switch (Below(12)) {
      case 0:
        return BooleanSchema();
      case 1:
        return IntegerSchema(32);
      case 2:
        return NumberSchema();
      case 3:
        return BytesSchema();
      case 4:
        return TimeSchema();
      case 5:
        return DurationSchema();
      case 6:
        return QuantitySchema();
      case 7:
        return IntOrStringSchema();
      case 8:
        return RawExtensionSchema();
      case 9:
        return AnySchema();
      case 10:
        return MicroTimeSchema();
      default:
        return StringSchema();
    }
  }

  // Omitted when zero only where Go itself does the same twice: see normalize_test.
  SchemaPtr RandomSchema(int depth) {
    const std::size_t shape = depth == 0 ? 0 : Below(4);
    if (shape == 0) return ScalarSchema();
    if (shape == 1) return ListOf(RandomSchema(depth - 1));
    if (shape == 2) return MapOf(RandomSchema(depth - 1));
    StructBuilder builder("com.example.v1.Random");
    for (const char* name : {"e", "a", "c", "b"}) {
      SchemaPtr schema = RandomSchema(depth - 1);
      const bool scalar = schema->type != SchemaType::kStruct;
      const Omit omits[] = {Omit::kNever, Omit::kWhenEmpty, Omit::kWhenZero};
      const Omit omit = omits[Below(scalar ? 3 : 2)];
      builder.Field(
          name, std::move(schema),
          {.presence = Below(2) == 0 ? Presence::kValue : Presence::kPointer, .omit = omit});
    }
    return builder.Build();
  }

  // Content that mostly fits `schema`.
  Value Fitting(const Schema& schema, Arena& arena) {
    if (Below(8) == 0) return Value();
    if (schema.type == SchemaType::kList) {
      ListBuilder list(arena);
      for (std::size_t i = Below(4); i > 0; --i) list.Add(Fitting(*schema.items(), arena));
      return list.Build();
    }
    if (schema.type == SchemaType::kMap) {
      MapBuilder map(arena);
      for (const char* key : {"z", "y", "x"}) {
        if (Below(2) == 0) map.Add(key, Fitting(*schema.items(), arena));
      }
      return map.Build();
    }
    if (schema.type != SchemaType::kStruct) return ScalarFor(schema, arena);
    std::vector<const Field*> fields;
    for (const Field& field : schema.fields()) fields.push_back(&field);
    std::shuffle(fields.begin(), fields.end(), random_);
    fields.resize(Below(fields.size() + 1));
    MapBuilder map(arena);
    if (Below(4) == 0) map.Add("unknown", Tree(arena, 2));
    for (const Field* field : fields) {
      map.Add(arena.Copy(field->name()), Fitting(*field->schema, arena));
    }
    return map.Build();
  }

 private:
  Value ScalarFor(const Schema& schema, Arena& arena) {
    switch (schema.type) {
      case SchemaType::kBoolean:
        return Value::Bool(Below(2) == 0);
      case SchemaType::kInteger:
      case SchemaType::kIntOrString:
        return Value::Int(static_cast<std::int64_t>(Below(3)));
      case SchemaType::kNumber:
        return Value::Double(static_cast<double>(Below(5)) / 2);
      case SchemaType::kBytes:
        return Value::String(Below(2) == 0 ? "" : "YWI=");
      case SchemaType::kTime:
        return Value::String("2020-01-01T00:00:00+02:00");
      case SchemaType::kMicroTime:
        return Value::String("2020-01-01T00:00:00.000001+02:00");
      case SchemaType::kDuration:
        return Value::String(Below(2) == 0 ? "0" : "90m");
      case SchemaType::kQuantity:
        return Value::String(Below(2) == 0 ? "0.0" : "1024Ki");
      case SchemaType::kString:
        return Value::String(Below(2) == 0 ? "" : "x");
      default:
        return Tree(arena, 2);
    }
  }

  std::mt19937 random_;
};

TEST_CASE("runtime: a copy of a random tree equals it, in any order of members", "[runtime]") {
  Maker maker(kSeed);
  for (int i = 0; i < 300; ++i) {
    Arena arena;
    Arena other;
    const Value tree = maker.Tree(arena, 5);
    const Value copy = Copy(tree, other);
    REQUIRE(copy == tree);
    REQUIRE(Print(copy) == Print(tree));
  }
}

TEST_CASE("runtime: With then Without restores a random map", "[runtime]") {
  Maker maker(kSeed + 1);
  for (int i = 0; i < 300; ++i) {
    Arena arena;
    Value tree = maker.Tree(arena, 4);
    if (!tree.is_map()) continue;
    const Value added = With(tree, "new", maker.Tree(arena, 2), arena);
    REQUIRE(added.size() == tree.size() + 1);
    REQUIRE_FALSE(added == tree);
    REQUIRE(Without(added, "new", arena) == tree);
    for (const Member& member : tree.members()) {
      REQUIRE(With(tree, member.key, member.value, arena) == tree);
    }
  }
}

TEST_CASE("runtime: normalizing twice is normalizing once", "[runtime]") {
  Maker maker(kSeed + 2);
  int fitting = 0;
  for (int i = 0; i < 400; ++i) {
    const KindPtr kind = testing::WidgetKind(testing::WithSpec(maker.RandomSchema(4)));
    const Schema& schema = *kind->versions().front().schema;
    Arena arena;
    const Value root = maker.Fitting(schema, arena);
    Object object(kind, "v1", std::move(arena), root);
    if (!Settle(object, {.defaults = false}).ok()) continue;
    ++fitting;
    const std::string once = Print(object);
    const Value normalized = object.root();
    const std::size_t bytes = object.arena().bytes_reserved();
    REQUIRE(Settle(object, {.defaults = false}).ok());
    REQUIRE(Print(object) == once);
    // And costs nothing.
    REQUIRE(object.root().members().data() == normalized.members().data());
    REQUIRE(object.arena().bytes_reserved() == bytes);
  }
  CHECK(fitting > 250);
}

TEST_CASE("runtime: random content of random types is normalized or refused with a message",
          "[runtime]") {
  Maker maker(kSeed + 3);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    const KindPtr kind = testing::WidgetKind(testing::WithSpec(maker.RandomSchema(3)));
    Arena arena;
    MapBuilder root(arena);
    root.Add("spec", maker.Tree(arena, 4));
    const Value built = root.Build();
    Object object(kind, "v1", std::move(arena), built);
    const Status status = Settle(object, {.defaults = false});
    if (status.ok()) continue;
    ++refused;
    REQUIRE(status.reason() == Reason::kBadRequest);
    REQUIRE_FALSE(status.message().empty());
  }
  CHECK(refused > 0);
}

TEST_CASE("runtime: 10,000 levels pass through every step without the stack", "[runtime]") {
  SchemaPtr schema = StringSchema();
  Arena arena;
  Value value = Value::String("x");
  for (int i = 0; i < 10'000; ++i) {
    schema = MapOf(schema);
    MapBuilder map(arena);
    map.Add("a", value);
    value = map.Build();
  }
  const KindPtr kind = testing::WidgetKind(testing::WithSpec(schema));
  Object object(kind, "v1", std::move(arena), Value::Map({}));
  object.SetPath({"spec"}, value);
  REQUIRE(Settle(object, {.defaults = false}).ok());
  REQUIRE(Settle(object).ok());
  CHECK(UnknownFields(object).empty());
  CHECK(ValidateSchema(object).empty());
  CHECK(object["spec"] == value);
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
