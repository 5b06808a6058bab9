#include <catch2/catch.hpp>

#include "apiserver/cel/schema_type.h"
#include "apiserver/runtime/schema.h"
#include "cel/check/checker.h"
#include "cel/check_cases.h"
#include "cel/syntax/parser.h"
#include "cel/types/spell.h"

using apiserver::cel::Environment;
using apiserver::cel::Mode;
using apiserver::cel::Type;
using apiserver::cel::check::Reference;
using cel_test::Base;
using cel_test::CheckAll;
namespace cel = apiserver::cel;
namespace runtime = apiserver::runtime;

namespace {

// The environment of a rule at the root of a resource.
Environment RuleEnvironment(int minor = 36) {
  runtime::SchemaParts unknown;
  unknown.preserve_unknown_fields = true;
  const runtime::SchemaPtr schema =
      cel::WithTypeAndObjectMeta(runtime::StructBuilder("")
                                     .Field("s", runtime::StringSchema())
                                     .Field("n", runtime::NumberSchema())
                                     .Field("port", runtime::IntOrStringSchema())
                                     .Field("empty", runtime::StructBuilder("").Build())
                                     .Field("any", runtime::MakeSchema(unknown))
                                     .Field("namespace", runtime::StringSchema())
                                     .Field("a.b", runtime::StringSchema())
                                     .Field("labels", runtime::MapOf(runtime::StringSchema()))
                                     .Build(),
                                 true);
  const Type self = *cel::TypeOfSchema(*schema, "selfType");
  return Base(minor).With({{"self", self, schema}, {"oldSelf", Type::Optional(self), schema}},
                          {self});
}

constexpr cel::TypeNode kAuthorizer = cel::types::Object("a");

// The types of admission policies, shortened.
Environment PolicyEnvironment() {
  const Type user = Type::Struct(
      {.name = "kubernetes.UserInfo", .fields = {{"groups", Type::List(Type::String())}}});
  const Type request =
      Type::Struct(cel::StructType{.name = "kubernetes.AdmissionRequest",
                                   .fields = {{"name", Type::String()}, {"userInfo", user}}});
  return Base().With({{"object", Type::Dyn()},
                      {"request", request},
                      {"authorizer", Type(kAuthorizer)},
                      {"authorizer.requestResource", Type::String()}},
                     {request});
}

Reference ReferenceOf(const Environment& environment, std::string_view text) {
  const cel::syntax::SourceText source(text);
  cel::syntax::Issues issues;
  const auto checked =
      cel::check::Check(environment, cel::syntax::Parse(source, {}, issues), issues);
  REQUIRE(checked.has_value());
  return checked->references[checked->ast.root()];
}

}  // namespace

TEST_CASE("cel: rules see the declared fields of their schema", "[cel]") {
  CheckAll(
      RuleEnvironment(),
      {
          {"self.s", "string"},
          {"self.s == null",
           "8: found no matching overload for '_==_' applied to '(string, null)'"},
          {"self == null", "bool"},
          {"self == 1", "6: found no matching overload for '_==_' applied to '(selfType, int)'"},
          {"self.n == 1", "8: found no matching overload for '_==_' applied to '(double, int)'"},
          {"self.n < 1", "bool"},
          {"self.port < 'x'", "bool"},
          {"self.empty.foo", "11: undefined field 'foo'"},
          {"self.any", "5: undefined field 'any'"},
          {"has(self.any)", "4: undefined field 'any'"},
          {"self.metadata.name + self.kind", "string"},
          {"self.metadata.labels", "14: undefined field 'labels'"},
          {"self.labels['a.b/c']", "string"},
          {"self.labels.x", "string"},
          {"self.a__dot__b == self.__namespace__", "bool"},
          {"self.namespace", "string"},
          {"oldSelf.?s", "optional_type(string)"},
          {"oldSelf.s", "optional_type(string)"},
          {"oldSelf.orValue(self).s", "string"},
          {"[self, 1]", "8: expected type 'selfType' but found 'int'"},
          {"type(self) == type(self.empty)", "bool"},
          {"selfType{s: 1}",
           "11: expected type of field 's' is 'string' but provided type is 'int'"},
          {"selfType{s: '1', x: 2}", "19: undefined field 'x'"},
          {"selfType.empty{}", "selfType.empty"},
      });
}

TEST_CASE("cel: fields with reserved names are found plainly since 1.31", "[cel]") {
  CHECK(cel_test::TypeOf(RuleEnvironment(30), "self.namespace") ==
        "5: undefined field 'namespace'");
  CHECK(cel_test::TypeOf(RuleEnvironment(31), "self.namespace") == "string");
}

TEST_CASE("cel: names of declared types may begin literals", "[cel]") {
  CheckAll(PolicyEnvironment(),
           {
               {"duration", "type(duration)"},
               {"type(request.name) == timestamp", "bool"},
               {"kubernetes.AdmissionRequest", "type(kubernetes.AdmissionRequest)"},
               {"kubernetes.AdmissionRequest{name: 'x'}", "kubernetes.AdmissionRequest"},
               {"kubernetes.UserInfo{groups: ['a']}.groups", "list(string)"},
               {"kubernetes.Other", "1: undeclared reference to 'kubernetes' (in container '')"},
               {"request.userInfo.groups", "list(string)"},
               {"request.uid", "8: undefined field 'uid'"},
               {"timestamp{}", "timestamp"},
               {"string{}", "7: 'string' is not a message type"},
               {"int{a: 1}", "4: 'int' is not a message type; 6: undefined field 'a'"},
               {"object{}", "7: 'dyn' is not a type"},
               {"object.a.b.c", "dyn"},
               {"authorizer.requestResource", "string"},
               {"authorizer.requestResource.size()", "int"},
               {"has(authorizer.requestResource)", "4: unexpected failed resolution of 'a'"},
           });
  CHECK(ReferenceOf(PolicyEnvironment(), "duration").kind == Reference::Kind::kTypeName);
  CHECK(ReferenceOf(PolicyEnvironment(), "int").kind == Reference::Kind::kType);
  CHECK(ReferenceOf(PolicyEnvironment(), "authorizer.requestResource").index == 3);
  CHECK(cel_test::TypeOf(Base(), "duration") ==
        "1: undeclared reference to 'duration' (in container '')");
}

TEST_CASE("cel: an open type has every field, and a type for each path", "[cel]") {
  const Type object = Type::Struct(cel::StructType{.name = "Object", .open = true});
  const Type patch = Type::Struct(
      {.name = "JSONPatch", .fields = {{"op", Type::String()}, {"value", Type::Dyn()}}});
  CheckAll(Base().With({}, {object, patch}),
           {
               {"Object{spec: Object.spec{a: 1}}", "Object"},
               {"Object.spec.foo", "type(Object.spec.foo)"},
               {"Object{}.foo.bar", "dyn"},
               {"Object.spec{a: 1}.b", "dyn"},
               {"Objectx{}", "8: undeclared reference to 'Objectx' (in container '')"},
               {"Object.spec{} == Object.x{}",
                "15: found no matching overload for '_==_' applied to '(Object.spec, Object.x)'"},
               {"[Object{}, Object.x{}]", "20: expected type 'Object' but found 'Object.x'"},
               {"Object{?a: 1}", "12: expected type 'optional_type(int)' but found 'int'"},
               {"[JSONPatch{op: 'add', value: 1}]", "list(JSONPatch)"},
               {"JSONPatch{op: 1}",
                "13: expected type of field 'op' is 'string' but provided type is 'int'"},
               {"JSONPatch{?op: optional.of(1)}",
                "14: expected type of field 'op' is 'string' but provided type is 'int'"},
               {"JSONPatch{}.value.x", "dyn"},
           });
}
