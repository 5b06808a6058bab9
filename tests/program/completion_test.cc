// The commands completion and man.
#include "program/completion.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program/command_line.h"
#include "program/man_page.h"

namespace apiserver::inline v0::program {
namespace {

Program SampleServer() {
  return {.name = "sample-server",
          .description = "It's a \"server\" for tests",
          .version = "0.1",
          .install = [](auto&, const auto&) { return Status(); }};
}

std::vector<FlagText> SomeFlags() {
  return {{.names = {"--storage"},
           .help = "Where: it's [here]\\",
           .value = "TEXT",
           .words = {"rocks", "memory"},
           .section = "Generic flags"},
          {.names = {"--data-dir"}, .help = ".a folder", .value = "TEXT", .section = "Other flags"},
          {.names = {"--help", "-h"}, .help = "Print -this-", .section = "Generic flags"}};
}

// Runs a command of a shell and returns what it prints, and its exit code in a last line.
std::string Run(const std::string& command) {
  std::string said;
  // NOLINTNEXTLINE(cert-env33-c): a test of shells needs a shell
  std::FILE* const pipe = popen((command + " 2>&1; echo $?").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
    said += buffer.data();
  }
  pclose(pipe);
  return said;
}

// The answers of bash's script to a command line, whose words are what bash makes of it.
std::string Completed(const std::vector<FlagText>& flags, const std::string& words) {
  // Other tests of this file run beside this one, each in a process.
  const auto path = std::filesystem::temp_directory_path() /
                    ("apiserver-completion-" + std::to_string(getpid()) + ".bash");
  std::ofstream(path) << *Completion("bash", "sample-server", flags)
                      << "\nCOMP_WORDS=(" + words + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n"
                      << "_sample_server; echo \"${COMPREPLY[@]}\"\n";
  std::string said = Run("bash --norc " + path.string());
  std::filesystem::remove(path);
  return said;
}

TEST_CASE("program: bash completes commands, flags, values and files", "[program]") {
  CHECK(Completed(SomeFlags(), "sample-server d") == "doctor\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --s") == "--storage\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --h") == "--help\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --help -") == "--storage --data-dir --help -h\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --storage ''") == "rocks memory\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --storage = m") == "memory\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --storage =") == "rocks memory\n0\n");
  CHECK(Completed(SomeFlags(), "sample-server --data-dir = /et") == "/etc\n0\n");
}

TEST_CASE("program: bash completes the flags of a whole program", "[program]") {
  CHECK(Completed(FlagTexts(SampleServer()), "sample-server --secure-p") == "--secure-port\n0\n");
  CHECK(Completed(FlagTexts(SampleServer()), "sample-server --con") == "--config\n0\n");
}

TEST_CASE("program: texts of zsh and fish escape what those shells read", "[program]") {
  const std::string zsh = *Completion("zsh", "sample-server", SomeFlags());
  CHECK(zsh.starts_with("#compdef sample-server\n"));
  CHECK_THAT(
      zsh, Catch::Contains("'*--storage=[Where\\: it'\\''s \\[here\\]\\\\]:TEXT:(rocks memory)'"));
  CHECK_THAT(zsh, Catch::Contains("'*-h[Print -this-]'"));
  CHECK_THAT(zsh, Catch::Contains("'1:command:(crd openapi manifests doctor"));
  const std::string fish = *Completion("fish", "sample-server", SomeFlags());
  CHECK_THAT(fish, Catch::Contains("complete -c sample-server -l storage -x -a 'rocks memory' -d "
                                   "'Where: it\\'s [here]\\\\'\n"));
  CHECK_THAT(fish, Catch::Contains("complete -c sample-server -l help -s h -d 'Print -this-'\n"));
  CHECK(Completion("tcsh", "sample-server", SomeFlags()).status().reason() == Reason::kInvalid);
}

TEST_CASE("program: the manual page has each flag once, with roff's letters escaped", "[program]") {
  const std::string page = ManPage(SampleServer(), SomeFlags());
  CHECK(page.starts_with(".TH \"SAMPLE\\-SERVER\" 8 \"\" \"sample\\-server 0.1\""));
  CHECK_THAT(page,
             Catch::Contains(".SS \"Generic flags\"\n.TP\n\\fB\\-\\-storage\\fR=\\fITEXT\\fR\n"
                             "Where: it's [here]\\e\n"));
  CHECK_THAT(page, Catch::Contains("\\fB\\-\\-data\\-dir\\fR=\\fITEXT\\fR\n\\&.a folder\n"));
  CHECK_THAT(page, Catch::Contains("\\fB\\-\\-help\\fR, \\fB\\-h\\fR\nPrint \\-this\\-\n"));
  CHECK_THAT(page, Catch::Contains("\n.SH ENVIRONMENT\n.TP\n\\fBLISTEN_FDS\\fR, "));
  // A line that begins with a dot is a request; the others are text.
  const std::string whole = ManPage(SampleServer(), FlagTexts(SampleServer()));
  std::istringstream lines(whole);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    if (!line.starts_with('.')) continue;
    const std::string request = line.substr(0, line.find(' '));
    CHECK((request == ".TH" || request == ".SH" || request == ".SS" || request == ".TP" ||
           request == ".br"));
  }
  std::size_t flags = 0;
  for (std::size_t at = 0; (at = whole.find("\n.TP\n\\fB\\-\\-", at)) != std::string::npos; ++at) {
    ++flags;
  }
  CHECK(flags == FlagTexts(SampleServer()).size());
}

}  // namespace
}  // namespace apiserver::inline v0::program
