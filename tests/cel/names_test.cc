#include "apiserver/cel/names.h"

#include <catch2/catch.hpp>

using apiserver::cel::Escape;
using apiserver::cel::IsIdentifier;
using apiserver::cel::Unescape;

TEST_CASE("cel: property names are escaped and back", "[cel]") {
  struct Row {
    const char* property;
    const char* escaped;
  };
  for (const Row row :
       {Row{"a", "a"}, Row{"a.b", "a__dot__b"}, Row{"a-b/c", "a__dash__b__slash__c"},
        Row{"a__b", "a__underscores__b"}, Row{"___a", "__underscores___a"},
        Row{"namespace", "__namespace__"}, Row{"true", "__true__"}, Row{"namespaces", "namespaces"},
        Row{"if.x", "if__dot__x"}}) {
    CAPTURE(row.property);
    CHECK(Escape(row.property) == row.escaped);
    CHECK(Unescape(row.escaped) == row.property);
  }
}

TEST_CASE("cel: names that expressions cannot spell have no escape", "[cel]") {
  CHECK_FALSE(Escape("").has_value());
  CHECK_FALSE(Escape("0x").has_value());
  CHECK_FALSE(Escape("a b").has_value());
  CHECK_FALSE(Escape("é").has_value());
  CHECK_FALSE(Unescape("a__unknown__b").has_value());
  CHECK_FALSE(Unescape("a__if__").has_value());
  CHECK(Unescape("namespace") == "namespace");
  CHECK(Unescape("a___b") == "a___b");
}

TEST_CASE("cel: identifiers are words that are not reserved", "[cel]") {
  CHECK(IsIdentifier("_a1"));
  CHECK_FALSE(IsIdentifier("1a"));
  CHECK_FALSE(IsIdentifier("while"));
  CHECK_FALSE(IsIdentifier("a.b"));
  CHECK_FALSE(IsIdentifier(""));
}
