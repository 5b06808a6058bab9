#include "apiserver/codec/negotiate.h"

#include <catch2/catch.hpp>

#include "apiserver/codec/codec.h"

namespace apiserver::inline v0::codec {
namespace {

std::string Order(std::string_view header) {
  std::string order;
  for (const AcceptClause& clause : ParseAccept(header)) {
    order += clause.type + "/" + clause.subtype + " ";
  }
  return order;
}

TEST_CASE("codec: Accept clauses are tried by quality, then by precision, then in order",
          "[codec]") {
  CHECK(Order("") == "");
  CHECK(Order("a/b, c/d") == "a/b c/d ");
  CHECK(Order("a/b;q=0.5,c/d") == "c/d a/b ");
  CHECK(Order("*/*,a/*,a/b") == "a/b a/* */* ");
  CHECK(Order("*") == "*/* ");
  CHECK(Order("a/b;q=x,c/d;q=0.1") == "c/d a/b ");
  CHECK(Order("a, /b, a/b/c, ,;q=1, A/B") == "a/b ");
}

TEST_CASE("codec: kubectl's Accept header asks for tables first", "[codec]") {
  const auto clauses = ParseAccept(
      "application/json;as=Table;v=v1;g=meta.k8s.io, application/json;as=Table;v=v1beta1;"
      "g=meta.k8s.io, application/json");
  REQUIRE(clauses.size() == 3);
  CHECK(clauses[0].Parameter("as") == "Table");
  CHECK(clauses[0].Parameter("v") == "v1");
  CHECK(clauses[1].Parameter("v") == "v1beta1");
  CHECK(clauses[2].Parameter("as") == "");
  CHECK(clauses[0].q == 1.0);
}

TEST_CASE("codec: a clause covers what its wildcards cover", "[codec]") {
  const auto covers = [](std::string_view clause, std::string_view type) {
    return ParseAccept(clause).at(0).Covers(type);
  };
  CHECK(covers("*/*", "application/json"));
  CHECK(covers("application/*", "application/json"));
  CHECK(covers("application/json", "application/json"));
  CHECK_FALSE(covers("text/*", "application/json"));
  CHECK_FALSE(covers("application/yaml", "application/json"));
}

TEST_CASE("codec: Content-Type names a media type whatever its parameters are", "[codec]") {
  CHECK(MediaTypeOfContentType("") == MediaType::kJson);
  CHECK(MediaTypeOfContentType("application/json; charset=utf-8") == MediaType::kJson);
  CHECK(MediaTypeOfContentType("Application/YAML") == MediaType::kYaml);
  CHECK(MediaTypeOfContentType("application/vnd.kubernetes.protobuf") == MediaType::kProtobuf);
  CHECK_FALSE(MediaTypeOfContentType("text/plain").has_value());
  CHECK_FALSE(MediaTypeOfContentType("application/jsonx").has_value());
}

// As mime.ParseMediaType of Go 1.26 takes them.
TEST_CASE("codec: Content-Type needs a media type and parameters that can be read", "[codec]") {
  for (const char* taken :
       {"application/json;", "application/json; ", "application/json ; a=b",
        "application/json; a = b", "application/json;a=\"x;\\\"y\";b=c", "application/json;a=b;A=b",
        "application/json;a=\"\"", "application/json;title*0*=us-ascii'en'x;title*1=y"}) {
    CAPTURE(taken);
    CHECK(MediaTypeOfContentType(taken) == MediaType::kJson);
  }
  for (const char* refused :
       {" ", ";", ";charset=utf-8", " ; charset=utf-8", "application/json;charset",
        "application/json;=utf-8", "application/json;charset=", "application/json;;charset=utf-8",
        "application/json;charset=\"utf-8", "application/json;a=b;a=c", "application/json;a=b c",
        "application/json, application/json"}) {
    CAPTURE(refused);
    CHECK_FALSE(MediaTypeOfContentType(refused).has_value());
  }
}

}  // namespace
}  // namespace apiserver::inline v0::codec
