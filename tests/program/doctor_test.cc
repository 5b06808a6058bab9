// Tests of the command `doctor`: its command line. What it finds is tested in examine_….cc.
#include <catch2/catch.hpp>
#include <filesystem>

#include "program/command_line.h"
#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;

// A program with flags of its own, of which two have names of the doctor's.
class OwnFlags {
 public:
  OwnFlags() {
    program.add_flags = [this](options::FlagSet& flags) {
      flags.Add({.name = "--color",
                 .value = &color,
                 .help = "The color of things",
                 .one_of = {"red", "blue"}});
      flags.Add({.name = "--level", .value = &level, .help = "How many", .range = {{1, 9}}});
      flags.Add({.name = "--json", .value = &json, .help = "A file"});
      flags.Add({.name = "--service-name", .value = &service, .help = "A name"});
    };
    program.validate = [this](const options::RecommendedOptions&) {
      return level == 7 ? std::vector<std::string>{"--level must not be 7; give 8"}
                        : std::vector<std::string>{};
    };
  }

  // The exit code of the doctor for a server's command line.
  int Doctor(const std::vector<std::string>& line) const {
    const std::string data_dir = "--data-dir=" + patient.values.data_dir;
    const std::string port =
        "--secure-port=" + std::to_string(patient.values.recommended.secure_serving.secure_port);
    std::vector<const char*> argv = {"own", "doctor", "--standalone", data_dir.c_str(),
                                     port.c_str()};
    for (const std::string& word : line) argv.push_back(word.c_str());
    return RunStandalone(static_cast<int>(argv.size()), argv.data(), program);
  }
  // Returns the words in which the server itself refuses the line. Empty: it accepts it.
  std::string Refusal(const std::vector<std::string>& line) const {
    std::vector<const char*> argv = {"own"};
    for (const std::string& word : line) argv.push_back(word.c_str());
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), program).reading.text;
  }

  Patient patient;
  std::string color = "red";
  int level = 1;
  std::string json;
  std::string service;
  Program program{.name = "own", .install = [](auto&, const auto&) { return Status(); }};
};

}  // namespace

TEST_CASE("doctor: a program's own flags are read as its server reads them", "[program]") {
  OwnFlags own;
  CHECK(own.Doctor({"--color", "blue", "--level=3", "-v=2"}) == kExitOk);
  CHECK(own.color == "blue");
  CHECK(own.level == 3);
  struct Row {
    std::string word;
    int exit_code;
  };
  for (const Row& row : {Row{"--color=green", kExitFailure}, Row{"--level=10", kExitFailure},
                         Row{"--level=7", kExitFailure}, Row{"--colour=red", kExitUnknownFlag}}) {
    INFO(row.word);
    CHECK(own.Doctor({row.word}) == row.exit_code);
    CHECK_FALSE(own.Refusal({row.word}).empty());
  }
  CHECK(own.Refusal({"--level=7"}) == "error: --level must not be 7; give 8\n");
  CHECK(own.Refusal({"--level=8"}).empty());
}

TEST_CASE("doctor: a program's own flag keeps a name that the doctor has, too", "[program]") {
  OwnFlags own;
  CHECK(own.Doctor({"--json=a.json", "--service-name=pets"}) == kExitOk);
  CHECK(own.json == "a.json");
  CHECK(own.service == "pets");
  CHECK(own.Doctor({"--doctor-json", "--fix"}) == kExitOk);
  CHECK(own.Doctor({"--doctor-service-name=x"}) == kExitFailure);
}

TEST_CASE("doctor: a program looks at what its own flags name", "[program]") {
  Patient patient;
  std::string asked;
  patient.program.examine = [&asked](const options::RecommendedOptions& options) {
    asked = options.secure_serving.bind_address;
    return std::vector<delegation::Finding>{
        {.check = "color-file", .text = "can be used"},
        {.level = delegation::Finding::Level::kProblem, .check = "key-file", .text = "is missing"}};
  };
  CHECK(patient.Complains() == Complaints{"problem key-file"});
  CHECK(patient.TextOf("key-file") == "is missing");
  CHECK(asked == "127.0.0.1");
}

}  // namespace apiserver::inline v0::program
