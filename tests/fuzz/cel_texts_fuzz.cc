#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/codec/json.h"
#include "require.h"

// Functions that parse text: quantities, versions, addresses, URLs, times, numbers, formats,
// patterns, format strings. Any text has a result or an error, and is*() says which.
namespace {

using apiserver_fuzz::Require;
namespace cel = apiserver::cel;

constexpr std::uint64_t kTextCostMax = 1'000'000;

// A function that judges a text, and the one that then reads it.
struct Judged {
  const char* judge;
  const char* read;
  // False: what is judged good may not be read. Go judges "//\\\\" as a path and "/#%" without a
  // fragment, and then reads a host and a fragment, which are none.
  bool exact = true;
};
constexpr std::array<Judged, 5> kJudged = {{{"isQuantity(s)", "quantity(s)"},
                                            {"isSemver(s)", "semver(s)"},
                                            {"isURL(s)", "url(s)", false},
                                            {"isIP(s)", "ip(s)"},
                                            {"isCIDR(s)", "cidr(s)"}}};

constexpr std::array kReading = {
    "semver(s, true).isLessThan(semver('1.2.3'))",
    "quantity(s).add(quantity('1Gi')).compareTo(quantity(s))",
    "quantity(s).asInteger()",
    "quantity(s).asApproximateFloat()",
    "url(s).getQuery()",
    "url(s).getHostname() + url(s).getPort() + url(s).getEscapedPath()",
    "ip(s).isGlobalUnicast()",
    "string(ip(s)) == string(cidr(s).ip())",
    "cidr(s).masked() == cidr(s)",
    "cidr('10.0.0.0/8').containsIP(s)",
    "cidr('10.0.0.0/8').containsCIDR(s)",
    "format.named(s)",
    "['dns1123Label', 'dns1123Subdomain', 'dns1035Label', 'qualifiedName', 'labelValue', 'uri', "
    "'uuid', 'byte', 'date', 'datetime', 'dns1123LabelPrefix', 'dns1123SubdomainPrefix', "
    "'dns1035LabelPrefix'].map(n, format.named(n).value().validate(s))",
    "string(timestamp(s))",
    "timestamp(0).getHours(s)",
    "timestamp(s).getDayOfYear('Europe/Berlin')",
    "string(duration(s))",
    "int(s)",
    "uint(s)",
    "string(double(s))",
    "bool(s)",
    "'Rook takes 👑'.matches(s)",
    "'aXbXc'.findAll(s)",
    "s.findAll('[a-c]+', 3)",
    "s.format([1, 'a', 1.5, {'k': [dyn(true), null]}, 7u, b'x', type(1)])",
    "s.split('')",
    "'a,b'.split(s)",
    "s.replace('a', s)",
    "strings.quote(s)",
    "s.trim() + s.upperAscii()",
    "s.substring(0, s.size() / 2).lastIndexOf(s)",
    "string(bytes(s)) == s",
    "string(b)",
};

cel::Program Compiled(const cel::Environment& environment, std::string_view text) {
  const auto program = cel::Compile(environment, text);
  Require(program.ok());
  return *program;
}

cel::Outcome EvaluateText(const cel::Program& program, std::span<const cel::Input> inputs,
                          cel::Scratch& scratch) {
  cel::Budget budget = {.per_call = kTextCostMax};
  const cel::Outcome outcome =
      cel::Evaluate(program, inputs, budget, scratch, apiserver::Context::Background());
  Require(outcome.ok() == outcome.error.empty());
  return outcome;
}

struct TextPrograms {
  TextPrograms() {
    const cel::Environment environment = cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
                                             .With({{.name = "s", .type = cel::Type::String()},
                                                    {.name = "b", .type = cel::Type::Bytes()}});
    for (const Judged& pair : kJudged) {
      judged.push_back(
          {Compiled(environment, pair.judge), Compiled(environment, pair.read), pair.exact});
    }
    for (const char* const text : kReading) reading.push_back(Compiled(environment, text));
  }

  struct Pair {
    cel::Program judge;
    cel::Program read;
    bool exact;
  };
  std::vector<Pair> judged;
  std::vector<cel::Program> reading;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TextPrograms programs;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Strings are UTF-8: JSON's reader replaces what is not.
  std::string json;
  apiserver::codec::AppendJsonString(bytes, json);
  apiserver::runtime::Arena arena;
  const auto text = apiserver::codec::ParseJson(json, arena);
  Require(text.ok());
  const std::array<cel::Input, 2> inputs = {
      {{cel::Value::String(text->AsString())}, {cel::Value::Bytes(bytes)}}};
  cel::Scratch scratch;
  for (const auto& [judge, read, exact] : programs.judged) {
    const cel::Outcome verdict = EvaluateText(judge, inputs, scratch);
    Require(verdict.ok() && verdict.value.is_bool());
    const bool good = verdict.value.AsBool();
    const bool reads = EvaluateText(read, inputs, scratch).ok();
    Require(good == reads || (good && !exact));
  }
  for (const cel::Program& program : programs.reading) (void)EvaluateText(program, inputs, scratch);
  return 0;
}
