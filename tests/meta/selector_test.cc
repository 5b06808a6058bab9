#include "apiserver/meta/selector.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace apiserver::inline v0::meta {
namespace {

using Labels = std::vector<runtime::Member>;

runtime::Member Label(const char* key, const char* value) {
  return {key, runtime::Value::String(value)};
}

std::string ErrorOf(const std::string& selector) {
  return std::string(LabelSelector::Parse(selector).status().message());
}

std::string FieldErrorOf(const std::string& selector) {
  return std::string(FieldSelector::Parse(selector).status().message());
}

}  // namespace

// TestSelectorParse, TestSetSelectorParser, TestToString
TEST_CASE("meta: a label selector is printed in canonical form", "[meta]") {
  const auto [text, printed] = GENERATE(table<std::string, std::string>({
      {"x=a,y=b,z=c", "x=a,y=b,z=c"},
      {"", ""},
      {" ", ""},
      {"x!=a,y=b", "x!=a,y=b"},
      {"x=", "x="},
      {"x= ", "x="},
      {"x=,z= ", "x=,z="},
      {"x= ,z= ", "x=,z="},
      {"!x", "!x"},
      {"x>1", "x>1"},
      {"x>1,z<5", "x>1,z<5"},
      {"x==a", "x=a"},
      {"a=x,x=a", "a=x,x=a"},
      {"x=a,a=x", "a=x,x=a"},
      {"\rx", "x"},
      {"a ", "a"},
      {"this-is-a-dns.domain.com/key-with-dash", "this-is-a-dns.domain.com/key-with-dash"},
      {"this-is-another-dns.domain.com/key-with-dash in (so,what)",
       "this-is-another-dns.domain.com/key-with-dash in (so,what)"},
      {"0.1.2.domain/99 notin (tick.tack.clock, 10.10.100.1)",
       "0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)"},
      {"foo  in\t (abc)", "foo in (abc)"},
      {"x notin\n (abc)", "x notin (abc)"},
      {"x  notin\t\t(abc,def)", "x notin (abc,def)"},
      {"x in (abc,def)", "x in (abc,def)"},
      {"x in (abc,)", "x in (,abc)"},
      {"x in (abc,abc)", "x in (abc)"},
      {"x in ()", "x in ()"},
      {"x in (a,,)", "x in (,a)"},
      {"x in (a,,,)", "x in (,a)"},
      {"x in (a,,,,,,)", "x in (,a)"},
      {"x in (a,,a,,a,,a,,)", "x in (,a)"},
      {"x notin (abc,,def),bar,z in (),w", "bar,w,x notin (,abc,def),z in ()"},
      {"x,y in (a)", "x,y in (a)"},
      {"x=a,y!=b,z in (h,i,j)", "x=a,y!=b,z in (h,i,j)"},
      {"x notin ( )", "x notin ()"},
      {"x notin (, a)", "x notin (,a)"},
      {"a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)"},
      {"notin=in", "notin=in"},
      {"in,notin", "in,notin"},
  }));
  CAPTURE(text);

  const Result<LabelSelector> selector = LabelSelector::Parse(text);

  REQUIRE(selector.status() == Status::Ok());
  CHECK(selector->ToString() == printed);
}

TEST_CASE("meta: a label selector that does not parse is refused in Go's words", "[meta]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"x=a,", "found '', expected: identifier after ','"},
      {"x,,y", "found ',', expected: identifier after ','"},
      {",x,y", "found ',', expected: !, identifier, or 'end of string'"},
      {"(", "found '(', expected: !, identifier, or 'end of string'"},
      {"!x=a", "found '=', expected: ',' or 'end of string'"},
      {"x==a==b", "found '==', expected: ',' or 'end of string'"},
      {"a in (xyz)b notin ()", "found 'b', expected: ',' or 'end of string'"},
      {"a in (xyz),", "found '', expected: identifier after ','"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"!!a", "unable to parse requirement: found '!', expected: identifier"},
      {"x nott in (y)",
       "unable to parse requirement: found 'nott', expected: in, notin, =, ==, !=, gt, lt"},
      {"a (", "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"},
      {"a in", "unable to parse requirement: found '' expected: '('"},
      {"a notin(", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
      {"a in (xyz abc)", "unable to parse requirement: found 'abc', expected: ',' or ')'"},
      {"a in (x", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a in (,", "unable to parse requirement: found '', expected: ',', or identifier"},
      {"a in (,=)", "unable to parse requirement: found '=', expected: ',', or identifier"},
      {"a=(", "unable to parse requirement: found '(', expected: identifier"},
      {"x<a",
       "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, "
       "the value must be an integer"},
      {"a/b/c",
       "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
       "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain "
       "prefix and '/' (e.g. 'example.com/MyName')"},
      {"x=a||y=b",
       "unable to parse requirement: values[0][x]: Invalid value: \"a||y\": a valid label must be "
       "an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
       "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
       "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
  }));

  CHECK(ErrorOf(text) == message);
}

TEST_CASE("meta: a bad label selector is a bad request", "[meta]") {
  CHECK(LabelSelector::Parse("a=b=c").status().reason() == Reason::kBadRequest);
}

TEST_CASE("meta: several findings in one requirement are an aggregate", "[meta]") {
  const std::string message = ErrorOf("x>a b");

  CHECK(message ==
        "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' "
        "operators, the value must be an integer");
  CHECK(
      ErrorOf("x>-").starts_with("unable to parse requirement: [values[0]: Invalid value: "
                                 "\"-\": for 'Gt', 'Lt' operators, the value must be an "
                                 "integer, values[0][x]: Invalid value: \"-\": a valid label"));
}

TEST_CASE("meta: a NUL byte ends a label selector as it does in Go", "[meta]") {
  CHECK(LabelSelector::Parse(std::string_view("a=b\0", 4))->ToString() == "a=b");
  CHECK(LabelSelector::Parse(std::string_view("\0a=b", 4))->ToString().empty());
  CHECK(LabelSelector::Parse(std::string_view("a\0=\0b", 5))->ToString() == "a=b");
}

// TestSelectorMatches, TestLabelSelectorMatching
TEST_CASE("meta: a label selector matches what Go's matches", "[meta]") {
  const Labels x_y = {Label("x", "y")};
  const Labels two = {Label("foo", "bar"), Label("baz", "blah")};
  const Labels number = {Label("x", "2")};
  const Labels empty_y = {Label("y", "")};
  struct Row {
    const char* selector;
    const Labels* labels;
    bool match;
  };
  const Labels none;
  const Labels notin_in = {Label("notin", "in")};
  const Labels word = {Label("x", "v2")};
  const Row rows[] = {
      {"", &x_y, true},
      {"x=y", &x_y, true},
      {"x=y", &none, false},
      {"x=z", &x_y, false},
      {"x!=y", &x_y, false},
      {"x!=z", &x_y, true},
      {"a!=z", &x_y, true},
      {"notin=in", &notin_in, true},
      {"x", &x_y, true},
      {"a", &x_y, false},
      {"!x", &x_y, false},
      {"!a", &x_y, true},
      {"x>1", &number, true},
      {"x>2", &number, false},
      {"x<3", &number, true},
      {"x<2", &number, false},
      {"x<3", &none, false},
      {"x>1", &word, false},
      {"x in (y,z)", &x_y, true},
      {"x in (a,b)", &x_y, false},
      {"x notin (a)", &x_y, true},
      {"x notin (a,y)", &x_y, false},
      {"a notin (a)", &x_y, true},
      {"x notin (),y", &empty_y, true},
      {"x notin (),!y", &empty_y, false},
      {"x in ()", &empty_y, false},
      {"y in ()", &empty_y, true},
      {"y=", &empty_y, true},
      {"foo=bar", &two, true},
      {"baz=blah", &two, true},
      {"foo=bar,baz=blah", &two, true},
      {"foo=blah", &two, false},
      {"foo=bar,foobar=bar,baz=blah", &two, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.selector);
    const LabelSelector selector = LabelSelector::Parse(row.selector).value();
    CHECK(selector.Matches(runtime::Value::Map(*row.labels)) == row.match);
  }
}

TEST_CASE("meta: an object without labels is matched as one with none", "[meta]") {
  CHECK(LabelSelector::Parse("!x")->Matches(runtime::Value()));
  CHECK_FALSE(LabelSelector::Parse("x")->Matches(runtime::Value()));
  CHECK(LabelSelector().Matches(runtime::Value()));
}

// TestRequiresExactMatch
TEST_CASE("meta: a label selector tells the one value it demands", "[meta]") {
  CHECK(LabelSelector::Parse("key in (value)")->RequiresExact("key") == "value");
  CHECK(LabelSelector::Parse("key=value")->RequiresExact("key") == "value");
  CHECK(LabelSelector::Parse("key in (a,b)")->RequiresExact("key") == std::nullopt);
  CHECK(LabelSelector::Parse("key!=value")->RequiresExact("key") == std::nullopt);
  CHECK(LabelSelector::Parse("key")->RequiresExact("key") == std::nullopt);
  CHECK(LabelSelector::Parse("key in (a,b),key2 in (c)")->RequiresExact("key2") == "c");
}

// fields: TestSelectorParse, TestEscapeValue, TestSplitTerms
TEST_CASE("meta: a field selector is printed in canonical form", "[meta]") {
  const auto [text, printed] = GENERATE(table<std::string, std::string>({
      {"x=a,y=b,z=c", "x=a,y=b,z=c"},
      {"", ""},
      {"x!=a,y=b", "x!=a,y=b"},
      {R"(x=a||y\=b)", R"(x=a||y\=b)"},
      {R"(x=a\=\=b)", R"(x=a\=\=b)"},
      {"x==a", "x=a"},
      {"a=a,", "a=a"},
      {",a=a", "a=a"},
      {"x=a,a=x", "a=x,x=a"},
      {R"(k=\,,k2=v2)", R"(k2=v2,k=\,)"},
      {R"(k=\\,k2=v2)", R"(k2=v2,k=\\)"},
      {R"(k=\\\,,k2=v2)", R"(k2=v2,k=\\\,)"},
      {"함=수,목=록", "목=록,함=수"},
      {"=", ""},
      {"=a", "=a"},
      {"x=", "x="},
  }));
  CAPTURE(text);

  const Result<FieldSelector> selector = FieldSelector::Parse(text);

  REQUIRE(selector.status() == Status::Ok());
  CHECK(selector->ToString() == printed);
}

TEST_CASE("meta: a field selector that does not parse is refused in Go's words", "[meta]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"x", "invalid selector: 'x'; can't understand 'x'"},
      {"x=a,b", "invalid selector: 'x=a,b'; can't understand 'b'"},
      {"x in (a)", "invalid selector: 'x in (a)'; can't understand 'x in (a)'"},
      {"x in (a,b,c)", "invalid selector: 'x in (a,b,c)'; can't understand 'b'"},
      {"x=a||y=b", "invalid field selector: unescaped character in value: 61"},
      {"x==a==b", "invalid field selector: unescaped character in value: 61"},
      {R"(x=\)", R"(invalid field selector: invalid escape sequence: \)"},
      {R"(x=\\\)", R"(invalid field selector: invalid escape sequence: \)"},
      {R"(x=\a)", R"(invalid field selector: invalid escape sequence: \a)"},
      {R"(x=\수)", R"(invalid field selector: invalid escape sequence: \수)"},
  }));

  CHECK(FieldErrorOf(text) == message);
}

// fields: TestSelectorMatches
TEST_CASE("meta: a field selector matches what Go's matches", "[meta]") {
  using Fields = std::map<std::string, std::string, std::less<>>;
  const Fields set = {{"foo", "bar"}, {"baz", "blah"}, {"complex", R"(=value\,\)"}};
  const auto matches = [](const std::string& text, const Fields& fields) {
    return FieldSelector::Parse(text)->Matches([&](std::string_view field) -> std::string_view {
      const auto found = fields.find(field);
      return found == fields.end() ? std::string_view() : std::string_view(found->second);
    });
  };

  CHECK(matches("", {{"x", "y"}}));
  CHECK(matches("x=y", {{"x", "y"}}));
  CHECK(matches("x=y,z=w", {{"x", "y"}, {"z", "w"}}));
  CHECK(matches("x!=y,z!=w", {{"x", "z"}, {"z", "a"}}));
  CHECK(matches("notin=in", {{"notin", "in"}}));
  CHECK_FALSE(matches("x=y", {{"x", "z"}}));
  CHECK_FALSE(matches("x=y,z=w", {{"x", "w"}, {"z", "w"}}));
  CHECK_FALSE(matches("x!=y,z!=w", {{"x", "z"}, {"z", "w"}}));
  CHECK(matches("foo=bar", set));
  CHECK(matches(R"(foo=bar,baz=blah,complex=\=value\\\,\\)", set));
  CHECK_FALSE(matches("foo=blah", set));
  CHECK_FALSE(matches("foo=bar,foobar=bar,baz=blah", set));
  CHECK(matches("gone=", set));
}

TEST_CASE("meta: a field selector tells the one value it demands", "[meta]") {
  CHECK(FieldSelector::Parse("a=b,test=c")->RequiresExact("test") == "c");
  CHECK(FieldSelector::Parse("test=")->RequiresExact("test") == "");
  CHECK(FieldSelector::Parse("test!=b")->RequiresExact("test") == std::nullopt);
  CHECK(FieldSelector::Parse("")->RequiresExact("test") == std::nullopt);
  CHECK(FieldSelector::Equals("test", "b").RequiresExact("test") == "b");
}

// fields: TestTransform
TEST_CASE("meta: a transformed field selector has the new words and drops empty ones", "[meta]") {
  const FieldSelector selector = FieldSelector::Parse("a=b,c=d,e=f").value();

  const Result<FieldSelector> rewritten =
      selector.Transform([](std::string& field, std::string& value) {
        if (field == "a") {
          field = "x";
        } else if (field == "c") {
          field.clear();
          value.clear();
        }
        return Status::Ok();
      });

  CHECK(rewritten->ToString() == "x=b,e=f");
}

TEST_CASE("meta: a field selector's transformation stops at the first error", "[meta]") {
  const Status refusal(Reason::kBadRequest, "no");

  const Result<FieldSelector> rewritten = FieldSelector::Equals("a", "b").Transform(
      [&](std::string&, std::string&) { return refusal; });

  CHECK(rewritten.status() == refusal);
}

}  // namespace apiserver::inline v0::meta
