#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"
#include "runtime/patterns.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

// A schema with every part that one can have.
SchemaParts AllParts() {
  static const SchemaPtr inlined = StructBuilder("").Build();
  SchemaParts parts;
  parts.type = SchemaType::kList;
  parts.name = "com.example.v1.All";
  parts.description = "Everything.";
  parts.nullable = true;
  parts.fields.push_back({.name = "a",
                          .schema = StringSchema(),
                          .description = "The first.",
                          .required = true,
                          .presence = Field::Presence::kPointer,
                          .omit = Field::Omit::kWhenZero,
                          .proto_number = 7,
                          .default_value = testing::Owned(R"("x")")});
  parts.fields.push_back({.name = "",
                          .schema = inlined,
                          .inlined = true,
                          .proto_number = Field::kNotInProto,
                          .default_value = testing::Owned(R"([{"b":[1,{}]}])")});
  parts.items = IntegerSchema(32);
  parts.list_type = Schema::ListType::kMap;
  parts.list_map_keys = {"a", "bc"};
  parts.atomic = true;
  parts.patch_strategy = "merge";
  parts.patch_merge_key = "a";
  parts.preserve_unknown_fields = true;
  parts.embedded_resource = true;
  parts.proto_message = true;
  Constraints& limits = parts.constraints;
  limits = {.minimum = -1.5,
            .maximum = 9,
            .exclusive_minimum = true,
            .exclusive_maximum = true,
            .multiple_of = 0.5,
            .min_length = 1,
            .max_length = 2,
            .pattern = "^a$",
            .format = "odd",
            .min_items = 3,
            .max_items = 4,
            .unique_items = true,
            .min_properties = 5,
            .max_properties = 6,
            .enum_values = {}};
  for (const char* const value : {R"("a")", "1", "null", R"({"k":"v"})", "[]"}) {
    limits.enum_values.push_back(testing::Owned(value));
  }
  parts.title = "All";
  parts.members = NumberSchema();
  parts.closed = true;
  parts.required_names = {"def", "g"};
  parts.default_value = testing::Owned(R"({"d":["e"]})");
  parts.all_of = {StringSchema(), BooleanSchema()};
  parts.any_of = {AnySchema()};
  parts.one_of = {NumberSchema(), StringSchema(), NumberSchema()};
  parts.not_of = IntegerSchema(64);
  parts.rules = {{.rule = "self == self", .message = "odd", .optional_old_self = false},
                 {.rule = "false",
                  .message = "",
                  .message_expression = "'no'",
                  .reason = "FieldValueForbidden",
                  .field_path = ".a"}};
  return parts;
}

void CheckConstraints(const ConstraintsView& limits) {
  CHECK(limits.minimum() == -1.5);
  CHECK(limits.maximum() == 9);
  CHECK(limits.exclusive_minimum());
  CHECK(limits.exclusive_maximum());
  CHECK(limits.multiple_of() == 0.5);
  CHECK(limits.min_length() == 1);
  CHECK(limits.max_length() == 2);
  CHECK(limits.pattern() == "^a$");
  CHECK(limits.format() == "odd");
  CHECK(limits.min_items() == 3);
  CHECK(limits.max_items() == 4);
  CHECK(limits.unique_items());
  CHECK(limits.min_properties() == 5);
  CHECK(limits.max_properties() == 6);
  REQUIRE(limits.enum_values().size() == 5);
  CHECK(testing::Print(limits.enum_values()[0]) == R"("a")");
  CHECK(testing::Print(limits.enum_values()[1]) == "1");
  CHECK(testing::Print(limits.enum_values()[2]) == "null");
  CHECK(testing::Print(limits.enum_values()[3]) == R"({"k":"v"})");
  CHECK(testing::Print(limits.enum_values()[4]) == "[]");
}

void CheckStructural(const Schema& schema) {
  CHECK(schema.title() == "All");
  CHECK(schema.members() == NumberSchema());
  CHECK(schema.closed());
  CHECK(schema.required_names() == std::vector<std::string_view>{"def", "g"});
  CHECK(testing::Print(*schema.default_value()) == R"({"d":["e"]})");
  CHECK(schema.has_junctors());
  REQUIRE(schema.all_of().size() == 2);
  CHECK(schema.all_of()[1] == BooleanSchema());
  REQUIRE(schema.any_of().size() == 1);
  CHECK(schema.any_of()[0] == AnySchema());
  REQUIRE(schema.one_of().size() == 3);
  CHECK(schema.one_of()[1] == StringSchema());
  CHECK(schema.not_of() == IntegerSchema(64));
}

TEST_CASE("runtime: a schema has the parts that it was made of", "[runtime]") {
  const SchemaPtr schema = MakeSchema(SchemaParts(*MakeSchema(AllParts())));

  CHECK(schema->type == SchemaType::kList);
  CHECK(schema->name() == "com.example.v1.All");
  CHECK(schema->description() == "Everything.");
  CHECK(schema->nullable);
  CHECK(schema->items()->bits == 32);
  CHECK(schema->list_type == Schema::ListType::kMap);
  CHECK(schema->list_map_keys() == std::vector<std::string_view>{"a", "bc"});
  CHECK(schema->atomic);
  CHECK(schema->patch_strategy() == "merge");
  CHECK(schema->patch_merge_key() == "a");
  CHECK(schema->preserve_unknown_fields);
  CHECK(schema->embedded_resource);
  CHECK(schema->proto_message);
  CheckStructural(*schema);
  CheckConstraints(schema->constraints());
  REQUIRE(schema->fields().size() == 2);
  const Field& first = schema->fields()[0];
  CHECK(first.name() == "a");
  CHECK(first.schema == StringSchema());
  CHECK(schema->DescriptionOf(first) == "The first.");
  CHECK(first.required);
  CHECK(first.presence == Field::Presence::kPointer);
  CHECK(first.omit == Field::Omit::kWhenZero);
  CHECK_FALSE(first.inlined);
  CHECK(first.proto_number == 7);
  CHECK(testing::Print(*first.default_value()) == R"("x")");
  const Field& second = schema->fields()[1];
  CHECK(second.name().empty());
  CHECK(schema->DescriptionOf(second).empty());
  CHECK_FALSE(second.required);
  CHECK(second.inlined);
  CHECK(second.proto_number == Field::kNotInProto);
  CHECK(testing::Print(*second.default_value()) == R"([{"b":[1,{}]}])");
  CHECK(schema->rules() == AllParts().rules);
  CHECK(testing::Print(schema->rule_list()) ==
        R"([{"rule":"self == self","message":"odd","optionalOldSelf":false},)"
        R"({"rule":"false","messageExpression":"'no'","reason":"FieldValueForbidden",)"
        R"("fieldPath":".a"}])");
}

TEST_CASE("runtime: schemas that differ in their rules alone differ", "[runtime]") {
  SchemaPool pool;
  const auto make = [&pool](std::string rule) {
    SchemaParts parts;
    parts.type = SchemaType::kString;
    if (!rule.empty()) parts.rules = {{.rule = std::move(rule), .message = ""}};
    return pool.Make(parts);
  };
  const SchemaPtr plain = make("");
  const SchemaPtr ruled = make("self != ''");
  CHECK(ruled == make("self != ''"));
  CHECK_FALSE(ruled == plain);
  CHECK_FALSE(ruled == make("self != 'a'"));
  CHECK_FALSE(plain->has_rules());
  CHECK(plain->rules().empty());
  CHECK(plain->rule_list().is_null());
  CHECK(ruled->has_rules());
  // A schema knows if one below it has rules.
  CHECK(ListOf(MapOf(ruled))->has_rules());
  CHECK_FALSE(ListOf(MapOf(plain))->has_rules());
  CHECK(StructBuilder("").Field("a", ruled).Build()->has_rules());
  CHECK(StructBuilder("").Field("a", ruled).Build()->rules().empty());
  const SchemaPtr built = StructBuilder("").Rule({.rule = "true", .message = "m"}).Build();
  REQUIRE(built->rules().size() == 1);
  CHECK(built->rules()[0].message == "m");
}

TEST_CASE("runtime: a schema without parts has none", "[runtime]") {
  const SchemaPtr schema = MakeSchema({});

  CHECK(schema->type == SchemaType::kAny);
  CHECK(schema->name().empty());
  CHECK(schema->description().empty());
  CHECK(schema->fields().empty());
  CHECK(schema->items() == nullptr);
  CHECK(schema->members() == nullptr);
  CHECK(schema->default_value() == nullptr);
  CHECK(schema->required_names().empty());
  CHECK_FALSE(schema->has_junctors());
  CHECK(schema->one_of().empty());
  CHECK(schema->not_of() == nullptr);
  CHECK_FALSE(schema->closed());
  CHECK(schema->list_map_keys().empty());
  CHECK(schema->constraints().pattern().empty());
  CHECK(schema->constraints().compiled_pattern() == nullptr);
  CHECK(schema->constraints().enum_values().empty());
  CHECK_FALSE(schema->constraints().minimum().has_value());
  CHECK(schema->MemoryBytes() == 16);
}

// Changes one part of AllParts().
using Change = void (*)(SchemaParts&);

TEST_CASE("runtime: a pool makes equal schemas once, and others apart", "[runtime]") {
  SchemaPool pool;
  const SchemaPtr all = pool.Make(AllParts());
  CHECK(pool.Make(AllParts()) == all);
  CHECK(pool.size() == 1);
  const Change changes[] = {
      [](SchemaParts& s) { s.type = SchemaType::kMap; },
      [](SchemaParts& s) { s.name += "2"; },
      [](SchemaParts& s) { s.description = "Anything."; },
      [](SchemaParts& s) { s.bits = 32; },
      [](SchemaParts& s) { s.nullable = false; },
      [](SchemaParts& s) { s.fields[0].name = "b"; },
      [](SchemaParts& s) { s.fields[0].schema = BooleanSchema(); },
      [](SchemaParts& s) { s.fields[0].description = "The thirst."; },
      [](SchemaParts& s) { s.fields[0].required = false; },
      [](SchemaParts& s) { s.fields[0].presence = Field::Presence::kValue; },
      [](SchemaParts& s) { s.fields[0].omit = Field::Omit::kNever; },
      [](SchemaParts& s) { s.fields[0].inlined = true; },
      [](SchemaParts& s) { s.fields[0].proto_number = 8; },
      [](SchemaParts& s) { s.fields[0].default_value = testing::Owned(R"("y")"); },
      [](SchemaParts& s) { s.fields[0].default_value.reset(); },
      [](SchemaParts& s) { s.fields[1].default_value = testing::Owned(R"([{"b":[2,{}]}])"); },
      [](SchemaParts& s) { s.fields.pop_back(); },
      [](SchemaParts& s) { s.items = IntegerSchema(64); },
      [](SchemaParts& s) { s.list_type = Schema::ListType::kSet; },
      [](SchemaParts& s) {
        s.list_map_keys = {"ab", "c"};
      },
      [](SchemaParts& s) {
        s.required_names = {"de", "fg"};
      },
      [](SchemaParts& s) { s.title = "Any"; },
      [](SchemaParts& s) { s.members = StringSchema(); },
      [](SchemaParts& s) { s.members = nullptr; },
      [](SchemaParts& s) { s.closed = false; },
      [](SchemaParts& s) { s.default_value = testing::Owned(R"({"d":["f"]})"); },
      [](SchemaParts& s) { s.default_value.reset(); },
      [](SchemaParts& s) { s.all_of.swap(s.one_of); },
      [](SchemaParts& s) { s.any_of.clear(); },
      [](SchemaParts& s) { s.not_of = nullptr; },
      [](SchemaParts& s) { s.atomic = false; },
      [](SchemaParts& s) { s.patch_strategy = "erase"; },
      [](SchemaParts& s) { s.patch_merge_key = "b"; },
      [](SchemaParts& s) { s.preserve_unknown_fields = false; },
      [](SchemaParts& s) { s.embedded_resource = false; },
      [](SchemaParts& s) { s.proto_message = false; },
      [](SchemaParts& s) { s.constraints.minimum = -2; },
      [](SchemaParts& s) { s.constraints.minimum.reset(); },
      [](SchemaParts& s) { s.constraints.exclusive_minimum = false; },
      [](SchemaParts& s) { s.constraints.pattern = "^b$"; },
      [](SchemaParts& s) { s.constraints.format = "add"; },
      [](SchemaParts& s) { s.constraints.unique_items = false; },
      [](SchemaParts& s) { s.constraints.max_properties = 7; },
      [](SchemaParts& s) { s.constraints.enum_values[1] = testing::Owned("2"); },
      [](SchemaParts& s) { s.constraints.enum_values.pop_back(); },
  };
  std::vector<SchemaPtr> made = {all};
  for (const Change change : changes) {
    INFO(made.size());
    SchemaParts parts = AllParts();
    change(parts);
    const SchemaPtr changed = pool.Make(parts);
    CHECK(std::find(made.begin(), made.end(), changed) == made.end());
    CHECK(pool.Make(parts) == changed);
    made.push_back(changed);
  }
  CHECK(pool.size() == made.size());
}

SchemaPtr Text(SchemaPool& pool, int length_max) {
  SchemaParts text;
  text.type = SchemaType::kString;
  text.constraints.max_length = length_max;
  return pool.Make(text);
}

TEST_CASE("runtime: schemas outlive their pool, and a pool forgets what is gone", "[runtime]") {
  auto pool = std::make_unique<SchemaPool>();
  const SchemaPtr kept = StructBuilder("").Field("a", Text(*pool, 1)).Build(*pool);
  for (int i = 0; i < 1000; ++i) {
    StructBuilder("").Field("b", Text(*pool, i)).Build(*pool);
  }
  // What nobody holds makes room when more is needed.
  CHECK(pool->size() < 1000);

  pool->Sweep();

  CHECK(pool->size() == 2);
  CHECK(StructBuilder("").Field("a", Text(*pool, 1)).Build(*pool) == kept);
  pool.reset();
  CHECK(kept->FindField("a")->schema->constraints().max_length() == 1);
}

TEST_CASE("runtime: descriptions in the source take no memory of their own", "[runtime]") {
  auto source = std::make_shared<const std::string>("a: One line. b: One line. c: Another.");
  const std::string_view text = *source;
  SchemaPool pool;
  const SchemaPtr plain = StructBuilder("").Field("a", StringSchema()).Build();
  pool.ReadFrom(source);
  const auto made = [&](std::string_view description) {
    SchemaParts parts;
    parts.type = SchemaType::kStruct;
    FieldParts& field = parts.fields.emplace_back();
    field.name = "a";
    field.schema = StringSchema();
    field.source_description = pool.Find(description);
    return pool.Make(parts);
  };

  const SchemaPtr first = made(text.substr(3, 9));
  const SchemaPtr second = made(text.substr(16, 9));
  const SchemaPtr third = made(text.substr(29));

  CHECK(pool.Find("One line.").size == 0);
  CHECK(first == second);
  CHECK(first != third);
  // A reference to the source, however long the text.
  CHECK(first->MemoryBytes() == plain->MemoryBytes() + 8);
  CHECK(third->MemoryBytes() == first->MemoryBytes());
  const std::weak_ptr<const std::string> held = source;
  source.reset();
  pool = SchemaPool();
  CHECK(first->DescriptionOf(first->fields()[0]) == "One line.");
  CHECK(third->DescriptionOf(third->fields()[0]) == "Another.");
  CHECK_FALSE(held.expired());
  CHECK(SchemaParts(*third).fields[0].description == "Another.");
}

TEST_CASE("runtime: a description with escapes is found in the source behind the last",
          "[runtime]") {
  auto source = std::make_shared<const std::string>(
      R"({"a":"One\n\"line\".","b":"\u003c\u0001\\é>","c":"One\n\"line\".","d":"\u0041\t"})");
  SchemaPool pool;
  pool.ReadFrom(source);
  const auto described = [&](std::string_view description) {
    SchemaParts parts;
    parts.source_description = pool.Find(description);
    return parts.source_description.size == 0 ? "not found" : pool.Make(parts)->description();
  };

  CHECK(described("One\n\"line\".") == "One\n\"line\".");
  CHECK(described("One\n\"line\".") == "One\n\"line\".");
  CHECK(pool.Find("One\n\"line\".").size == 0);  // There is no third.
  CHECK(described("A\t") == "not found");        // Go would write it otherwise.
  pool.ReadFrom(std::make_shared<const std::string>(R"("\u003c\u0001\\é\u003e")"));
  CHECK(described("<\x01\\é>") == "<\x01\\é>");
}

TEST_CASE("runtime: the source lives as long as a schema that was read from it", "[runtime]") {
  auto source = std::make_shared<const std::string>("The description.");
  const std::weak_ptr<const std::string> held = source;
  SchemaPtr schema;
  {
    SchemaPool pool;
    pool.ReadFrom(std::move(source));
    SchemaParts parts;
    parts.source_description = pool.Find(std::string_view(*held.lock()));
    schema = pool.Make(parts);
  }

  CHECK(schema->description() == "The description.");
  CHECK_FALSE(held.expired());
  schema.reset();
  CHECK(held.expired());
}

TEST_CASE("runtime: a pattern is compiled when it is first matched, once for its text",
          "[runtime]") {
  SchemaPool pool;
  SchemaParts parts;
  parts.type = SchemaType::kString;
  parts.constraints.pattern = "^[a-z]+$";
  const SchemaPtr name = pool.Make(parts);
  parts.constraints.max_length = 9;
  const SchemaPtr bounded = pool.Make(parts);
  const Pattern* const pattern = name->constraints().compiled_pattern();
  REQUIRE(pattern == bounded->constraints().compiled_pattern());

  const KindPtr kind = testing::WidgetKind(
      testing::WithSpec(StructBuilder("").Field("name", name).Field("bounded", bounded).Build()));
  CHECK_FALSE(pattern->compiled());

  CHECK(pattern->Matches("abc"));
  CHECK_FALSE(pattern->Matches("ABC"));
  CHECK(pattern->compiled());
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
