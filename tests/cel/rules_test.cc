#include "apiserver/cel/rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"

namespace apiserver::cel {
namespace {

using runtime::SchemaPtr;
using Json = runtime::Value;
using Lines = std::vector<std::string>;

// A schema with its rules, and objects to be validated. Texts are YAML.
class Ruled {
 public:
  explicit Ruled(const std::string& schema, bool resource = false)
      : rules_(RuleSet::Compile(codec::SchemaFromText(schema).value(), resource,
                                Environment::Kubernetes({1, 36}, Mode::kStored))) {}

  RuleFindings Run(const std::string& object, const Budget& budget = {}) {
    return Run({.object = Parse(object)}, budget);
  }
  RuleFindings Run(const RuleSubject& subject, const Budget& budget = {}) {
    return rules_.Validate(subject, budget, scratch_, Context::Background());
  }
  Lines Errors(const std::string& object) { return MessagesOf(Run(object)); }
  Lines Update(const std::string& object, const std::string& old, bool ratchet = false) {
    const Json before = Parse(old);
    return MessagesOf(Run({.object = Parse(object), .old = &before, .ratchet = ratchet}));
  }
  Json Parse(const std::string& text) { return codec::ParseYaml(text, arena_).value(); }
  bool empty() const { return rules_.empty(); }

  static Lines MessagesOf(const RuleFindings& findings) {
    Lines lines;
    for (const field::Error& error : findings.errors) lines.push_back(error.Message());
    for (const std::string& warning : findings.warnings) lines.push_back("warning: " + warning);
    return lines;
  }

 private:
  RuleSet rules_;
  runtime::Arena arena_;
  Scratch scratch_;
};

std::string Rule(const std::string& rule) {
  return "x-kubernetes-validations: [{rule: \"" + rule + "\"}]";
}

TEST_CASE("cel: a schema without rules makes an empty set", "[cel][rules]") {
  CHECK(Ruled("{type: object, properties: {a: {type: string}}}").empty());
  CHECK(RuleSet().empty());
  CHECK_FALSE(
      Ruled("{type: object, properties: {a: {type: string, " + Rule("true") + "}}}").empty());
}

TEST_CASE("cel: rules run from the whole to its parts in their order", "[cel][rules]") {
  Ruled ruled("{type: object, " + Rule("false") + R"(, properties: {
      z: {type: object, additionalProperties: {type: integer, )" +
              Rule("self > 1") + R"(}},
      a: {type: array, items: {type: object, properties: {name: {type: string, )" +
              Rule("self != ''") + R"(}}, x-kubernetes-validations: [
           {rule: has(self.name), message: ' name is missing '},
           {rule: size(self.name) < 3}]}}}})");
  CHECK(
      ruled.Errors("{z: {one: 1, two: 2}, a: [{name: ''}, {}, {name: long}]}") ==
      Lines{
          "<nil>: Invalid value: failed rule: false",
          "z[one]: Invalid value: 1: failed rule: self > 1",
          "a[0].name: Invalid value: \"\": failed rule: self != ''",
          "a[1]: Invalid value: name is missing",
          "a[1]: Invalid value: \"object\": no such key: name evaluating rule: size(self.name) < 3",
          "a[2]: Invalid value: failed rule: size(self.name) < 3"});
}

TEST_CASE("cel: broken rules show scalars and leave out objects", "[cel][rules]") {
  const std::string rule = ", " + Rule("false") + "}";
  Ruled ruled("{type: object, properties: {b: {type: boolean" + rule + ", i: {type: integer" +
              rule + ", d: {type: number" + rule + ", s: {type: string" + rule +
              ", l: {type: array, items: {type: string}" + rule +
              ", p: {x-kubernetes-int-or-string: true" + rule + "}}");
  CHECK(ruled.Errors("{b: true, i: -3, d: 1.5, s: \"a\\\"b\", l: [], p: 5}") ==
        Lines{"b: Invalid value: true: failed rule: false",
              "i: Invalid value: -3: failed rule: false",
              "d: Invalid value: 1.5: failed rule: false",
              "s: Invalid value: \"a\\\"b\": failed rule: false",
              "l: Invalid value: failed rule: false", "p: Invalid value: 5: failed rule: false"});
}

TEST_CASE("cel: nulls, unknown members and misfits are not followed", "[cel][rules]") {
  const std::string rule = Rule("self == 'a'");
  Ruled ruled(
      "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {"
      "s: {type: string, nullable: true, " +
      rule +
      "}, l: {type: array, items: {type: "
      "string, nullable: true, " +
      rule + "}}}}");
  CHECK(ruled.Errors("{s: null, l: [null, b], other: {s: b}}") ==
        Lines{"l[1]: Invalid value: \"b\": failed rule: self == 'a'"});
  CHECK(ruled.Errors("{s: 3, l: {s: b}}") ==
        Lines{"s: Invalid value: \"string\": invalid data, expected string, got int64 evaluating "
              "rule: self == 'a'"});
  CHECK(ruled.Errors("[a]").empty());
}

TEST_CASE("cel: rules that do not compile are errors of each value", "[cel][rules]") {
  Ruled ruled(
      "{type: array, items: {type: integer, x-kubernetes-validations: ["
      "{rule: self + 1}, {rule: ' '}, {rule: self.a > 1, message: told}]}}");
  const Lines errors = ruled.Errors("[1, 2]");
  REQUIRE(errors.size() == 4);
  CHECK(errors[0] ==
        "[0]: Invalid value: \"integer\": rule compile error: cel expression must evaluate to a "
        "bool");
  CHECK(errors[1] ==
        "[0]: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: "
        "<input>:1:5: type 'int' does not support field selection\n | self.a > 1\n | ....^");
}

TEST_CASE("cel: run-time errors name the rule or its message", "[cel][rules]") {
  Ruled ruled(R"({type: object, properties: {p: {x-kubernetes-int-or-string: true}},
      x-kubernetes-validations: [{rule: "self.p > 1"},
                                  {rule: "1 / self.p == 1", message: told}]})");
  CHECK(ruled.Errors("{p: abc}") ==
        Lines{"<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match "
              "a supported operator, function or macro signature for rule: self.p > 1",
              "<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match "
              "a supported operator, function or macro signature for rule: told"});
  CHECK(ruled.Errors("{p: 0}")[1] ==
        "<nil>: Invalid value: \"object\": division by zero evaluating rule: told");
}

TEST_CASE("cel: no rule runs once the budget is spent", "[cel][rules]") {
  Ruled ruled("{type: array, items: {type: integer, " + Rule("self > 0") + "}}");
  const RuleFindings all = ruled.Run("[1, 2, 3]", {.remaining = 6});
  CHECK(all.errors.empty());
  CHECK(all.remaining == 0);
  const std::string ended =
      "Invalid value: \"integer\": validation failed due to running out of cost budget, no further "
      "validation rules will be run";
  const RuleFindings more = ruled.Run("[1, 2, 3, 0]", {.remaining = 6});
  CHECK(Ruled::MessagesOf(more) == Lines{"[3]: " + ended});
  CHECK(more.remaining == -1);
  CHECK(Ruled::MessagesOf(ruled.Run("[0, 2]", {.remaining = 1})) == Lines{"[0]: " + ended});
  CHECK(Ruled::MessagesOf(ruled.Run("[0, 0]", {.per_call = 1})) ==
        Lines{"[0]: Invalid value: \"integer\": 'operation cancelled: actual cost limit exceeded': "
              "no further validation rules will be run due to call cost exceeds limit for rule: "
              "self > 0"});
}

TEST_CASE("cel: self of a resource has its type and name alone", "[cel][rules]") {
  Ruled ruled(R"({type: object, properties: {
      child: {type: object, x-kubernetes-embedded-resource: true, )" +
                  Rule("self.kind == 'Pod' && self.metadata.name == 'p'") + "}}, " +
                  Rule("self.metadata.name.startsWith('a') && self.kind == 'Widget' && "
                       "self.apiVersion == 'v1'") +
                  "}",
              true);
  const std::string rest =
      "metadata: {name: abc, labels: {a: b}}, child: {kind: Pod, "
      "apiVersion: v1, metadata: {name: p}}}";
  CHECK(ruled.Errors("{apiVersion: v1, kind: Widget, " + rest).empty());
  CHECK(ruled.Errors("{apiVersion: v2, kind: Widget, " + rest).size() == 1);
  // The content of an object does not hold them.
  const auto beside = [&](std::string_view kind) {
    return Ruled::MessagesOf(
        ruled.Run({.object = ruled.Parse("{" + rest), .api_version = "v1", .kind = kind}));
  };
  CHECK(beside("Widget").empty());
  CHECK(beside("Gadget").size() == 1);
  Ruled labels("{type: object, " + Rule("self.metadata.labels.size() > 0") + "}", true);
  CHECK(labels.Errors("{" + rest)[0].find("undefined field 'labels'") != std::string::npos);
}

TEST_CASE("cel: members that expressions do not see keep no rules", "[cel][rules]") {
  // No type, so that nothing is known of the value.
  Ruled unseen("{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true, " +
               Rule("false") + "}}}");
  CHECK(unseen.Errors("{a: {b: 1}}").empty());
  Ruled top("{x-kubernetes-preserve-unknown-fields: true, " + Rule("false") + "}");
  CHECK(top.Errors("{b: 1}") ==
        Lines{"<nil>: Invalid value: \"\": rule compiler initialization error: failed to convert "
              "to declType for CEL validation rules"});
  // A name that no expression can say is no reason not to look at the value.
  Ruled odd("{type: object, properties: {'a@b': {type: string, " + Rule("self == 'x'") + "}}}");
  CHECK(odd.Errors("{'a@b': z}") == Lines{"a@b: Invalid value: \"z\": failed rule: self == 'x'"});
}

TEST_CASE("cel: transition rules run where an old value is known", "[cel][rules]") {
  Ruled ruled(R"({type: object, properties: {
      set: {type: array, x-kubernetes-list-type: set, items: {type: string, )" +
              Rule("self == oldSelf") + R"(}},
      keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {
        type: object, properties: {a: {type: string}, b: {type: integer}, v: {type: integer, )" +
              Rule("self >= oldSelf") + "}}}}}, " + Rule("has(oldSelf.keyed)") + "}");
  CHECK(ruled.Errors("{set: [x], keyed: [{a: k, b: 1, v: 1}]}").empty());
  CHECK(ruled.Update("{set: [x, y], keyed: [{a: k, b: 2, v: 0}, {a: k, b: 1, v: 4}]}",
                     "{set: [y, x], keyed: [{a: k, b: 1, v: 5}, {a: l, b: 2, v: 9}]}") ==
        Lines{"keyed[1].v: Invalid value: 4: failed rule: self >= oldSelf"});
  CHECK(ruled.Update("{}", "{}") == Lines{"<nil>: Invalid value: failed rule: has(oldSelf.keyed)"});
}

TEST_CASE("cel: items of a long list find their old ones", "[cel][rules]") {
  Ruled ruled(R"({type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],
      items: {type: object, properties: {k: {x-kubernetes-int-or-string: true}, v: {type: integer}},
      )" + Rule("self.v == oldSelf.v") +
              "}}");
  std::string items;
  std::string old;
  for (int i = 0; i < 100; ++i) {
    const std::string key = i % 2 == 0 ? "k" + std::to_string(i) : std::to_string(i);
    const std::string item = "{k: " + key + ", v: " + std::to_string(i) + "}, ";
    items += item;
    old.insert(0, item);
  }
  CHECK(ruled.Update("[" + items + "]", "[" + old + "]").empty());
  // A number and its text are two keys; the first of two old items counts.
  CHECK(ruled
            .Update("[" + items + "{k: '1', v: 7}, {k: new, v: 8}, {v: 9}]",
                    "[" + old + "{k: 1, v: 6}, {v: 4}]")
            .empty());
  CHECK(ruled.Update("[{k: 3, v: 4}]", "[" + old + "]").size() == 1);
}

TEST_CASE("cel: a messageExpression sees oldSelf as Kubernetes shows it", "[cel][rules]") {
  const std::string rule = R"({type: string, x-kubernetes-validations: [{rule: )";
  // Without a rule that reads oldSelf there is none.
  CHECK(Ruled(rule + R"("false", messageExpression: "'was ' + oldSelf"}]})").Update("b", "a") ==
        Lines{"<nil>: Invalid value: \"b\": failed rule: false"});
  CHECK(Ruled(rule + R"("self == oldSelf", messageExpression: "'was ' + oldSelf"}]})")
            .Update("b", "a") == Lines{"<nil>: Invalid value: \"b\": was a"});
  // The value itself, although its type is an optional.
  CHECK(Ruled(rule + R"x("self == oldSelf.orValue('')", optionalOldSelf: true, message: m,
          messageExpression: "oldSelf.hasValue() ? 'had' : 'had none'"}]})x")
            .Update("b", "a") == Lines{"<nil>: Invalid value: \"b\": m"});
  CHECK(Ruled(rule + R"("false", messageExpression: "1 + "}, {rule: "false",
          messageExpression: "' x '", fieldPath: .a, reason: FieldValueDuplicate}]})")
            .Errors("b") ==
        Lines{"<nil>: Invalid value: \"b\": failed rule: false", "<nil>: Duplicate value: \"b\""});
}

TEST_CASE("cel: a resource that changes is not ratcheted as a whole", "[cel][rules]") {
  Ruled ruled(
      "{type: object, properties: {metadata: {type: object}, spec: {type: object, "
      "properties: {a: {type: integer, " +
          Rule("self > 1") + "}}}}, " + Rule("self.spec.a > 2") + "}",
      true);
  const std::string object = "{metadata: {name: n}, spec: {a: 1}}";
  const Json old = ruled.Parse(object);
  CHECK(Ruled::MessagesOf(ruled.Run({.object = ruled.Parse(object),
                                     .old = &old,
                                     .ratchet = true,
                                     .api_version = "v1",
                                     .kind = "Widget"})) ==
        Lines{"<nil>: Invalid value: failed rule: self.spec.a > 2",
              "warning: spec.a: Invalid value: 1: failed rule: self > 1"});
}

TEST_CASE("cel: rules of inlined structs are about the outer object", "[cel][rules]") {
  const SchemaPtr inner = runtime::StructBuilder("")
                              .Field("a", runtime::IntegerSchema(64))
                              .Rule({.rule = "self.a < self.b", .message = "a must be below b"})
                              .Build();
  const SchemaPtr outer = runtime::StructBuilder("")
                              .Field("", inner, {.inlined = true})
                              .Field("b", runtime::IntegerSchema(64))
                              .Build();
  const RuleSet rules =
      RuleSet::Compile(outer, false, Environment::Kubernetes({1, 36}, Mode::kStored));
  Scratch scratch;
  runtime::Arena arena;
  const Json object = codec::ParseYaml("{a: 3, b: 2}", arena).value();
  CHECK(Ruled::MessagesOf(
            rules.Validate({.object = object}, Budget{}, scratch, Context::Background())) ==
        Lines{"<nil>: Invalid value: a must be below b"});
}

TEST_CASE("cel: field paths may be refused brackets", "[cel][rules]") {
  const SchemaPtr schema =
      codec::SchemaFromText(
          "{type: object, properties: {a: {type: object, properties: {b: {type: "
          "string}}}, m: {type: object, additionalProperties: true}}}")
          .value();
  const auto read = [&](std::string_view path, bool brackets = true) {
    const auto parsed = ParseFieldPath(path, *schema, brackets);
    return parsed.ok() ? parsed->text() : "error: " + std::string(parsed.status().message());
  };
  CHECK(read(".a.b") == "a.b");
  CHECK(read(".a['b']") == "a.b");
  CHECK(read(".a['b']", false) == "error: array notation is not allowed");
  CHECK(read(".m['x.y']") == "m[x.y]");
  CHECK(read(".m.x.y") == "error: does not refer to a valid field");
  CHECK(read(".a['b'.") == "error: expected ] but got .");
  CHECK(read(".a['\\q']") == "error: invalid string literal: invalid escape char \\q");
  CHECK(read(".a.b.c") == "error: does not refer to a valid field");
  CHECK(read("") == "");
}

}  // namespace
}  // namespace apiserver::cel
