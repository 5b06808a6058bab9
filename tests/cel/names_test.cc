#include "apiserver/cel/names.h"

#include <catch2/catch.hpp>
#include <string_view>

using apiserver::cel::Escape;
using apiserver::cel::IsIdentifier;
using apiserver::cel::Unescape;

namespace {

struct EscapedName {
  std::string_view name;
  std::string_view escaped;
};

// The cases of TestEscaping in pkg/cel/escaping_test.go, whose escaped forms differ.
constexpr EscapedName kEscapedNames[] = {
    {"a.a", "a__dot__a"},
    {"a-a", "a__dash__a"},
    {"a/a", "a__slash__a"},
    {"a__a", "a__underscores__a"},
    {"a.-/__a", "a__dot____dash____slash____underscores__a"},
    {"a._a", "a__dot___a"},
    {"a__.__a", "a__underscores____dot____underscores__a"},
    {"a___a", "a__underscores___a"},
    {"a____a", "a__underscores____underscores__a"},
    {"a__dot__a", "a__underscores__dot__underscores__a"},
    {"a__underscores__a", "a__underscores__underscores__underscores__a"},
    {"true", "__true__"},
    {"false", "__false__"},
    {"null", "__null__"},
    {"in", "__in__"},
    {"as", "__as__"},
    {"break", "__break__"},
    {"const", "__const__"},
    {"continue", "__continue__"},
    {"else", "__else__"},
    {"for", "__for__"},
    {"function", "__function__"},
    {"if", "__if__"},
    {"import", "__import__"},
    {"let", "__let__"},
    {"loop", "__loop__"},
    {"package", "__package__"},
    {"namespace", "__namespace__"},
    {"return", "__return__"},
    {"var", "__var__"},
    {"void", "__void__"},
    {"while", "__while__"},
};

// The cases of TestEscaping that stay what they are: names of macros and functions, underscores.
constexpr std::string_view kPlainNames[] = {
    "has",        "all",           "exists",       "exists_one",  "filter",   "size",
    "contains",   "startsWith",    "endsWith",     "matches",     "duration", "timestamp",
    "getDate",    "getDayOfMonth", "getDayOfWeek", "getFullYear", "getHours", "getMilliseconds",
    "getMinutes", "getMonth",      "getSeconds",   "_if",         "_has",     "_int",
    "_anything",  "a_a",           "a_a_a",        "a1"};

}  // namespace

TEST_CASE("cel: names of properties are escaped as Kubernetes does it", "[cel]") {
  for (const auto& [name, escaped] : kEscapedNames) {
    CAPTURE(name);
    CHECK(Escape(name) == escaped);
    CHECK(Unescape(escaped) == name);
    CHECK(IsIdentifier(escaped));
  }
  for (const std::string_view name : kPlainNames) {
    CAPTURE(name);
    CHECK(Escape(name) == name);
    CHECK(Unescape(name) == name);
    CHECK(IsIdentifier(name));
  }
}

TEST_CASE("cel: names with other characters cannot be selected", "[cel]") {
  for (const std::string_view name :
       {"", "@", "1up", "0x", "\U0001F451", "/\U0001F451", "a b", "a$", "\xff"}) {
    CAPTURE(name);
    CHECK_FALSE(Escape(name));
  }
}

TEST_CASE("cel: words between double underscores that Escape does not make are refused", "[cel]") {
  // A reserved word is only escaped where it is the whole name.
  for (const std::string_view identifier : {"__int__extra", "__illegal__", "__in__a", "a__in__"}) {
    CAPTURE(identifier);
    CHECK_FALSE(Unescape(identifier));
  }
  CHECK(Unescape("___dot__") == "_.");
  CHECK(Unescape("a__dot_") == "a__dot_");
  CHECK(Unescape("____") == "____");
}

TEST_CASE("cel: reserved words and other characters make no identifier", "[cel]") {
  for (const std::string_view name : {"", "1a", "a.b", "a-b", "in", "namespace", "\u00e9"}) {
    CAPTURE(name);
    CHECK_FALSE(IsIdentifier(name));
  }
  CHECK(IsIdentifier("_"));
  CHECK(IsIdentifier("a1_B"));
}
