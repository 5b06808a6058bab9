#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/to_text.h"
#include "cel/small_world.h"

// Answers of cel-go that the comparison with its program (differential.cc) found.
namespace {

namespace cel = apiserver::cel;

class Quirks {
 public:
  struct Answer {
    std::string error;
    std::string value;
    std::uint64_t cost = 0;
  };

  cel::Program Compiled(std::string_view expression) const {
    const auto program = cel::Compile(world_.In({1, 36}, cel::Mode::kStored), expression);
    INFO(std::string(program.status().message()));
    REQUIRE(program.ok());
    return *program;
  }
  Answer Evaluated(std::string_view expression) const {
    cel::Scratch scratch;
    cel::Budget budget;
    const cel::Outcome outcome = cel::Evaluate(Compiled(expression), world_.inputs(), budget,
                                               scratch, apiserver::Context::Background());
    return {std::string(outcome.error), cel::ToText(outcome.value, scratch.arena()), outcome.cost};
  }
  std::string ErrorOf(std::string_view expression) const { return Evaluated(expression).error; }
  std::string ValueOf(std::string_view expression) const { return Evaluated(expression).value; }

 private:
  cel_test::SmallWorld world_;
};

}  // namespace

TEST_CASE_METHOD(Quirks, "cel: a constant pattern is not matched with an error, at no cost",
                 "[cel]") {
  CHECK(Evaluated("ls[9].matches('a')").cost == 2);
  CHECK(Evaluated("ls[9].matches(s)").cost == 6);
  CHECK(Evaluated("ls[9].find('a')").cost == 2);
  CHECK(ErrorOf("o.spec.replicas.find('a')") == "no such overload");
  CHECK(ErrorOf("o.spec.replicas.find(s)") == "no such overload: find(int, string)");
  CHECK(ErrorOf("o.spec.replicas.matches(s)") == "no such overload: matches");
}

TEST_CASE_METHOD(Quirks, "cel: types with methods refuse an operator without its name", "[cel]") {
  CHECK(ErrorOf("o.kind - 1") == "no such overload");
  CHECK(ErrorOf("-o.kind") == "no such overload");
  CHECK(ErrorOf("dyn(r) * 2") == "no such overload");
  CHECK(ErrorOf("dyn('a').sort()") == "no such overload");
  CHECK(ErrorOf("dyn(r).size()") == "no such overload");
  CHECK(ErrorOf("dyn(1).sort()") == "no such overload: sort");
  CHECK(ErrorOf("dyn(b) * 2") == "no such overload: _*_");
}

TEST_CASE_METHOD(Quirks, "cel: an index is named by the Go type of its data", "[cel]") {
  CHECK(ErrorOf("[1][o.l]") == "invalid qualifier type: []interface {}");
  CHECK(ErrorOf("[1][o.spec]") == "invalid qualifier type: map[string]interface {}");
  CHECK(ErrorOf("[1][o.spec.nothing]") == "invalid qualifier type: <nil>");
  CHECK(ErrorOf("[1][dyn(self.list)]") == "invalid qualifier type: *common.unstructuredList");
  CHECK(ErrorOf("[1][dyn(self.set)]") == "invalid qualifier type: *common.unstructuredSetList");
  CHECK(ErrorOf("[1][dyn(self.labels)]") == "invalid qualifier type: *common.unstructuredMap");
  CHECK(ErrorOf("[1][dyn([i])]") == "invalid qualifier type: *types.baseList");
  // A value that an expression has made is no data any more.
  CHECK(ErrorOf("[1][[o.l][0]]") == "invalid qualifier type: *types.baseList");
  CHECK(ErrorOf("[1][[o.spec][0]]") == "invalid qualifier type: *types.baseMap");
  CHECK(ErrorOf("[1][[o.spec.nothing][0]]") == "invalid qualifier type: types.Null");
  CHECK(ErrorOf("[1][b ? o.l : o.m]") == "invalid qualifier type: []interface {}");
  CHECK(ErrorOf("[o].map(e, [1][e.l])") == "invalid qualifier type: *types.baseList");
  CHECK(ErrorOf("[1][o.spec.template.spec.containers[0].ports]") ==
        "invalid qualifier type: []interface {}");
  CHECK(ErrorOf("[1][o.spec.template.spec.containers[0u].ports]") ==
        "invalid qualifier type: *types.baseList");
}

TEST_CASE_METHOD(Quirks, "cel: a variable and a branch hand on the Go value of an optional",
                 "[cel]") {
  CHECK(ValueOf("[optional.of(optional.none())].map(e, e)") == "[optional.of(null)]");
  CHECK(ValueOf("[optional.of(optional.of(optional.of(1)))].map(e, e)") == "[optional.of(1)]");
  CHECK(ValueOf("[dyn(optional.of(optional.none()))].map(e, e)") == "[optional.of(null)]");
  CHECK(ValueOf("(b ? optional.of(int) : optional.none()).value() == dyn('int')") == "true");
  CHECK(ErrorOf("(b ? optional.of(optional.none()) : optional.none()).value().value()") ==
        "no such overload: value(null_type)");
  CHECK(ErrorOf("self.?n.optMap(e, optional.of(self.at)).value().value()") ==
        "no such overload: value(google.protobuf.Timestamp)");
  // A call hands on what it has.
  CHECK(ValueOf("optional.of(optional.none())") == "optional.of(optional.none())");
}

TEST_CASE_METHOD(Quirks, "cel: types of Kubernetes do not come back out of an optional", "[cel]") {
  const auto taken_out = [this](const std::string& value) {
    return ErrorOf("(b ? optional.of(" + value + ") : optional.none()).value()");
  };
  const std::string unsupported = "unsupported conversion to ref.Val: ";
  CHECK(taken_out("ip('2001:db8::68')") == unsupported + "(netip.Addr)2001:db8::68");
  CHECK(taken_out("cidr('10.0.0.0/8')") == unsupported + "(netip.Prefix)10.0.0.0/8");
  CHECK(taken_out("url('https://a/b c')") == unsupported + "(*url.URL)https://a/b%20c");
  CHECK(taken_out("semver('1.0.0-alpha.1+build')") ==
        unsupported + "(semver.Version)1.0.0-alpha.1+build");
  CHECK(taken_out("quantity('50k')") == unsupported + "(*resource.Quantity)50k");
  CHECK(taken_out("format.named('uuid').value()") == "");
  CHECK(ValueOf("optional.of(ip('::1')).value().family()") == "6");
}

TEST_CASE_METHOD(Quirks, "cel: an error in an optional is wrapped whenever it is handed on",
                 "[cel]") {
  const std::string once = "unsupported conversion to ref.Val: (netip.Prefix)10.0.0.0/8";
  const std::string wrap = "unsupported conversion to ref.Val: (*errors.errorString)";
  CHECK(ErrorOf("optional.of(1).optMap(v, cidr('10.0.0.0/8')).value()") == once);
  CHECK(ErrorOf(
            "optional.of(b).optFlatMap(e, optional.of(2).optMap(v, cidr('10.0.0.0/8'))).value()") ==
        wrap + once);
  CHECK(ErrorOf("[[optional.of(cidr('10.0.0.0/8'))].map(e, e)[0]].map(f, f)[0].value()") ==
        wrap + once);
}

TEST_CASE_METHOD(Quirks, "cel: a list is one key with itself, and another with its equals",
                 "[cel]") {
  CHECK(ErrorOf("[1, 2].transformMapEntry(e, v, {['a']: v})") ==
        "insert failed: key [a] already exists");
  CHECK(ErrorOf("[1, 2].transformMapEntry(e, v, {{'a': 1}: v})") ==
        "insert failed: key {a: 1} already exists");
  CHECK(ValueOf("[1, 1].transformMapEntry(e, v, {[v]: v}).size()") == "2");
  CHECK(ValueOf("{['a']: 1, ['a']: 2}.size()") == "2");
}

TEST_CASE_METHOD(Quirks, "cel: data that comes out of an optional has lost its schema", "[cel]") {
  CHECK(ValueOf("[optional.of(self)].map(e, e.value().at)[0] == dyn('2024-02-29T12:30:45Z')") ==
        "true");
  CHECK(ValueOf("[optional.of(self.set)].map(e, e.value() == ['y', 'x'])") == "[false]");
  CHECK(ValueOf("optional.of(self.set).value() == ['y', 'x']") == "true");
}

TEST_CASE_METHOD(Quirks, "cel: views of data in optionals are never zero, and may be errors",
                 "[cel]") {
  const std::string wrong = "invalid data, expected int, got string";
  CHECK(ValueOf("optional.ofNonZeroValue(self.none)") == "optional.of([])");
  CHECK(ValueOf("optional.ofNonZeroValue([])") == "optional.none()");
  CHECK(ValueOf("self.wrong.last()") == "optional.of(<error: " + wrong + ">)");
  CHECK(ValueOf("self.wrong[?0].hasValue()") == "true");
  CHECK(Evaluated("self.wrong[?0]").cost == 3);
  CHECK(ErrorOf("self.wrong[?0].value()") == wrong);
  CHECK(ErrorOf("self.wrong[0]") == wrong);
  CHECK(ErrorOf("'%s'.format([self.wrong[0]])") == wrong);
  CHECK(ErrorOf("'%s'.format([self.wrong])") ==
        "error during formatting: no formatting function for error");
}

TEST_CASE_METHOD(Quirks, "cel: has() gives back 1 behind a conditional, too", "[cel]") {
  CHECK(Evaluated("has(o.a)").cost == 1);
  CHECK(Evaluated("has((b ? o : o).a)").cost == 1);
  CHECK(Evaluated("has((b ? o : o).missing)").cost == 1);
  CHECK(Evaluated("has((b ? dyn(1) : o.l).a)").cost == 1);
  CHECK(Evaluated("has((b ? o.a : o).b.l)").cost == 3);
  CHECK(Evaluated("has((b ? o.missing : o).a)").cost == 1);
}

TEST_CASE_METHOD(Quirks, "cel: words for values of other types are Go's", "[cel]") {
  CHECK(ErrorOf("dyn(1).matches('')") == "no such overload");
  CHECK(ErrorOf("dyn(1).matches(s)") == "no such overload: matches");
  CHECK(ErrorOf("dyn(ip('::1')).all(e, true)") == "got 'cel.IP', expected iterable type");
  CHECK(ErrorOf("dyn(quantity('1')).all(e, true)") == "got 'cel.Quantity', expected iterable type");
  CHECK(ErrorOf("[1, 2].transformMapEntry(e, v, {o.spec.nothing: v})") ==
        "insert failed: key 0 already exists");
}

TEST_CASE_METHOD(Quirks, "cel: the estimated size of an unbounded quoted text overflows", "[cel]") {
  const cel::CostRange quoted = Compiled("strings.quote(ms.k)").estimate();
  const cel::CostRange as_bytes = Compiled("bytes(strings.quote(ms.k))").estimate();

  CHECK(quoted.max == 1844674407370955266);
  CHECK(as_bytes.max == quoted.max);
  CHECK(as_bytes.min == quoted.min + 1);
  // Products are rounded as float64 is.
  CHECK(Compiled("sets.equivalent(self.set, self.none.sort())").estimate().max ==
        2305838721120233081);
  CHECK(Compiled("sets.contains(self.set, self.none.sort())").estimate().max ==
        1152920515045123705);
  const auto twice = [this](const std::string& key) {
    return ErrorOf("[1, 2].transformMapEntry(e, v, {" + key + ": v})");
  };
  CHECK(twice("r") == "insert failed: key 1m30s already exists");
  CHECK(twice("t") == "insert failed: key 2024-02-29 12:30:45.123 +0000 UTC already exists");
  CHECK(twice("timestamp('2023-06-01T23:59:59+05:30')") ==
        "insert failed: key 2023-06-01 23:59:59 +0530 +0530 already exists");
  CHECK(twice("ip('10.1.2.3')") == "insert failed: key 10.1.2.3 already exists");
  CHECK(twice("cidr('10.0.0.0/8')") == "insert failed: key 10.0.0.0/8 already exists");
  CHECK(ValueOf("[1, 2].transformMapEntry(e, v, {quantity('1'): v}).size()") == "2");
  CHECK(Evaluated("o.kind.reverse()").cost == 14);
}
