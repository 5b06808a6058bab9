#include "apiserver/cel/compile.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace cel = apiserver::cel;
using apiserver::Reason;
using cel::CompileStage;
using cel::Type;

namespace {

// Compiles a text over the dyn variable `o`.
struct Compilation {
  explicit Compilation(std::string_view text, std::vector<Type> wanted = {}) {
    const cel::Environment environment =
        cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored).With({{.name = "o", .type = {}}});
    const auto program =
        cel::Compile(environment, text, {.result_types = std::move(wanted)}, &stage);
    ok = program.ok();
    if (!ok) message = program.status().message();
    if (!ok) reason = program.status().reason();
  }

  CompileStage stage = CompileStage::kProgram;
  bool ok = false;
  std::string message;
  Reason reason = Reason::kUnknown;
};

}  // namespace

TEST_CASE("cel: a text that does not compile says at which step", "[cel]") {
  CHECK(Compilation("o.a == 1").stage == CompileStage::kDone);

  const Compilation syntax("o +");
  CHECK(syntax.stage == CompileStage::kText);
  CHECK(syntax.reason == Reason::kInvalid);
  CHECK(syntax.message.starts_with("compilation failed: ERROR: <input>:1:4: Syntax error: "));

  const Compilation undeclared("x == 1");
  CHECK(undeclared.stage == CompileStage::kText);
  CHECK(undeclared.message ==
        "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n"
        " | x == 1\n"
        " | ^");

  const Compilation constant("int('x') == 1");
  CHECK(constant.stage == CompileStage::kProgram);
  CHECK(constant.reason == Reason::kInternalError);
  CHECK(constant.message.starts_with("program instantiation failed: "));
}

TEST_CASE("cel: an expression must have one of the types that are wanted", "[cel]") {
  CHECK(Compilation("1", {Type::Int()}).ok);
  CHECK(Compilation("'a'", {Type::Null(), Type::String()}).ok);

  const Compilation number("1", {Type::Bool()});
  CHECK(number.stage == CompileStage::kResultType);
  CHECK(number.reason == Reason::kInvalid);
  CHECK(number.message == "must evaluate to bool but got int");
  CHECK(Compilation("1", {Type::String(), Type::Null()}).message ==
        "must evaluate to one of [string null_type] but got int");
  // The names are those of cel-go's types, not those of its messages.
  CHECK(Compilation("[timestamp('2026-01-01T00:00:00Z')]", {Type::Bool()}).message ==
        "must evaluate to bool but got list(google.protobuf.Timestamp)");
  CHECK(Compilation("{'a': [1]}", {Type::Bool()}).message ==
        "must evaluate to bool but got map(string, list(int))");
  // dyn is no bool, though it may be one.
  CHECK(Compilation("o", {Type::Bool()}).message == "must evaluate to bool but got dyn");
}

TEST_CASE("cel: a program tells which fields and variables it reads", "[cel]") {
  const cel::Environment environment =
      cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
          .With({{.name = "o", .type = {}}, {.name = "p", .type = {}}});
  const auto program = cel::Compile(
      environment, "has(o.tested) && o.__if__ == o.?maybe.orValue('text') && o['index'] == 1");
  REQUIRE(program.ok());
  CHECK(program->Uses("o"));
  CHECK_FALSE(program->Uses("p"));
  for (const char* field : {"tested", "__if__", "maybe"}) CHECK(program->UsesField(field));
  for (const char* none : {"if", "text", "index", "o", ""}) CHECK_FALSE(program->UsesField(none));
}
