#include "apiserver/runtime/quantity.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

namespace apiserver::inline v0::runtime {
namespace {

using Format = Quantity::Format;

struct ParseRow {
  std::string text;
  std::int64_t value;
  int scale;
  Format format;
};

constexpr auto kSI = Format::kDecimalSI;
constexpr auto kBinary = Format::kBinarySI;
constexpr auto kExponent = Format::kDecimalExponent;
constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

const ParseRow kParsed[] = {
    {"0", 0, 0, kSI},
    {"0n", 0, 0, kSI},
    {"0u", 0, 0, kSI},
    {"0m", 0, 0, kSI},
    {"0Ki", 0, 0, kBinary},
    {"0k", 0, 0, kSI},
    {"0Mi", 0, 0, kBinary},
    {"0Ti", 0, 0, kBinary},
    {"1", 1, 0, kSI},
    {"1Ki", kKi, 0, kBinary},
    {"8Ki", 8 * kKi, 0, kBinary},
    {"7Mi", 7 * kKi* kKi, 0, kBinary},
    {"6Gi", 6 * kKi* kKi* kKi, 0, kBinary},
    {"5Ti", 5 * kKi* kKi* kKi* kKi, 0, kBinary},
    {"4Pi", 4 * kKi* kKi* kKi* kKi* kKi, 0, kBinary},
    {"3Ei", 3 * kKi* kKi* kKi* kKi* kKi* kKi, 0, kBinary},
    {"100Ti", 100 * kKi* kKi* kKi* kKi, 0, kBinary},
    {"5n", 5, -9, kSI},
    {"4u", 4, -6, kSI},
    {"3m", 3, -3, kSI},
    {"9", 9, 0, kSI},
    {"8k", 8, 3, kSI},
    {"50k", 5, 4, kSI},
    {"7M", 7, 6, kSI},
    {"6G", 6, 9, kSI},
    {"5T", 5, 12, kSI},
    {"300T", 3, 14, kSI},
    {"2P", 2, 15, kSI},
    {"1E", 1, 18, kSI},
    {"1E-3", 1, -3, kExponent},
    {"1e3", 1, 3, kExponent},
    {"1E6", 1, 6, kExponent},
    {"1e9", 1, 9, kExponent},
    {"1E18", 1, 18, kExponent},
    {"1e14", 1, 14, kExponent},
    {"100.035k", 100035, 0, kSI},
    {"0.001", 1, -3, kSI},
    {"0.0005k", 5, -1, kSI},
    {"0.05", 5, -2, kSI},
    {"0.00050k", 5, -1, kSI},
    {"0.50000", 5, -1, kSI},
    {"0.5e0", 5, -1, kExponent},
    {"0.5e-2", 5, -3, kExponent},
    {"1.3E+6", 13, 5, kExponent},
    {"9.01", 901, -2, kSI},
    {"6.987654321G", 6987654321, 0, kSI},
    {"1.01E", 101, 16, kSI},
    // Rounded up, cut.
    {"3.001n", 4, -9, kSI},
    {"1.1E-9", 2, -9, kExponent},
    {"0.0000000001", 1, -9, kSI},
    {"0.00000000050", 1, -9, kSI},
    {"0.00000012345", 124, -9, kSI},
    {"9Ei", kMax, 0, kBinary},
    {"9223372036854775807Ki", kMax, 0, kBinary},
    {"12E", 12, 18, kSI},
    // Binary suffixes with a fraction.
    {"100.035Ki", 10243584, -2, kBinary},
    {"0.5Mi", kKi* kKi / 2, 0, kBinary},
    {"0.05Gi", 536870912, -1, kBinary},
    {"0.025Ti", 274877906944, -1, kBinary},
    {"0.000000000001Ki", 2, -9, kSI},
    {".001", 1, -3, kSI},
    {".0001k", 100, -3, kSI},
    {"1.", 1, 0, kSI},
    {"1.G", 1, 9, kSI},
};

// TestQuantityParse
TEST_CASE("runtime: quantities parse as in Go, with either sign", "[runtime]") {
  for (const ParseRow& row : kParsed) {
    CAPTURE(row.text);
    const Quantity expected(row.value, row.scale, row.format);
    const Quantity parsed = Quantity::Parse(row.text).value();
    CHECK(parsed == expected);
    CHECK(parsed.format() == row.format);
    CHECK(Quantity::Parse("+" + row.text).value() == expected);
    Quantity negative = expected;
    negative.Negate();
    CHECK(Quantity::Parse("-" + row.text).value() == negative);
  }
}

TEST_CASE("runtime: what is no quantity is refused in Go's words", "[runtime]") {
  const std::string malformed =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const char* text : {"", "1.1.M", "1+1.0M", "aoeu", " 1", "1 ", "0.1am", "1e+-3"}) {
    CAPTURE(text);
    CHECK(Quantity::Parse(text).status().message() == malformed);
  }
  for (const char* text : {"0.1mi", ".5i", "1i", "-3.01i", "-3.01e-", "1e", "1Ki5"}) {
    CAPTURE(text);
    CHECK(Quantity::Parse(text).status().message() == "unable to parse quantity's suffix");
  }
}

struct PrintRow {
  Quantity quantity;
  std::string text;
  std::string alternate;
};

// TestQuantityString
TEST_CASE("runtime: quantities print canonically, and so do other ways to write them",
          "[runtime]") {
  const PrintRow rows[] = {
      {Quantity(kKi * kKi * kKi, 0, kBinary), "1Gi", "1024Mi"},
      {Quantity(300 * kKi * kKi, 0, kBinary), "300Mi", "307200Ki"},
      {Quantity(6 * kKi, 0, kBinary), "6Ki", ""},
      {Quantity(1001 * kKi * kKi * kKi, 0, kBinary), "1001Gi", "1025024Mi"},
      {Quantity(5, 0, kBinary), "5", "5000m"},
      {Quantity(500, -3, kBinary), "500m", "0.5"},
      {Quantity(1, 9, kSI), "1G", "1000M"},
      {Quantity(1000, 6, kSI), "1G", "0.001T"},
      {Quantity(1000000000, 0, kSI), "1G", ""},
      {Quantity(1, -3, kSI), "1m", "1000u"},
      {Quantity(1080, -3, kSI), "1080m", "1.08"},
      {Quantity(108, -2, kSI), "1080m", "1080000000n"},
      {Quantity(1234567, 6, kSI), "1234567M", ""},
      {Quantity(1234567, -3, kBinary), "1234567m", ""},
      {Quantity(1025, 0, kBinary), "1025", ""},
      {Quantity(0, 0, kBinary), "0", ""},
      {Quantity(1, 9, kExponent), "1e9", ".001e12"},
      {Quantity(1, -3, kExponent), "1e-3", "0.001e0"},
      {Quantity(1, -9, kExponent), "1e-9", "1000e-12"},
      {Quantity(80, -3, kExponent), "80e-3", ""},
      {Quantity(0, 0, kExponent), "0", "00"},
      {Quantity(1, -9, kSI), "1n", ""},
      {Quantity(108, -8, kSI), "1080n", ""},
      {Quantity(1080, -6, kSI), "1080u", ""},
      {Quantity(-901, -2, kSI), "-9010m", "-9.01"},
      {Quantity(kMax, 0, kBinary), "9223372036854775807", ""},
  };
  for (const PrintRow& row : rows) {
    CHECK(row.quantity.ToString() == row.text);
    CHECK(Quantity::Parse(row.text).value().ToString() == row.text);
    if (row.alternate.empty()) continue;
    CAPTURE(row.alternate);
    const std::string printed = Quantity::Parse(row.alternate).value().ToString();
    CHECK(Quantity::Parse(printed).value() == row.quantity);
  }
}

TEST_CASE("runtime: a parsed quantity keeps its text where Go keeps it", "[runtime]") {
  struct Row {
    const char* text;
    const char* printed;
  };
  constexpr Row kRows[] = {
      {"1500m", "1500m"},   {"12345e3", "12345e3"},
      {"1.500k", "1.500k"}, {"+5", "+5"},
      {"05", "05"},         {"3Ki", "3Ki"},
      {"1024Ki", "1Mi"},    {"1000m", "1"},
      {"1.5", "1500m"},     {"0.5Gi", "512Mi"},
      {"1000000", "1M"},    {"1.000", "1"},
      {"-0", "0"},          {".", "0"},
      {"2048", "2048"},     {"0.5", "500m"},
      {"1000E", "1"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(Quantity::Parse(row.text).value().ToString() == row.printed);
  }
}

TEST_CASE("runtime: quantities compare by number", "[runtime]") {
  const auto of = [](const char* text) { return Quantity::Parse(text).value(); };
  CHECK(of("100m") < of("200m"));
  CHECK(of("-200m") < of("100m"));
  CHECK(of("-2") < of("-1"));
  CHECK(of("1") == of("1000m"));
  CHECK(of("100Gi") < of("10000T"));
  CHECK(Compare(of("1e2147483647"), of("1e-2147483648")) == 1);
  CHECK(Compare(Quantity(kMax, -16), Quantity(1, 3)) == -1);
}

TEST_CASE("runtime: quantities add, subtract and round", "[runtime]") {
  const auto of = [](const char* text) { return Quantity::Parse(text).value(); };
  Quantity sum = of("0");
  sum.Add(of("1Gi"));
  CHECK(sum.ToString() == "1Gi");
  sum.Subtract(of("512Mi"));
  CHECK(sum.ToString() == "512Mi");
  sum.Subtract(of("1Gi"));
  CHECK(sum.ToString() == "-512Mi");
  sum.Add(of("512Mi"));
  CHECK(sum.ToString() == "0");
  Quantity far = of("1e2147483647");
  far.Add(of("1"));
  CHECK(far.ToString() == "10e2147483646");
  CHECK(of("1500m").Value() == 2);
  CHECK(of("-1500m").Value() == -2);
  CHECK(of("1500m").MilliValue() == 1500);
  CHECK(of("100E").Value() == kMax);
  CHECK(of("-100E").Value() == std::numeric_limits<std::int64_t>::min());
  CHECK(of("1.5").AsDouble() == 1.5);
  CHECK(of("-2Ki").AsDouble() == -2048);
  CHECK(of("-1").sign() == -1);
}

TEST_CASE("runtime: a quantity of a million digits is read in linear time", "[runtime]") {
  const std::string zeros = "1" + std::string(1'000'000, '0');
  CHECK(Quantity::Parse(zeros).value() == Quantity(1, 1'000'000));
  CHECK(Quantity::Parse("0." + zeros).value() == Quantity(1, -1));
  CHECK(Quantity::Parse(std::string(1'000'000, '9') + "Ei").value() == Quantity(kMax));
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
