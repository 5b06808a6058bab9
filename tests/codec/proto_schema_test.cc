#include "apiserver/codec/proto_schema.h"

#include <google/protobuf/descriptor.pb.h>

#include <catch2/catch.hpp>
#include <initializer_list>
#include <utility>

#include "apiserver/runtime/kind.h"
#include "codec/text.h"
#include "gadget_api.h"
#include "schema_cases.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Field;
using runtime::Schema;
using runtime::SchemaPtr;
using runtime::SchemaType;

SchemaPtr Gadget(const std::string& message = "Gadget") {
  const ProtoSchemas schemas = ProtoSchemas::Load(gadget_api::Descriptors()).value();
  const Result<SchemaPtr> schema = schemas.Find("example.gadget.v1." + message);
  INFO(schema.status().ToString());
  REQUIRE(schema.ok());
  return *schema;
}

std::string TypeText(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kList: {
      const char* const open = schema.proto_message ? "message[" : "[";
      std::string text = open + TypeText(*schema.items()) + "]";
      if (schema.list_type == Schema::ListType::kSet) text += " set";
      if (schema.list_type == Schema::ListType::kMap) {
        text += " map";
        for (const std::string_view key : schema.list_map_keys()) text.append(" ").append(key);
      }
      return text;
    }
    case SchemaType::kMap:
      return "{" + TypeText(*schema.items()) + "}" + (schema.atomic ? " atomic" : "");
    case SchemaType::kStruct:
      return std::string(schema.name().substr(schema.name().rfind('.') + 1)) +
             (schema.atomic ? " atomic" : "");
    case SchemaType::kInteger:
      return schema.bits == 32 ? "int32" : "int64";
    default:
      break;
  }
  constexpr const char* kWords[] = {"any",  "boolean",   "integer",  "number",   "string", "bytes",
                                    "time", "microtime", "duration", "quantity", "intstr", "raw"};
  return kWords[static_cast<int>(schema.type)];
}

// "3 replicas int32 pointer empty": number, name, type, presence, omission and the rest.
std::string Line(const Field& field) {
  std::string line = std::to_string(field.proto_number) + " " + std::string(field.name()) + " " +
                     TypeText(*field.schema);
  if (field.presence == Field::Presence::kPointer) line += " pointer";
  constexpr const char* kOmit[] = {" never", " empty", " zero"};
  line += kOmit[static_cast<int>(field.omit)];
  if (field.required) line += " required";
  if (field.inlined) line += " inlined";
  if (field.default_value() != nullptr) line += " default=" + testing::Json(*field.default_value());
  const Schema& schema = *field.schema;
  if (!schema.patch_strategy().empty()) line.append(" patch=").append(schema.patch_strategy());
  if (!schema.patch_merge_key().empty()) line.append(":").append(schema.patch_merge_key());
  if (field.schema->nullable) line += " nullable";
  return line;
}

std::vector<std::string> Lines(const Schema& schema) {
  std::vector<std::string> lines;
  for (const Field& field : schema.fields()) lines.push_back(Line(field));
  return lines;
}

TEST_CASE("codec: a message becomes a schema by options, markers and rules", "[codec]") {
  using Expected = std::vector<std::string>;
  CHECK(Lines(*Gadget()) == Expected{"1 metadata ObjectMeta empty",
                                     "2 spec GadgetSpec never required",
                                     "3 status GadgetStatus empty"});
  CHECK(Lines(*Gadget("GadgetSpec")) ==
        Expected{"30 first string empty",
                 "12 name string never required",
                 "2 nickname string empty",
                 "3 replicas int32 pointer empty default=1",
                 "4 big int64 empty",
                 "5 paused boolean empty",
                 "6 enabled boolean pointer empty",
                 "7 ratio number pointer empty",
                 "8 blob bytes empty",
                 "9 alwaysBlob bytes never required",
                 "10 color string pointer never",
                 "11 tags [string] set empty patch=merge",
                 "13 numbers [int64] never required",
                 "14 ports [Port] map port protocol empty patch=merge:port",
                 "15 labels {string} atomic empty",
                 "16 files {bytes} empty",
                 "17 limits {quantity} empty",
                 "18 extra {message[string]} empty",
                 "19 verbs message[string] empty",
                 "20 strategy Strategy atomic empty patch=retainKeys",
                 "21 fallback Strategy atomic pointer empty",
                 "22 whenZero Strategy atomic zero",
                 "1 source Source never inlined",
                 "23 mode Mode pointer empty inlined",
                 "24 port intstr pointer empty",
                 "25 size quantity empty",
                 "26 parameters raw empty",
                 "27 selector LabelSelector atomic pointer empty",
                 "28 period duration pointer empty",
                 "29 $ref string pointer empty nullable",
                 "2000 deletion DeleteOptions pointer empty",
                 "31 weights [number] empty",
                 "32 flags [boolean] empty"});
  CHECK(Lines(*Gadget("GadgetStatus")) ==
        Expected{"1 ready int32 empty", "2 conditions [Condition] map type empty",
                 "3 started time empty", "4 ended microtime pointer empty"});
  CHECK(Lines(*Gadget("Port")) ==
        Expected{"1 port int32 never required", R"(2 protocol string empty default="TCP")"});
}

TEST_CASE("codec: messages of k8s.io/apimachinery are what they are in Go", "[codec]") {
  const SchemaPtr gadget = Gadget();
  CHECK(gadget->fields()[0].schema == runtime::ObjectMetaSchema());
  const SchemaPtr spec = gadget->fields()[1].schema;
  CHECK(spec->FindField("selector")->schema->name() ==
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector");
  using Expected = std::vector<std::string>;
  CHECK(Lines(*spec->FindField("selector")->schema) ==
        Expected{"1 matchLabels {string} empty",
                 "2 matchExpressions [LabelSelectorRequirement] empty"});
  const std::vector<std::string> deletion = Lines(*spec->FindField("deletion")->schema);
  CHECK(deletion[0] == "-1 kind string empty");
  CHECK(deletion[1] == "-1 apiVersion string empty");
  CHECK(deletion[2] == "1 gracePeriodSeconds int64 pointer empty");
}

TEST_CASE("codec: names of OpenAPI definitions follow the package", "[codec]") {
  CHECK(Gadget("GadgetSpec")->name() == "com.example.gadget.v1.GadgetSpec");
  CHECK(Gadget("GadgetSpec")->FindField("selector")->schema->name() ==
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector");
  const ProtoSchemas cases = ProtoSchemas::Load(schema_cases::Descriptors()).value();
  CHECK(cases.Find("p.N").value()->name() == "p.N");
  CHECK(cases.Find("p.Renamed").value()->name() == "b.C");
}

TEST_CASE("codec: comments are descriptions without their markers", "[codec]") {
  const SchemaPtr gadget = Gadget();
  CHECK(gadget->description() ==
        "A gadget and what became of it. It is described in two lines.\n\n"
        "And in a second paragraph:\n  indented");
  CHECK(gadget->DescriptionOf(gadget->fields()[1]) == "What is wanted.");
  const SchemaPtr spec = Gadget("GadgetSpec");
  const auto described = [&](std::string_view field) {
    return spec->DescriptionOf(*spec->FindField(field));
  };
  CHECK(described("replicas") == "How many; one if nothing is said.");
  CHECK(described("nickname") == "Left out when empty.");
  CHECK(described("big").empty());
}

TEST_CASE("codec: markers of validation become constraints", "[codec]") {
  const SchemaPtr spec = Gadget("GadgetSpec");
  const runtime::ConstraintsView replicas = spec->FindField("replicas")->schema->constraints();
  CHECK(replicas.minimum() == 0);
  CHECK(replicas.maximum() == 100);
  const Schema& tags = *spec->FindField("tags")->schema;
  CHECK(tags.constraints().max_items() == 4);
  CHECK(tags.items()->constraints().pattern() == "^[a-z]+$");
  const auto& colors = spec->FindField("color")->schema->constraints().enum_values();
  REQUIRE(colors.size() == 2);
  CHECK(colors[0].AsString() == "Red");
  CHECK(colors[1].AsString() == "Blue");
}

TEST_CASE("codec: every spelling of a marker is understood", "[codec]") {
  const SchemaPtr schema =
      ProtoSchemas::Load(schema_cases::Descriptors()).value().Find("p.Spellings").value();
  const struct {
    const char* field;
    bool (*holds)(const Field&);
  } rows[] = {
      {"f1", [](const Field& f) { return !f.schema->constraints().minimum(); }},
      {"f2", [](const Field& f) { return f.schema->constraints().minimum() == 1; }},
      {"f3", [](const Field& f) { return f.schema->constraints().minimum() == -1.5; }},
      {"f4", [](const Field& f) { return f.schema->constraints().minimum() == 1; }},
      {"f5", [](const Field& f) { return f.schema->constraints().maximum() == 9; }},
      {"f6", [](const Field& f) { return f.schema->constraints().exclusive_minimum(); }},
      {"f7", [](const Field& f) { return f.schema->constraints().exclusive_maximum(); }},
      {"f8", [](const Field& f) { return f.schema->constraints().multiple_of() == 5; }},
      {"f9",
       [](const Field& f) {
         return f.schema->constraints().enum_values().size() == 2 &&
                f.schema->constraints().enum_values()[1].AsInt() == 2;
       }},
      {"f10", [](const Field& f) { return f.schema->constraints().enum_values().size() == 3; }},
      {"f11", [](const Field& f) { return f.schema->constraints().enum_values().empty(); }},
      {"f12", [](const Field& f) { return f.schema->constraints().enum_values().size() == 2; }},
      {"f13",
       [](const Field& f) { return f.schema->constraints().enum_values()[1].AsString().empty(); }},
      {"f14", [](const Field& f) { return f.schema->constraints().min_length() == 1; }},
      {"f15", [](const Field& f) { return f.schema->constraints().max_length() == 3; }},
      {"f16", [](const Field& f) { return f.schema->constraints().pattern() == "^a=b$"; }},
      {"f17", [](const Field& f) { return f.schema->constraints().format() == "k8s-short-name"; }},
      {"f18", [](const Field& f) { return f.schema->constraints().min_items() == 1; }},
      {"f19", [](const Field& f) { return f.schema->constraints().unique_items(); }},
      {"f20", [](const Field& f) { return f.schema->list_type == Schema::ListType::kSet; }},
      {"f21", [](const Field& f) { return f.schema->items()->constraints().max_length() == 2; }},
      {"f22", [](const Field& f) { return f.schema->constraints().max_properties() == 2; }},
      {"f23", [](const Field& f) { return !f.schema->atomic; }},
      {"f24", [](const Field& f) { return f.schema->atomic; }},
      {"f25", [](const Field& f) { return f.required; }},
      {"f26", [](const Field& f) { return !f.required && f.omit == Field::Omit::kWhenEmpty; }},
      {"f27", [](const Field& f) { return f.schema->nullable; }},
      {"f28", [](const Field& f) { return f.default_value()->AsString() == "x"; }},
      {"f29", [](const Field& f) { return f.default_value()->is_map(); }},
      {"f30", [](const Field& f) { return f.required; }},
  };
  for (const auto& row : rows) {
    INFO(row.field);
    CHECK(row.holds(*schema->FindField(row.field)));
  }
  CHECK(schema->DescriptionOf(*schema->FindField("f31")).empty());
}

// Pairs of a message in refused.proto and why it is refused.
void CheckRefused(std::initializer_list<std::pair<const char*, const char*>> rows) {
  const ProtoSchemas schemas = ProtoSchemas::Load(schema_cases::Descriptors()).value();
  for (const auto& [message, why] : rows) {
    const Status status = schemas.Find(std::string("p.") + message).status();
    CHECK(status.reason() == Reason::kInvalid);
    CHECK(status.message() == why);
  }
}

TEST_CASE("codec: what Kubernetes' objects cannot have is refused by name", "[codec]") {
  CheckRefused({
      {"Unsigned", "p.Unsigned.f: Kubernetes has no fields of type uint32"},
      {"Float", "p.Float.f: Kubernetes has no fields of type float"},
      {"ZigZag", "p.ZigZag.f: Kubernetes has no fields of type sint64"},
      {"Enum", "p.Enum.f: Kubernetes has no fields of type enum"},
      {"Group", "p.Group.f: Kubernetes has no fields of type group"},
      {"IntegerKeys", "p.IntegerKeys.f: the keys of a map are strings"},
      {"FixedValues", "p.FixedValues.f: Kubernetes has no fields of type fixed32"},
      {"Packed", "p.Packed.f: Kubernetes has no packed lists"},
      {"Oneof", "p.Oneof: oneof has no form in JSON"},
      {"Extensible", "p.Extensible: must not be extended"},
      {"Recursive", "p.Recursive: contains itself"},
      {"Inner", "p.Outer: contains itself"},
      {"PointerToList", "p.PointerToList.f: lists, maps and bytes are no pointers"},
      {"InlinedText", "p.InlinedText.f: only a message can be inlined"},
      {"ListOfNone", "p.ListOfNone: a list has one field, repeated, of number 1"},
      {"Holder", "p.ListOfSecond: a list has one field, repeated, of number 1"},
  });
}

TEST_CASE("codec: markers that cannot be read are refused by name", "[codec]") {
  CheckRefused({
      {"NotANumber", "p.NotANumber.f: +k8s:minimum=x: must be a number"},
      {"NotAnInteger", "p.NotAnInteger.f: +k8s:maxLength=1.5: must be an integer"},
      {"NotAFlag", "p.NotAFlag.f: +nullable=perhaps: must be true or false"},
      {"SetOfNothing", "p.SetOfNothing.f: +listType=set: is for lists"},
      {"Bag", "p.Bag.f: +listType=bag: must be atomic, set or map"},
      {"KeylessMap", "p.KeylessMap.f: +listType=map: needs +listMapKey"},
      {"MapTypeOfText", "p.MapTypeOfText.f: +mapType=atomic: is for maps"},
      {"Solid", "p.Solid.f: +structType=solid: must be atomic or granular"},
      {"KeyOfText", "p.KeyOfText.f: +listMapKey=a: is for lists"},
      {"ItemsOfText", "p.ItemsOfText.f: +k8s:items:maxLength=1: is for lists and maps"},
      {"DefaultByReference",
       "p.DefaultByReference.f: +default=ref(X): must be JSON: invalid character 'r' looking for "
       "beginning of value"},
      {"Torn", "p.Torn.f: is both +optional and +required"},
      {"NoList", "p.NoList: +listType=set: is for lists"},
  });
}

TEST_CASE("codec: descriptors that are none are refused", "[codec]") {
  CHECK(ProtoSchemas::Load("\x0A\x05x").status().message() == "the descriptor set is malformed");
  google::protobuf::FileDescriptorSet set;
  google::protobuf::FileDescriptorProto* file = set.add_file();
  file->set_name("a.proto");
  file->add_dependency("b.proto");
  const Status status = ProtoSchemas::Load(set.SerializeAsString()).status();
  CHECK(status.reason() == Reason::kInvalid);
  CHECK(status.message() == "a.proto: b.proto: Import \"b.proto\" has not been loaded.");
  const Status missing =
      ProtoSchemas::Load(gadget_api::Descriptors()).value().Find("p.Missing").status();
  CHECK(missing.reason() == Reason::kNotFound);
  CHECK(missing.message() == "there is no message \"p.Missing\"");
}

TEST_CASE("codec: a kind with a schema from .proto is complete", "[codec]") {
  runtime::KindOptions options;
  options.group = "gadget.example.com";
  options.kind = "Gadget";
  options.plural = "gadgets";
  options.versions = {{.version = "v1", .schema = Gadget()}};
  const Result<runtime::KindPtr> kind = runtime::Kind::New(std::move(options));
  REQUIRE(kind.status().ToString() == Status().ToString());
}

}  // namespace
}  // namespace apiserver::inline v0::codec
