#include "generator/identifiers.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::generator {

TEST_CASE("generator: a name of JSON becomes a name of C++", "[generator]") {
  CHECK(MemberName("replicas") == "replicas");
  CHECK(MemberName("a-b") == "a_b");
  CHECK(MemberName("a--b__c") == "a_b_c");
  CHECK(MemberName("9lives") == "field9lives");
  CHECK(MemberName("-x") == "field_x");
  CHECK(MemberName("$ref") == "field_ref");
  CHECK(MemberName("") == "field");
  CHECK(MemberName("\xc3\xa4") == "field_");
  CHECK(MemberName("class") == "class_");
  CHECK(MemberName("errno") == "errno_");
  CHECK(MemberName("clas") == "clas");
  CHECK(Capitalized("spec") == "Spec");
  CHECK(Capitalized("a-b") == "A_b");
}

TEST_CASE("generator: a name that is taken gets a number", "[generator]") {
  std::set<std::string> taken = {"a"};
  CHECK(Unique("b", taken) == "b");
  CHECK(Unique("a", taken) == "a_2");
  CHECK(Unique("a", taken) == "a_3");
  CHECK(Unique("a_2", taken) == "a_2_2");
  CHECK(Unique("class_", taken) == "class_");
  CHECK(Unique("class_", taken) == "class_2");
}

TEST_CASE("generator: only names of namespaces are taken for one", "[generator]") {
  CHECK(IsNamespace("zoo"));
  CHECK(IsNamespace("com::example_1"));
  for (const char* name : {"", "::", "a::", "::a", "a:b", "class", "a::int", "std", "std::zoo", "1",
                           "a b", "a__b", "a {} namespace b"}) {
    CHECK_FALSE(IsNamespace(name));
  }
}

TEST_CASE("generator: a text in the source is nothing but that text", "[generator]") {
  CHECK(Literal("spec") == R"("spec")");
  CHECK(Literal("a\"b\\c") == R"("a\"b\\c")");
  CHECK(Literal(std::string_view("\n\0"
                                 "1?",
                                 4)) == R"("\012\0001\077")");
  CHECK(Comment("", "") == "");
  CHECK(Comment("one\ntwo \\", "  ") == "  // one two /\n");
  const std::string lines = Comment(std::string(60, 'a') + " " + std::string(60, 'b'), "");
  CHECK(lines == "// " + std::string(60, 'a') + "\n// " + std::string(60, 'b') + "\n");
}

}  // namespace apiserver::inline v0::generator
