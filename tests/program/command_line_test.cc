// A program's command line: read as Kubernetes' programs read theirs.
#include "program/command_line.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <regex>

namespace apiserver::inline v0::program {
namespace {

using std::chrono::seconds;
using Words = std::vector<const char*>;

Program Sample() {
  return {.name = "sample",
          .description = "A server for tests",
          .version = "0.1",
          .etcd_prefix = "/registry/sample",
          .install = [](auto&, const auto&) { return Status(); }};
}

// All flags, read once.
struct Line {
  // Returns the refusal without "error: "; empty: there is none.
  std::string Parse(Words words) {
    AddFlags();
    words.insert(words.begin(), "sample");
    const Reading reading = flags.Parse(static_cast<int>(words.size()), words.data());
    if (!reading.exit) return "";
    CHECK(reading.text.starts_with("error: "));
    CHECK(reading.text.ends_with("\n"));
    return reading.text.substr(7, reading.text.size() - 8);
  }
  // Returns the first mistake; empty: there is none.
  std::string Read(Words words) {
    std::string problem = Parse(std::move(words));
    return problem.empty() ? FinishFlags(values) : problem;
  }

  void AddFlags() { AddServerFlags(flags, values); }

  CLI::App app;
  CliFlags flags{app};
  Values values{Sample()};
};

Reading ReadingOf(Words words) {
  words.insert(words.begin(), "sample");
  return ParseCommandLine(static_cast<int>(words.size()), words.data(), Sample()).reading;
}

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

TEST_CASE("program: a switch needs no value, takes one after =, and leaves the next argument alone",
          "[program]") {
  const std::vector<std::string> names = Switches();
  CHECK(names == std::vector<std::string>{
                     "--anonymous-auth", "--audit-log-batch-throttle-enable",
                     "--audit-log-compress", "--audit-log-truncate-enabled",
                     "--audit-webhook-batch-throttle-enable", "--audit-webhook-truncate-enabled",
                     "--authentication-skip-lookup", "--authentication-tolerate-lookup-failure",
                     "--enable-bootstrap-token-auth", "--enable-garbage-collector",
                     "--enable-priority-and-fairness",
                     "--encryption-provider-config-automatic-reload",
                     "--encryption-provider-config-rewrite-stale", "--explorer", "--profiling",
                     "--service-account-lookup", "--shutdown-send-retry-after", "--standalone",
                     "--watch-cache"});
  const auto is_set = [](const std::string& name, const std::string& argument) {
    Line line;
    CHECK(line.Parse({argument.c_str(), "--secure-port=7443"}) == "");
    CHECK(line.values.recommended.secure_serving.secure_port == 7443);
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

TEST_CASE("program: of a flag that is given twice the last value counts", "[program]") {
  Line line;
  REQUIRE(line.Read({"--secure-port=1", "--secure-port", "2", "--anonymous-auth",
                     "--anonymous-auth=false", "--etcd-healthcheck-timeout=1s",
                     "--etcd-healthcheck-timeout=3s", "--etcd-servers=http://a",
                     "--etcd-servers=http://b,http://c"}) == "");
  CHECK(line.values.recommended.secure_serving.secure_port == 2);
  CHECK_FALSE(line.app.get_option("--anonymous-auth")->as<bool>());
  CHECK(line.values.recommended.etcd.healthcheck_timeout == seconds(3));
  // Lists grow.
  CHECK(line.values.recommended.etcd.servers ==
        std::vector<std::string>{"http://a", "http://b", "http://c"});
}

TEST_CASE("program: the Explorer is served standalone, and behind an aggregator if asked for",
          "[program]") {
  const auto serves = [](Words words) {
    Line line;
    CHECK(line.Read(std::move(words)) == "");
    return line.values.explorer;
  };

  CHECK(serves({}));
  CHECK_FALSE(serves({"--no-explorer"}));
  CHECK_FALSE(serves({"--explorer=false"}));
  CHECK_FALSE(serves({"--no-standalone"}));
  CHECK(serves({"--no-standalone", "--explorer"}));
}

TEST_CASE("program: an empty value is not the next argument, and -v=2 is 2", "[program]") {
  Line line;
  REQUIRE(line.Read({"--client-ca-file=", "--secure-port=1", "-v=2"}) == "");
  CHECK(line.values.recommended.authentication.values.client_ca_file.empty());
  CHECK(line.values.recommended.secure_serving.secure_port == 1);
  CHECK(line.values.v == 2);
}

TEST_CASE("program: a duration without a unit is refused with the flag and an example",
          "[program]") {
  CHECK(ErrorOf({"--shutdown-delay-duration", "5"}) ==
        "--shutdown-delay-duration: \"5\" is no duration; give one like 5s, 1m30s or 500ms");
  CHECK(ErrorOf({"--request-timeout=60"}) ==
        "--request-timeout: \"60\" is no duration; give one like 5s, 1m30s or 500ms");
  CHECK(ErrorOf({"--request-timeout=0"}) == "--request-timeout must be positive, e.g. 60s");
  CHECK(ErrorOf({"--shutdown-delay-duration="}) ==
        "--shutdown-delay-duration: \"\" is no duration; give one like 5s, 1m30s or 500ms");
}

TEST_CASE("program: an unknown flag is exit code 2 and names the nearest one", "[program]") {
  const Reading mistyped = ReadingOf({"--secure-prot=1", "--storage=memory"});
  CHECK(mistyped.exit);
  CHECK(mistyped.exit_code == 2);
  CHECK(mistyped.text == "error: unknown flag: --secure-prot; did you mean --secure-port?\n");
  CHECK(ReadingOf({"--secure-prot", "1"}).text == mistyped.text);
  CHECK(ReadingOf({"--no-standalon"}).text ==
        "error: unknown flag: --no-standalon; did you mean --no-standalone?\n");
  const Reading foreign = ReadingOf({"--cloud-provider=x"});
  CHECK(foreign.exit_code == 2);
  CHECK(foreign.text == "error: unknown flag: --cloud-provider; --help lists all\n");
}

TEST_CASE("program: every other refusal is exit code 1 and one line", "[program]") {
  for (const Words& words :
       {Words{"--secure-port=70000"}, Words{"--secure-port"}, Words{"--storage=paper"},
        Words{"--anonymous-auth=yes"}, Words{"--etcd-servers=http://a", "--storage=memory"},
        Words{"--authorization-mode=Chaos"}, Words{"serve"}}) {
    const Reading reading = ReadingOf(words);
    CAPTURE(reading.text);
    CHECK(reading.exit);
    CHECK(reading.exit_code == 1);
    CHECK(reading.text.starts_with("error: "));
    CHECK(std::count(reading.text.begin(), reading.text.end(), '\n') == 1);
  }
}

TEST_CASE("program: --version names the program, the library and Kubernetes", "[program]") {
  const Reading reading = ReadingOf({"--version"});
  CHECK(reading.exit);
  CHECK(reading.exit_code == 0);
  CHECK(std::regex_match(reading.text, std::regex("sample 0\\.1 \\(libapiserver [0-9.]+, "
                                                  "Kubernetes v1\\.[0-9]+\\.[0-9]+.*\\)\n")));
}

TEST_CASE("program: --help has sections, the command doctor, and a line for each flag",
          "[program]") {
  const Reading reading = ReadingOf({"--help"});
  CHECK(reading.exit);
  CHECK(reading.exit_code == 0);
  const std::string& help = reading.text;
  CAPTURE(help);
  std::size_t at = 0;
  for (const char* heading : {"\nGeneric flags:", "\nEtcd flags:", "\nSecure serving flags:",
                              "\nAuditing flags:", "\nFeatures flags:", "\nAuthentication flags:",
                              "\nAuthorization flags:", "\nAdmission flags:", "\nTraces flags:",
                              "\nLogs flags:", "\nGlobal flags:", "\n  doctor "}) {
    CAPTURE(heading);
    const std::size_t found = help.find(heading);
    REQUIRE(found != std::string::npos);
    CHECK(found >= at);
    at = found;
  }
  CHECK(help.find("\nOptions:") == std::string::npos);
  // As envtest's starter looks for flags (controller-runtime, process.Arguments).
  for (const char* flag : {"secure-port", "etcd-servers", "client-ca-file", "standalone",
                           "service-account-issuer", "authorization-mode", "cert-dir"}) {
    CAPTURE(flag);
    CHECK(std::regex_search(help, std::regex("(^|\n)\\s*--" + std::string(flag) + "\\b")));
  }
}

TEST_CASE("program: a program's own flags are read, and shown by --help", "[program]") {
  Program program = Sample();
  std::string color = "red";
  program.add_flags = [&color](options::FlagSet& flags) {
    flags.BeginSection("Misc");
    flags.Add({.name = "--color", .value = &color, .help = "The color of things"});
  };
  const char* const given[] = {"sample", "--color=blue"};
  const char* const help[] = {"sample", "--help"};

  CHECK_FALSE(ParseCommandLine(2, given, program).reading.exit);
  CHECK(color == "blue");
  const std::string text = ParseCommandLine(2, help, program).reading.text;
  CHECK(text.find("--color") != std::string::npos);
  CHECK(text.find("The color of things") != std::string::npos);
}

}  // namespace apiserver::inline v0::program
