#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/json.h"
#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

std::string FromHex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

// What the item reads as, as JSON, or why it is refused.
std::string Read(std::string_view hex, const CborLimits& limits = {}) {
  const std::string bytes = FromHex(hex);
  runtime::Arena arena;
  const Result<runtime::Value> value = ParseCbor(bytes, arena, limits);
  if (value.ok()) return testing::Json(*value);
  CHECK(value.status().reason() == Reason::kBadRequest);
  return std::string(value.status().message());
}

std::string Write(std::string_view json) { return ToHex(CborOfJson(json)); }

struct Example {
  std::string_view item;
  std::string_view json;   // What it reads as.
  std::string_view again;  // What that is written as; empty: `item`.
};

// modes TestAppendixA, the examples of RFC 8949 appendix A that are accepted.
constexpr Example kExamples[] = {
    {"00", "0", ""},
    {"01", "1", ""},
    {"0a", "10", ""},
    {"17", "23", ""},
    {"1818", "24", ""},
    {"1819", "25", ""},
    {"1864", "100", ""},
    {"1903e8", "1000", ""},
    {"1a000f4240", "1000000", ""},
    {"1b000000e8d4a51000", "1000000000000", ""},
    {"20", "-1", ""},
    {"29", "-10", ""},
    {"3863", "-100", ""},
    {"3903e7", "-1000", ""},
    {"f90000", "0", ""},
    {"f98000", "-0", ""},
    {"f93c00", "1", ""},
    {"fb3ff199999999999a", "1.1", ""},
    {"f93e00", "1.5", ""},
    {"f97bff", "65504", ""},
    {"fa47c35000", "100000", ""},
    {"fa7f7fffff", "3.4028234663852886e+38", ""},
    {"fb7e37e43c8800759c", "1e+300", ""},
    {"f90001", "5.960464477539063e-8", ""},
    {"f90400", "0.00006103515625", ""},
    {"f9c400", "-4", ""},
    {"fbc010666666666666", "-4.1", ""},
    {"f4", "false", ""},
    {"f5", "true", ""},
    {"f6", "null", ""},
    {"c074323031332d30332d32315432303a30343a30305a", R"("2013-03-21T20:04:00Z")",
     "54323031332d30332d32315432303a30343a30305a"},
    {"c11a514b67b0", R"("2013-03-21T20:04:00Z")", "54323031332d30332d32315432303a30343a30305a"},
    {"c1fb41d452d9ec200000", R"("2013-03-21T20:04:00.5Z")",
     "56323031332d30332d32315432303a30343a30302e355a"},
    {"c120", R"("1969-12-31T23:59:59Z")", "54313936392d31322d33315432333a35393a35395a"},
    {"c1f9be00", R"("1969-12-31T23:59:58.5Z")", "56313936392d31322d33315432333a35393a35382e355a"},
    {"c1fb8888888888888888", R"("1970-01-01T00:00:00Z")",
     "54313937302d30312d30315430303a30303a30305a"},
    {"d74401020304", R"("01020304")", "483031303230333034"},
    {"d818456449455446", R"("dIETF")", "456449455446"},
    {"d82076687474703a2f2f7777772e6578616d706c652e636f6d", R"("http://www.example.com")",
     "56687474703a2f2f7777772e6578616d706c652e636f6d"},
    {"40", R"("")", ""},
    {"4401020304", R"("\u0001\u0002\u0003\u0004")", ""},
    {"60", R"("")", "40"},
    {"6161", R"("a")", "4161"},
    {"6449455446", R"("IETF")", "4449455446"},
    {"62225c", R"("\"\\")", "42225c"},
    {"62c3bc", "\"\xc3\xbc\"", "42c3bc"},
    {"63e6b0b4", "\"\xe6\xb0\xb4\"", "43e6b0b4"},
    {"64f0908591", "\"\xf0\x90\x85\x91\"", "44f0908591"},
    {"80", "[]", ""},
    {"83010203", "[1,2,3]", ""},
    {"8301820203820405", "[1,[2,3],[4,5]]", ""},
    {"98190102030405060708090a0b0c0d0e0f101112131415161718181819",
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]", ""},
    {"a0", "{}", ""},
    {"a26161016162820203", R"({"a":1,"b":[2,3]})", "a24161014162820203"},
    {"826161a161626163", R"(["a",{"b":"c"}])", "824161a141624163"},
    {"a56161614161626142616361436164614461656145", R"({"a":"A","b":"B","c":"C","d":"D","e":"E"})",
     "a54161414141624142416341434164414441654145"},
    {"5f42010243030405ff", R"("\u0001\u0002\u0003\u0004\u0005")", "450102030405"},
    {"7f657374726561646d696e67ff", R"("streaming")", "4973747265616d696e67"},
    {"9fff", "[]", "80"},
    {"9f018202039f0405ffff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"9f01820203820405ff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"83018202039f0405ff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"83019f0203ff820405", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"bf61610161629f0203ffff", R"({"a":1,"b":[2,3]})", "a24161014162820203"},
    {"826161bf61626163ff", R"(["a",{"b":"c"}])", "824161a141624163"},
    {"bf6346756ef563416d7421ff", R"({"Fun":true,"Amt":-2})", "a243416d74214346756ef5"},
};

struct Refused {
  std::string_view item;
  std::string_view error;
};

// modes TestAppendixA and TestDecode, what is refused; the words are fxamacker/cbor's.
constexpr Refused kRefused[] = {
    {"", "EOF"},
    {"1bffffffffffffffff",
     "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 "
     "overflows Go's int64)"},
    {"3bffffffffffffffff",
     "cbor: cannot unmarshal negative integer into Go value of type int64 (-18446744073709551616 "
     "overflows Go's int64)"},
    {"c249010000000000000000",
     "cbor: data item of cbor type tag is not accepted by protocol: bignum"},
    {"c349010000000000000000",
     "cbor: data item of cbor type tag is not accepted by protocol: bignum"},
    {"f97c00",
     "cbor: data item of cbor type primitives is not accepted by protocol: floating-point "
     "infinity"},
    {"f97e00",
     "cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN"},
    {"fa7f800000",
     "cbor: data item of cbor type primitives is not accepted by protocol: floating-point "
     "infinity"},
    {"fa7fc00000",
     "cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN"},
    {"fbfff0000000000000",
     "cbor: data item of cbor type primitives is not accepted by protocol: floating-point "
     "infinity"},
    {"fb7ff8000000000000",
     "cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN"},
    {"f7",
     "cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not "
     "recognized"},
    {"f0",
     "cbor: data item of cbor type primitives is not accepted by protocol: simple value 16 is not "
     "recognized"},
    {"f8ff",
     "cbor: data item of cbor type primitives is not accepted by protocol: simple value 255 is not "
     "recognized"},
    {"f818", "cbor: invalid simple value 24 for type primitives"},
    {"6180", "cbor: invalid UTF-8 string"},
    {"a201020304", "cbor: cannot unmarshal positive integer into Go value of type string"},
    {"a1fb40091eb851eb851f63706965",
     "cbor: cannot unmarshal primitives into Go value of type string"},
    {"a2614101614102", R"(cbor: found duplicate map key "A" at map element index 1)"},
    {"a2414101614102", R"(cbor: found duplicate map key "A" at map element index 1)"},
    {"a25f426865436c6c6fff015f416844656c6c6fff02",
     R"(cbor: found duplicate map key "hello" at map element index 1)"},
    {"c00a", "cbor: tag number 0 must be followed by text string, got positive integer"},
    {"c16161",
     "cbor: tag number 1 must be followed by integer or floating-point number, got UTF-8 text "
     "string"},
    {"c1fb7e37e43c8800759c",
     "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision"},
    {"1c", "cbor: invalid additional information 28 for type positive integer"},
    {"1f", "cbor: invalid additional information 31 for type positive integer"},
    {"ff", "cbor: unexpected \"break\" code"},
    {"bf6161ff", "cbor: unexpected \"break\" code"},
    {"5f6161ff", "cbor: wrong element type UTF-8 text string for indefinite-length byte string"},
    {"5f5fffff", "cbor: indefinite-length byte string chunk is not definite-length"},
    {"0000", "cbor: 1 bytes of extraneous data starting at index 1"},
    {"19", "unexpected EOF"},
    {"42aa", "unexpected EOF"},
    {"82", "unexpected EOF"},
    {"9f", "unexpected EOF"},
    {"5f", "unexpected EOF"},
    {"c2", "unexpected EOF"},
    // Lengths that nothing follows are not believed.
    {"9b7fffffffffffffff", "unexpected EOF"},
    {"bb7fffffffffffffff", "unexpected EOF"},
    {"5bffffffffffffffff", "unexpected EOF"},
};

TEST_CASE("codec: CBOR reads RFC 8949's examples and writes them deterministically", "[codec]") {
  for (const Example& example : kExamples) {
    CAPTURE(example.item);
    const std::string bytes = FromHex(example.item);
    runtime::Arena arena;
    const Result<runtime::Value> value = ParseCbor(bytes, arena);
    REQUIRE(value.ok());
    CHECK(testing::Json(*value) == example.json);
    std::string again;
    AppendCbor(*value, again);
    CHECK(ToHex(again) == (example.again.empty() ? example.item : example.again));
  }
}

TEST_CASE("codec: CBOR refuses what has no JSON form, in upstream's words", "[codec]") {
  for (const Refused& refused : kRefused) {
    CAPTURE(refused.item);
    CHECK(Read(refused.item) == refused.error);
  }
}

// modes TestDecode "byte string with expected encoding tag".
TEST_CASE("codec: CBOR bytes below an encoding tag read as text in that encoding", "[codec]") {
  CHECK(Read("d64401020304") == R"("AQIDBA==")");
  CHECK(Read("d54401020304") == R"("AQIDBA")");
  CHECK(Read("d542fbff") == R"("-_8")");
  // The tag counts for everything in what it stands before, unless another is nearer.
  CHECK(Read("d682410182d74102616b") == R"(["AQ==",["02","k"]])");
}

TEST_CASE("codec: CBOR ignores the self-described tag, also twice", "[codec]") {
  CHECK(Read("d9d9f7a1616101") == R"({"a":1})");
  CHECK(Read("d9d9f7d9d9f700") == "0");
}

// modes TestEncode: bytes are tagged as base64 to come, keys go by length first.
TEST_CASE("codec: CBOR is written deterministically", "[codec]") {
  std::string out;
  AppendCbor(runtime::Value::Bytes("\x01\x02"), out);
  CHECK(ToHex(out) == "d6420102");
  CHECK(Write(R"({"bb":1,"c":2,"a":3})") ==
        "a3416103416302426262"
        "01");
  out.clear();
  AppendCbor(runtime::Value::Raw(R"({"b":[1],"a":null})"), out);
  CHECK(ToHex(out) == "a24161f641628101");
}

TEST_CASE("codec: CBOR nested more deeply than allowed is refused", "[codec]") {
  const CborLimits limits{.depth_max = 3};
  CHECK(Read("81818100", limits) == "[[[0]]]");
  CHECK(Read("8181818100", limits) == "cbor: exceeded max nested level 3");
  CHECK(Read("c6c6c6c600", limits) == "cbor: exceeded max nested level 3");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "81";
  CHECK(Read(deep + "00") == "cbor: exceeded max nested level 10000");
}

TEST_CASE("codec: a CBOR map of many keys is checked for repetitions too", "[codec]") {
  std::string map = "b818";  // 24 pairs.
  for (int i = 0; i < 23; ++i)
    map += "41" + ToHex(std::string(1, static_cast<char>('a' + i))) + "00";
  CHECK(Read(map + "415a00").starts_with("{"));
  CHECK(Read(map + "416100") == R"(cbor: found duplicate map key "a" at map element index 23)");
}

}  // namespace
}  // namespace apiserver::inline v0::codec
