#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/program/run_standalone.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace apiserver::inline v0::program {

// The result of reading a command line.
struct Reading {
  bool exit = false;  // The program ends with `exit_code` after it has printed `text`.
  int exit_code = kExitOk;
  std::string text = {};  // For standard output if the exit code is 0, else for standard error.
};

// Returns the refusal of a command line: `error: <what>`.
Reading Refused(std::string_view what, int exit_code = kExitFailure);
// Prints the text and returns the exit code.
int Print(const Reading& reading);

// A flag as help, completions and manual pages show it.
struct FlagText {
  std::vector<std::string> names;  // With their dashes; the one that is shown first is the first.
  std::string help;
  std::string value;               // The name of its value, in capitals. Empty: a switch.
  std::vector<std::string> words;  // The values there are. Empty: any.
  std::string section;             // "Secure serving flags"
};

// The library's flags on CLI11, read as Kubernetes' programs read theirs (github.com/spf13/pflag).
class CliFlags final : public options::FlagSet {
 public:
  // `app` must outlive this.
  explicit CliFlags(CLI::App& app) : app_(app) {}

  options::FlagPtr Add(options::FlagSpec spec) override;
  // Flags of the section <title> stand in the help under the heading "<title> flags".
  void BeginSection(std::string_view title) override;

  // The CLI11 application, to which the program adds its own flags; switches by add_flag.
  CLI::App& app() { return app_; }
  // Puts a flag that app() was given under the current heading.
  void Show(CLI::Option& option) const;

  // Adds --config, a file whose flags Parse() reads before those of the command line.
  void AddConfigFlag();
  // Returns all flags that were added, in their order.
  std::vector<FlagText> Texts() const;

  // Reads main's arguments once all flags are there. Of a flag with one value the last one counts;
  // a switch takes the words of Go's strconv.ParseBool; `--name=` is an empty value and not the
  // next argument; `-v=2` is 2.
  Reading Parse(int argc, const char* const* argv);

 private:
  Reading RefuseExtra(const std::string& argument) const;
  // Puts the flags of the file that --config names in front of the command line's.
  Status AddConfigFile(std::vector<std::string>& arguments) const;

  CLI::App& app_;
  std::string config_file_;
  bool reads_config_ = false;
  std::map<const CLI::Option*, std::vector<std::string>> words_;  // FlagSpec::one_of.
  std::string heading_ = "Generic flags";
  std::vector<std::pair<const CLI::Option*, std::shared_ptr<options::Flag>>> added_;
};

}  // namespace apiserver::inline v0::program
