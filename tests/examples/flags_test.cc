// The sample-apiserver's command line: read as Kubernetes' programs read theirs.
#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "common/cli_flags.h"
#include "options.h"

namespace sample {
namespace {

using std::chrono::seconds;
using Words = std::vector<const char*>;

// All flags, read once.
struct Line {
  // What cannot be read; empty: nothing.
  std::string Parse(Words words) {
    AddFlags();
    words.insert(words.begin(), "sample-apiserver");
    try {
      flags.Parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }
  // What is wrong; empty: nothing.
  std::string Read(Words words) {
    std::string problem = Parse(std::move(words));
    return problem.empty() ? FinishFlags(options) : problem;
  }

  void AddFlags() { AddServerFlags(flags, options); }

  CLI::App app;
  examples::CliFlags flags{app};
  Options options;
};

std::string ErrorOf(Words words) { return Line().Read(std::move(words)); }

std::vector<std::string> Switches() {
  Line line;
  line.AddFlags();
  std::vector<std::string> names;
  for (const CLI::Option* option : line.app.get_options()) {
    if (option == line.app.get_help_ptr()) continue;
    CAPTURE(option->get_name());
    // A bool that is no switch would take the next argument.
    CHECK((option->get_type_name().find("BOOLEAN") == std::string::npos ||
           option->get_items_expected_max() == 0));
    if (option->get_items_expected_max() == 0) names.push_back("--" + option->get_lnames().at(0));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("sample: a switch needs no value, takes one after =, and leaves the next argument alone",
          "[sample]") {
  const std::vector<std::string> names = Switches();
  CHECK(names == std::vector<std::string>{
                     "--anonymous-auth", "--audit-log-batch-throttle-enable",
                     "--audit-log-compress", "--audit-log-truncate-enabled",
                     "--audit-webhook-batch-throttle-enable", "--audit-webhook-truncate-enabled",
                     "--authentication-skip-lookup", "--authentication-tolerate-lookup-failure",
                     "--enable-bootstrap-token-auth", "--enable-garbage-collector",
                     "--enable-priority-and-fairness",
                     "--encryption-provider-config-automatic-reload", "--profiling",
                     "--service-account-lookup", "--shutdown-send-retry-after", "--standalone",
                     "--watch-cache"});
  const auto is_set = [](const std::string& name, const std::string& argument) {
    Line line;
    CHECK(line.Parse({argument.c_str(), "--secure-port=7443"}) == "");
    CHECK(line.options.recommended.secure_serving.secure_port == 7443);
    return line.app.get_option(name)->as<bool>();
  };
  for (const std::string& name : names) {
    CAPTURE(name);
    for (const char* yes : {"", "=true", "=True", "=1", "=t"}) CHECK(is_set(name, name + yes));
    for (const char* no : {"=false", "=FALSE", "=0", "=F"}) CHECK_FALSE(is_set(name, name + no));
    CHECK(ErrorOf({name.c_str(), "false"}).find("false") != std::string::npos);
    CHECK(ErrorOf({(name + "=yes").c_str()}) == name + ": \"yes\" is neither true nor false");
  }
}

TEST_CASE("sample: of a flag that is given twice the last value counts", "[sample]") {
  Line line;
  REQUIRE(line.Read({"--secure-port=1", "--secure-port", "2", "--anonymous-auth",
                     "--anonymous-auth=false", "--etcd-healthcheck-timeout=1s",
                     "--etcd-healthcheck-timeout=3s", "--etcd-servers=http://a",
                     "--etcd-servers=http://b,http://c"}) == "");
  CHECK(line.options.recommended.secure_serving.secure_port == 2);
  CHECK_FALSE(line.app.get_option("--anonymous-auth")->as<bool>());
  CHECK(line.options.recommended.etcd.healthcheck_timeout == seconds(3));
  // Lists grow.
  CHECK(line.options.recommended.etcd.servers ==
        std::vector<std::string>{"http://a", "http://b", "http://c"});
}

TEST_CASE("sample: an empty value is not the next argument, and -v=2 is 2", "[sample]") {
  Line line;
  REQUIRE(line.Read({"--client-ca-file=", "--secure-port=1", "-v=2"}) == "");
  CHECK(line.options.recommended.authentication.values.client_ca_file.empty());
  CHECK(line.options.recommended.secure_serving.secure_port == 1);
  CHECK(line.options.v == 2);
}

TEST_CASE("sample: a duration without a unit is refused with the flag and an example", "[sample]") {
  CHECK(ErrorOf({"--shutdown-delay-duration", "5"}) ==
        "--shutdown-delay-duration: \"5\" is no duration; give one like 5s, 1m30s or 500ms");
  CHECK(ErrorOf({"--request-timeout=60"}) ==
        "--request-timeout: \"60\" is no duration; give one like 5s, 1m30s or 500ms");
  CHECK(ErrorOf({"--request-timeout=0"}) == "--request-timeout must be positive, e.g. 60s");
  CHECK(ErrorOf({"--shutdown-delay-duration="}) ==
        "--shutdown-delay-duration: \"\" is no duration; give one like 5s, 1m30s or 500ms");
}

}  // namespace sample
