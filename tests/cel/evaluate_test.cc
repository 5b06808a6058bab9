#include "apiserver/cel/evaluate.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "cel/run/print.h"
#include "dyn_program.h"

namespace cel = apiserver::cel;
namespace runtime = apiserver::runtime;
using apiserver::Context;
using apiserver::testing::PlanDyn;
using cel::Budget;
using cel::End;
using cel::Input;
using cel::Outcome;
using cel::Program;
using cel::Scratch;
using cel::Value;

namespace {

constexpr std::string_view kObject = R"({
  "a": {"b": 1, "n": null}, "i": 3, "s": "hello", "e": "", "l": [1, 2, 3],
  "k": "a", "m": {"x": 1, "y": 2}, "t": true, "o": {"a": {"b": {"c": 1}}}
})";

std::string Repeated(std::string text, std::string_view part, int times) {
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

// Evaluates expressions over the variables `o` (the object above) and `i`, which is 5.
struct Evaluation {
  Outcome Run(std::string_view text) {
    const auto program = PlanDyn(text, {"o", "i"});
    if (!program.ok()) {
      Outcome refused;
      refused.error = scratch.arena().Copy(program.status().message());
      refused.end = End::kError;
      return refused;
    }
    programs.push_back(*program);
    const std::vector<Input> inputs = {{Value::FromData(object, nullptr, scratch.arena())},
                                       {Value::Int(5)}};
    return cel::Evaluate(programs.back(), inputs, budget, scratch, context);
  }
  // The value or the error as text.
  std::string Show(std::string_view text) {
    const Outcome outcome = Run(text);
    if (!outcome.ok()) return "error: " + std::string(outcome.error);
    return cel::PrintValue(outcome.value, scratch.arena());
  }
  std::uint64_t Cost(std::string_view text) { return Run(text).cost; }
  // The value or the error, and the cost.
  std::string ShowWithCost(std::string_view text) {
    return Show(text) + ", " + std::to_string(Cost(text));
  }

  runtime::Arena data;
  runtime::Value object = apiserver::codec::ParseJson(kObject, data).value();
  Scratch scratch;
  Budget budget;
  Context context = Context::Background();
  std::deque<Program> programs;
};

}  // namespace

TEST_CASE_METHOD(Evaluation, "cel: a map that is looked into often answers as a small one",
                 "[cel]") {
  std::string json = R"({"names": [)";
  std::string members;
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = "\"k" + std::to_string((i * 619) % 1'000) + "\"";
    json += (i == 0 ? "" : ",") + name;
    members += "," + name + ":" + name;
  }
  json += "]" + members + "}";  // The object borrows it.
  object = apiserver::codec::ParseJson(json, data).value();

  CHECK(Show("o.names.all(k, o[k] == k)") == "true");
  CHECK(Show("o.names.all(k, k in o)") == "true");
  CHECK(Show("o.names.exists(k, (k + 'x') in o)") == "false");
  CHECK(Show("o.names.map(k, o[k + 'x'])") == "error: no such key: k0x");
}

TEST_CASE_METHOD(Evaluation, "cel: operators and selections evaluate", "[cel]") {
  CHECK(Show("1 + 2 * 3") == "7");
  CHECK(Show("o.a.b + i") == "6");
  CHECK(Show("o.l[1] == 2 && o.s.startsWith('he')") == "true");
  CHECK(Show("o.l[5]") == "error: index out of bounds: 5");
  CHECK(Show("o.x.y") == "error: no such key: x");
  CHECK(Show("o['a']['b']") == "1");
  CHECK(Show("o[o.k].b") == "1");
  CHECK(Show("[1, 2] + [i]") == "[1, 2, 5]");
  CHECK(Show("{'a': 1, 'b': i}") == "{a: 1, b: 5}");
  CHECK(Show("i in o.l || 2 in o.l") == "true");
  CHECK(Show("'x' in o.m") == "true");
  CHECK(Show("-i") == "-5");
  CHECK(Show("o.s < 1") == "error: no such overload");
  CHECK(Show("null < 1") == "error: no such overload: _<_");
  CHECK(Show("type(o.l) == list") == "true");
  CHECK(Show("string(o.l.size()) + 'x'") == "3x");
  CHECK(Show("size(1)") == "error: no such overload: size");
}

// The costs are the oracle's.
TEST_CASE_METHOD(Evaluation, "cel: a constant argument may stand anywhere in a call", "[cel]") {
  CHECK(ShowWithCost("o.s.startsWith('he')") == "true, 3");
  CHECK(ShowWithCost("'hello'.startsWith(o.s)") == "true, 3");
  CHECK(ShowWithCost("'hello'.startsWith('he')") == "true, 1");
  CHECK(ShowWithCost("o.s.startsWith(o.s.substring(0, 2))") == "true, 6");
  CHECK(ShowWithCost("o.s.replace('l', 'L', 1)") == "heLlo, 3");
  CHECK(ShowWithCost("o.l.all(x, o.s.replace('l', string(x), 1).startsWith('he'))") == "true, 30");
  CHECK(ShowWithCost("o.x.startsWith('he')") == "error: no such key: x, 3");
  CHECK(ShowWithCost("o.i.startsWith('he')") == "error: no such overload, 3");
}

// The costs are the oracle's: each link that is reached counts 1.
TEST_CASE_METHOD(Evaluation, "cel: a chain of selections ends at the link that is missing",
                 "[cel]") {
  CHECK(ShowWithCost("o.o.a.b.c") == "1, 5");
  CHECK(ShowWithCost("o.o.x.b.c") == "error: no such key: x, 3");
  CHECK(ShowWithCost("o.o.a.x.c") == "error: no such key: x, 4");
  CHECK(ShowWithCost("o.a.n.x") == "error: no such key: x, 4");
  CHECK(ShowWithCost("o.l.x.y") == "error: unsupported index type 'string' in list, 3");
  CHECK(ShowWithCost("o.o.?a.b.c") == "optional(1), 5");
  CHECK(ShowWithCost("o.o.a.b['c']") == "1, 5");
  CHECK(ShowWithCost("o.o['a'].b.c") == "1, 5");
  CHECK(Show("has(o.o.a.b.c)") == "true");
  CHECK(Show("has(o.o.a.b.x)") == "false");
  CHECK(Show("has(o.o.a.x.c)") == "error: no such key: x");
}

// The costs are the oracle's: the condition counts before each element, and not after the last.
TEST_CASE_METHOD(Evaluation, "cel: all and exists end with the element that decides", "[cel]") {
  CHECK(ShowWithCost("o.l.all(x, x < 3)") == "false, 18");
  CHECK(ShowWithCost("o.l.all(x, x < 4)") == "true, 18");
  CHECK(ShowWithCost("o.l.all(x, x / 0 > 0)") == "error: division by zero, 21");
  CHECK(ShowWithCost("o.l.all(x, 1 / (2 - x) > 0)") == "false, 24");
  CHECK(ShowWithCost("o.l.all(x, x)") == "error: no such overload, 15");
  CHECK(ShowWithCost("o.l.all(x, true)") == "true, 12");
  CHECK(ShowWithCost("[].all(x, x)") == "true, 1");
  CHECK(ShowWithCost("o.l.exists(x, 1 / (1 - x) < 0)") == "true, 22");
  CHECK(ShowWithCost("o.l.exists(x, 1 / (1 - x) > 9)") == "error: division by zero, 27");
  CHECK(ShowWithCost("o.l.exists(x, x == 2)") == "true, 18");
  CHECK(ShowWithCost("o.l.exists(x, o.s)") == "error: no such overload, 21");
  CHECK(Show("o.m.all(k, k != 'x')") == "false");
  CHECK(Show("o.m.exists(k, o.m[k] == 2)") == "true");
  CHECK(ShowWithCost("o.m.all(k, v, v > 0)") == "true, 13");
  CHECK(ShowWithCost("o.l.exists(n, x, n == x - 2)") == "false, 27");
  CHECK(ShowWithCost("o.l.all(x, o.l.exists(y, y == x))") == "true, 69");
  CHECK(ShowWithCost("o.l.all(x, o.l.all(y, y <= x))") == "false, 25");
}

TEST_CASE_METHOD(Evaluation, "cel: an error is absorbed by what decides", "[cel]") {
  CHECK(Show("o.x || true") == "true");
  CHECK(Show("true || o.x") == "true");
  CHECK(Show("o.x && false") == "false");
  CHECK(Show("o.x && true") == "error: no such key: x");
  CHECK(Show("o.x || o.y") == "error: no such key: x");
  CHECK(Show("i || true") == "true");
  CHECK(Show("i && true") == "error: no such overload");
  CHECK(Show("i ? 1 : 2") == "error: no such overload");
  CHECK(Show("o.x ? 1 : 2") == "error: no such key: x");
  CHECK(Show("o.t ? 1 : o.x") == "1");
  CHECK(Show("(o.t ? o.a : o.m).b") == "1");
  CHECK(Show("(o.x ? o.a : o.m).b") == "error: no such key: x");
}

TEST_CASE_METHOD(Evaluation, "cel: has() tests the last link only", "[cel]") {
  CHECK(Show("has(o.a.b)") == "true");
  CHECK(Show("has(o.a.n)") == "true");
  CHECK(Show("has(o.a.x)") == "false");
  CHECK(Show("has(o.s.x)") == "false");
  CHECK(Show("has(o.x.y)") == "error: no such key: x");
}

TEST_CASE_METHOD(Evaluation, "cel: macros fold lists and maps", "[cel]") {
  CHECK(Show("o.l.all(x, x > 0)") == "true");
  CHECK(Show("o.l.all(x, x > 1)") == "false");
  CHECK(Show("o.l.all(x, x.y > 1 || x == 1)") == "error: no such key: y");
  CHECK(Show("[1, 'a', 2].exists(x, x > 1)") == "true");
  CHECK(Show("[1, 'a'].exists(x, x > 1)") == "error: no such overload");
  CHECK(Show("['a', 0].all(x, x > 1)") == "false");
  CHECK(Show("o.l.exists_one(x, x == 2)") == "true");
  CHECK(Show("o.l.map(x, x * i)") == "[5, 10, 15]");
  CHECK(Show("o.l.map(x, x > 1, x * 2)") == "[4, 6]");
  CHECK(Show("o.l.filter(x, x != 2)") == "[1, 3]");
  CHECK(Show("o.m.map(k, k + '!')") == "[x!, y!]");
  CHECK(Show("o.l.map(x, o.l.filter(y, y > x))") == "[[2, 3], [3], []]");
  CHECK(Show("o.l.map(x, [1].map(x, x + 1)[0] + x)") == "[3, 4, 5]");
  CHECK(Show("o.l.map(x, 1)") == "[1, 1, 1]");
  CHECK(Show("o.l.map(x, x / 0)") == "error: division by zero");
  CHECK(Show("i.map(x, x)") == "error: got 'types.Int', expected iterable type");
  CHECK(Show("o.l.all(k, v, v == k + 1)") == "true");
  CHECK(Show("o.m.exists(k, v, v == 2 && k == 'y')") == "true");
  CHECK(Show("i.all(k, v, true)") == "error: unsupported comprehension range type: types.Int");
}

TEST_CASE_METHOD(Evaluation, "cel: long lists grow in place", "[cel]") {
  CHECK(Show("o.l.map(a, o.l.map(b, o.l.map(c, a * b * c))).size()") == "3");
  const std::string nested = "[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, a * b))";
  CHECK(Show(nested + "[9]") == "[0, 9, 18, 27, 36, 45, 54, 63, 72, 81]");
}

TEST_CASE_METHOD(Evaluation, "cel: an optional selection makes the chain optional", "[cel]") {
  CHECK(Show("o.?a.b") == "optional(1)");
  CHECK(Show("o.?x.y.z") == "optional.none()");
  CHECK(Show("o.a.?n") == "optional(0)");
  CHECK(Show("o.?a.x") == "optional.none()");
  CHECK(Show("o.l[?1]") == "optional(2)");
  CHECK(Show("o.l[?7]") == "optional.none()");
  CHECK(Show("o.?l[0]") == "optional(1)");
  CHECK(Show("o.?x.orValue(7)") == "7");
  CHECK(Show("o.?i.orValue(7)") == "3");
  CHECK(Show("o.?x.or(o.?i)") == "optional(3)");
  CHECK(Show("[?o.?x, ?o.?i]") == "[3]");
  CHECK(Show("{?'a': o.?x, ?'b': o.?i}") == "{b: 3}");
  CHECK(Show("[?i]") == "error: cannot initialize optional list element from non-optional value 5");
  CHECK(Show("has(o.?a.b)") == "true");
  CHECK(Show("has(o.?x.b)") == "false");
  CHECK(Show("has(o.?x.b.c)") == "false");
  CHECK(Show("(o.t ? o.?a : o.?x).b") == "optional(1)");
}

TEST_CASE_METHOD(Evaluation, "cel: constants are folded, with the errors of conversions", "[cel]") {
  CHECK(Show("int('x')") == "error: type conversion error from 'string' to 'int'");
  CHECK(Show("int('7') + 1") == "8");
  CHECK(Show("i in [1, 5]") == "true");
  CHECK(Show("i in [1, 5.0]") == "true");
  CHECK(Show("i in []") == "false");
  CHECK(Show("{null: 1}[null]") == "error: invalid qualifier type: types.Null");
  CHECK(Show("[{}[null], int('x')]") == "error: invalid qualifier type: types.Null");
  CHECK(Show("[int('x'), {}[null]]") == "error: type conversion error from 'string' to 'int'");
  CHECK(Show("double('1e3')") == "1000");
  CHECK(Show("string(1234567.0)") == "1.234567e+06");
  CHECK(Show("string(timestamp('2024-01-01T00:00:00+01:00'))") == "2024-01-01T00:00:00+01:00");
  CHECK(Show("duration('1h30m') + duration('1s')") == "5401s");
}

// Expressions and costs from cel-go and Kubernetes, with the rules that they show.
TEST_CASE_METHOD(Evaluation, "cel: run-time cost is cel-go's", "[cel]") {
  CHECK(Cost("o.l.all(x, x > 0)") == 18);
  CHECK(Cost("[1, 2, 3].map(x, x * 2)") == 43);
  CHECK(Cost("o.l.exists(x, x == 3)") == 2 + 3 * 6 + 1);
  CHECK(Cost("o.l.exists(x, x == 2)") == 2 + 2 * 6 + 3 + 1);
  CHECK(Cost("has(o.a.b)") == 2);
  CHECK(Cost("o.a.b") == 3);
  CHECK(Cost("o.x.b") == 2);
  CHECK(Cost("o[o.k]") == 3);
  CHECK(Cost("o.l[i]") == 3);
  CHECK(Cost("o.l[i - 4]") == 2 + 2 + 1);
  CHECK(Cost("true ? i : 0") == 0);
  CHECK(Cost("true ? o.a.b : o") == 2);
  CHECK(Cost("1 == 1") == 1);
  CHECK(Cost("o.e == ''") == 2);
  CHECK(Cost("o.s == 'hello'") == 3);
  CHECK(Cost("[1, i]") == 11);
  CHECK(Cost("[1, 2]") == 0);
  CHECK(Cost("{'a': i}") == 31);
  CHECK(Cost("o.l.filter(x, x > 1)") == 2 + 3 * 2 + 2 * 13 + 1);
  CHECK(Cost("o.l.filter(x, false)") == 3);
  CHECK(Cost("o.?x.y") == 1);
  CHECK(Cost("o.?a.b") == 3);
  CHECK(Cost("[1, 2, 3][0]") == 2);
  CHECK(Cost("o.s.contains('x')") == 3);
  CHECK(Cost("dyn(i)") == 2);
}

TEST_CASE_METHOD(Evaluation, "cel: an evaluation stops at its cost limit", "[cel]") {
  budget.per_call = 1000;
  const Outcome outcome = Run("o.l.all(a, o.l.all(b, o.l.all(c, o.l.all(d, o.l.all(e, true)))))");

  CHECK(outcome.end == End::kCostLimit);
  CHECK(outcome.error == "operation cancelled: actual cost limit exceeded");
  CHECK(outcome.cost < 1100);
  CHECK(budget.remaining == 10'000'000 - static_cast<std::int64_t>(outcome.cost));
}

TEST_CASE_METHOD(Evaluation, "cel: a list that doubles ends as the cost limit does", "[cel]") {
  const Outcome outcome = Run(Repeated("[[1, 2, 3, 4, 5, 6, 7, 8]]", ".map(a, a + a)", 20));

  CHECK(outcome.end == End::kCostLimit);
  CHECK(outcome.cost > budget.per_call);
}

// Each level holds the one below twice, so that a comparison would visit 2^40 parts.
TEST_CASE_METHOD(Evaluation, "cel: comparing nested values ends as the cost limit does", "[cel]") {
  budget.per_call = 10'000;
  const std::string nested = Repeated("[[1, 1]]", ".map(a, [a, a])", 40);

  CHECK(Run(nested + ".map(a, a == a)").end == End::kCostLimit);
  CHECK(Run(nested + ".map(a, a != a)").end == End::kCostLimit);
  CHECK(Run(nested + ".map(a, [a] in [a, [a]])").end == End::kCostLimit);
  CHECK(Run(nested + ".map(a, [a].indexOf(a))").end == End::kCostLimit);
  CHECK(Run(nested + ".size()").end == End::kValue);
}

TEST_CASE_METHOD(Evaluation, "cel: an evaluation ends with its Context", "[cel]") {
  context = Context::Child(Context::Background());
  context.Cancel(apiserver::Status(apiserver::Reason::kTimeout, "over"));

  CHECK(Run("o.l.all(a, o.l.all(b, o.l.all(c, o.l.all(d, o.l.all(e, true)))))").end ==
        End::kInterrupted);
  CHECK(Run("o.l.all(a, true)").end == End::kValue);
}

TEST_CASE_METHOD(Evaluation, "cel: the order of && and || does not matter unless both fail",
                 "[cel]") {
  const std::vector<std::string> operands = {"true", "false", "o.x", "i", "o.t", "o.a.b == 2"};
  for (const std::string& a : operands) {
    for (const std::string& b : operands) {
      for (const std::string op : {" && ", " || "}) {
        const std::string first = Show(a + op + b);
        const std::string second = Show(b + op + a);
        CAPTURE(a, op, b);
        const bool both_fail = first.starts_with("error") && second.starts_with("error");
        CHECK((both_fail || first == second));
      }
    }
  }
}

namespace {

// A variable of a policy: another expression, evaluated when the first one reads it.
class OtherExpression final : public cel::LazyInput {
 public:
  OtherExpression(Evaluation& evaluation, std::string_view text)
      : evaluation_(evaluation), program_(PlanDyn(text, {"o", "i"}).value()) {}

  Value Get(Scratch& scratch, const Context& context) override {
    ++asked;
    const std::vector<Input> inputs = {
        {Value::FromData(evaluation_.object, nullptr, scratch.arena())}, {Value::Int(5)}};
    return cel::Evaluate(program_, inputs, evaluation_.budget, scratch, context).value;
  }

  int asked = 0;

 private:
  Evaluation& evaluation_;
  Program program_;
};

}  // namespace

TEST_CASE_METHOD(Evaluation, "cel: a lazy input is evaluated when it is read", "[cel]") {
  OtherExpression other(*this, "o.l.map(x, x * i)");
  OtherExpression failing(*this, "o.x");
  const auto show = [&](std::string_view text) {
    programs.push_back(PlanDyn(text, {"v", "w"}).value());
    const std::vector<Input> inputs = {{.lazy = &other}, {.lazy = &failing}};
    const Outcome outcome = cel::Evaluate(programs.back(), inputs, budget, scratch, context);
    return outcome.ok() ? cel::PrintValue(outcome.value, scratch.arena())
                        : "error: " + std::string(outcome.error);
  };

  CHECK(show("true ? 1 : v") == "1");
  CHECK(other.asked == 0);
  CHECK(show("v.map(x, x + v[0])") == "[10, 15, 20]");
  CHECK(other.asked == 4);
  CHECK(show("w") == "error: no such key: x");
  CHECK(show("w || true") == "true");
  CHECK(budget.remaining < 10'000'000);
}
