// Single values of core/v1: rows of apimachinery/pkg/util/validation/validation_test.go, and of
// Test_validateLocalDescendingPath's like in apis/core/validation.
#include "groups/core/checks.h"

#include <functional>

#include "groups/value_rows.h"

namespace checks_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
namespace core = groups::core;

using CheckText = std::function<void(field::ErrorList&, const field::Path&, std::string_view)>;

// Returns how many findings there are about a text.
std::size_t Count(const CheckText& check, std::string_view text) {
  field::ErrorList errors;
  check(errors, field::Path("f"), text);
  return errors.size();
}

struct TextRow {
  std::string text;
  std::size_t complaints = 0;
};

void CheckComplaints(std::span<const TextRow> rows, meta::Complaints (*check)(std::string_view)) {
  for (const TextRow& row : rows) {
    INFO("\"" << row.text << "\"");
    CHECK(check(row.text).size() == row.complaints);
  }
}

}  // namespace

// TestIsConfigMapKey.
TEST_CASE("groups: keys of ConfigMaps and Secrets", "[groups]") {
  const TextRow rows[] = {{"a"},
                          {"good"},
                          {"good-good"},
                          {"still.good"},
                          {"this.is.also.good"},
                          {".so.is.this"},
                          {"THIS_IS_GOOD"},
                          {"so_is_this_17"},
                          {"-"},
                          {"a.."},
                          {std::string(253, 'a')},
                          {".", 1},
                          {"..", 1},
                          {"..bad", 1},
                          {"b*d", 1},
                          {"bad!&bad", 1},
                          {"", 1},
                          {"..b*d", 2},
                          {std::string(254, 'a'), 1},
                          {std::string(254, '*'), 2}};
  CheckComplaints(rows, &core::IsConfigMapKey);
}

// TestIsValidPortName.
TEST_CASE("groups: names of ports", "[groups]") {
  const TextRow rows[] = {{"telnet"},
                          {"re-mail-ck"},
                          {"pop3"},
                          {"a"},
                          {"a-1"},
                          {"1-a"},
                          {"a-1-b-2-c"},
                          {"1-a-2-b-3"},
                          {"longerthan15characters", 1},
                          {"", 2},
                          {"12", 1},
                          {"12345", 1},
                          {"1-2-3-4", 1},
                          {"-begin", 1},
                          {"end-", 1},
                          {"two--hyphens", 1},
                          {"1-2", 1},
                          {"whois++", 1},
                          {"A", 2},
                          {"-", 2}};
  CheckComplaints(rows, &core::IsPortName);
}

// TestIsRelaxedEnvVarName, TestIsValidHTTPHeader's like.
TEST_CASE("groups: names of variables and headers", "[groups]") {
  const TextRow variables[] = {{"-"},      {"."},        {"my_var"}, {"1VAR"},    {"a b"},
                               {"!"},      {"a\"b"},     {"~"},      {"", 1},     {"=", 1},
                               {"a=b", 1}, {"tab\t", 1}, {"ä", 1},   {"\x7f", 1}, {"a\nb", 1}};
  CheckComplaints(variables, &core::IsRelaxedEnvVarName);
  const TextRow headers[] = {{"Host"}, {"X-Forwarded-Host"}, {"a"},      {"-"},      {"1"},
                             {"", 1},  {"a:b", 1},           {"X_Y", 1}, {"a b", 1}, {"Host:", 1}};
  CheckComplaints(headers, &core::IsHttpHeaderName);
}

// TestIsDNS1123SubdomainWithUnderscore.
TEST_CASE("groups: domains that may have underscores", "[groups]") {
  const TextRow rows[] = {{"a"},
                          {"ab"},
                          {"a1"},
                          {"a-1"},
                          {"a--1--2--b"},
                          {"0"},
                          {"_a"},
                          {"_ab"},
                          {"a.a"},
                          {"_a.b"},
                          {"a._b"},
                          {"a_b.c"},
                          {"_tcp._b.example"},
                          {std::string(253, 'a')},
                          {"", 1},
                          {"A", 1},
                          {"-", 1},
                          {"_", 1},
                          {"a-", 1},
                          {"a_", 1},
                          {"a.", 1},
                          {".", 1},
                          {".a", 1},
                          {"a..b", 1},
                          {"__a", 1},
                          {"a b", 1},
                          {std::string(254, 'a'), 1}};
  CheckComplaints(rows, &core::IsSubdomainWithUnderscore);
}

TEST_CASE("groups: paths that stay where they are", "[groups]") {
  struct Case {
    const char* path;
    std::size_t backsteps;
    std::size_t descending;
    std::size_t reserved;
  };
  const Case cases[] = {{"", 0, 0, 0},      {"a", 0, 0, 0},     {"a/b/c", 0, 0, 0},
                        {"a..b", 0, 0, 0},  {"a../b", 0, 0, 0}, {"..a", 0, 0, 1},
                        {"..a/b", 0, 0, 1}, {"...", 0, 0, 1},   {"..", 1, 1, 2},
                        {"../a", 1, 1, 1},  {"a/..", 1, 1, 1},  {"a/../b", 1, 1, 1},
                        {"/a", 0, 1, 1},    {"/..", 1, 2, 2},   {"/a/../b", 1, 2, 2},
                        {"a/..b", 0, 0, 0}, {"./a", 0, 0, 0},   {"a\\..\\b", 0, 0, 0}};
  for (const Case& test : cases) {
    INFO(test.path);
    CHECK(Count(&core::CheckNoBacksteps, test.path) == test.backsteps);
    CHECK(Count(&core::CheckDescendingPath, test.path) == test.descending);
    CHECK(Count(&core::CheckNotReservedPath, test.path) == test.reserved);
  }
}

TEST_CASE("groups: numbers and words", "[groups]") {
  const auto of_value = [](void (*check)(field::ErrorList&, const field::Path&, runtime::Value)) {
    return [check](runtime::Value value, const field::Path& path, field::ErrorList& errors) {
      check(errors, path, value);
    };
  };
  using testing::ValueRow;
  const ValueRow ports[] = {{"a number", "1"},
                            {"the last", "65535"},
                            {"a name", R"("http")"},
                            {"none", "0", "Invalid f"},
                            {"one too many", "65536", "Invalid f"},
                            {"below", "-1", "Invalid f"},
                            {"a number as a name", R"("80")", "Invalid f"}};
  testing::CheckValueRows(ports, of_value(&core::CheckPortOrName));
  const ValueRow modes[] = {{"none", "null"},
                            {"nothing", "0"},
                            {"all", "511"},
                            {"more", "512", "Invalid f"},
                            {"less", "-1", "Invalid f"}};
  testing::CheckValueRows(modes, of_value(&core::CheckFileMode));
  const ValueRow words[] = {{"known", R"("a")"},
                            {"unknown", R"("c")", "NotSupported f"},
                            {"missing", "null", "Required f"}};
  testing::CheckValueRows(
      words, [](runtime::Value word, const field::Path& path, field::ErrorList& errors) {
        core::CheckNeededWord(errors, path, word.AsString(), {"a", "b"});
      });
}

TEST_CASE("groups: addresses and networks of fields that are old", "[groups]") {
  const auto ip = [](std::string_view text) {
    return Count([](auto& errors, const auto& path,
                    auto value) { core::CheckLegacyIp(errors, path, value); },
                 text) == 0;
  };
  for (const char* text :
       {"1.2.3.4", "010.001.002.003", "::1", "2001:db8::ffff", "::ffff:1.2.3.4"}) {
    INFO(text);
    CHECK(ip(text));
  }
  for (const char* text :
       {"", "1.2.3", "1.2.3.256", "1.2.3.4/24", "fe80::1%eth0", "a", "1.2.3.4 "}) {
    INFO(text);
    CHECK_FALSE(ip(text));
  }
  const auto cidr = [](std::string_view text) {
    return Count([](auto& errors, const auto& path,
                    auto value) { core::CheckLegacyCidr(errors, path, value); },
                 text) == 0;
  };
  for (const char* text : {"10.0.0.0/8", "10.1.2.3/8", "0.0.0.0/0", "1.2.3.4/32", "::/0",
                           "2001:db8::/64", "::1/128", "010.0.0.0/08"}) {
    INFO(text);
    CHECK(cidr(text));
  }
  for (const char* text : {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1",
                           "/8", "a/8", "10.0.0.0/8/8", "10.0.0.0/a"}) {
    INFO(text);
    CHECK_FALSE(cidr(text));
  }
  // The stored object's own pass as they are.
  field::ErrorList errors;
  core::CheckLegacyIp(errors, field::Path("f"), "old", {"old"});
  core::CheckLegacyCidr(errors, field::Path("f"), "old", {"other", "old"});
  CHECK(errors.empty());
}

}  // namespace checks_rows_test
