#include "program/cli_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>

#include "apiserver/base/file_system.h"
#include "base/status_macros.h"
#include "program/config_file.h"
#include "program/nearest.h"
#include "text/bool.h"

namespace apiserver::v0::program {

namespace {

// Adds one flag to an app, depending on the type of its value.
struct Adder {
  CLI::App& app;
  const options::FlagSpec& spec;

  CLI::Option* operator()(bool* value) const {
    const std::string off = spec.off_name.empty() ? "" : ",!" + spec.off_name;
    return app.add_flag(spec.name + off, *value, spec.help);
  }
  template <typename T>
  CLI::Option* operator()(T* value) const {
    return app.add_option(spec.name, *value, spec.help);
  }
  CLI::Option* operator()(std::chrono::milliseconds* value) const {
    const auto read = [value, name = spec.name](const CLI::results_t& texts) {
      const auto duration = options::ParseDuration(texts.at(0));
      if (!duration.ok()) {
        throw CLI::ValidationError(name, std::string(duration.status().message()));
      }
      *value = *duration;
      return true;
    };
    return app.add_option(spec.name, read, spec.help)->type_name("DURATION");
  }
  CLI::Option* operator()(const options::ReadTexts& read_texts) const {
    const auto read = [read_texts, name = spec.name](const CLI::results_t& texts) {
      const Status status = read_texts(texts);
      if (!status.ok()) throw CLI::ValidationError(name, std::string(status.message()));
      return true;
    };
    return app.add_option(spec.name, read, spec.help)
        ->type_name(spec.type_name)
        ->expected(1, 1000)
        ->take_all();
  }
};

// The words of Go's strconv.ParseBool.
std::string ProblemOfBool(const std::string& text) {
  if (text::ParseBool(text)) return "";
  return "\"" + text + "\" is neither true nor false";
}

// Corrects what CLI11 reads otherwise than pflag does.
// pflag takes the last of several values, and refuses a switch's value that is no bool.
void ReadAsPflag(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr() || option == app.get_version_ptr()) continue;
    const int values = option->get_items_expected_max();
    if (values <= 1) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (values == 0) option->check(ProblemOfBool, "", "BOOL");
  }
}

// Returns the arguments in their order.
// Mends two differences: "-v=2", and "--flag=" for an empty value.
std::vector<std::string> Arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("-v=")) argument.insert(0, 1, '-');
    const bool empty_value =
        argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (empty_value) argument.pop_back();
    arguments.push_back(std::move(argument));
    if (empty_value) arguments.emplace_back();
  }
  return arguments;
}

// Returns the long names of all flags, with their dashes.
std::vector<std::string> NamesOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

Reading Refused(std::string_view what, int exit_code) {
  return {.exit = true, .exit_code = exit_code, .text = "error: " + std::string(what) + "\n"};
}

int Print(const Reading& reading) {
  std::FILE* const stream = reading.exit_code == kExitOk ? stdout : stderr;
  std::fputs(reading.text.c_str(), stream);
  std::fflush(stream);
  return reading.exit_code;
}

// The returned Flag is shared: its `given` is set after parsing.
options::FlagPtr CliFlags::Add(options::FlagSpec spec) {
  CLI::Option* option = std::visit(Adder{.app = app_, .spec = spec}, spec.value);
  if (spec.range) option->check(CLI::Range(spec.range->min, spec.range->max));
  if (!spec.one_of.empty()) option->check(CLI::IsMember(spec.one_of));
  words_[option] = spec.one_of;
  if (spec.comma_separated) option->delimiter(',');
  if (spec.show_default) option->capture_default_str();
  Show(*option);
  const auto flag = std::make_shared<options::Flag>(options::Flag{.name = std::move(spec.name)});
  added_.emplace_back(option, flag);
  return flag;
}

void CliFlags::BeginSection(std::string_view title) { heading_ = std::string(title) + " flags"; }

void CliFlags::Show(CLI::Option& option) const { option.group(heading_); }

void CliFlags::AddConfigFlag() {
  reads_config_ = true;
  Show(*app_.add_option("--config", config_file_,
                        "A file of flags, kind ServerConfiguration of " +
                            std::string(kConfigApiVersion) +
                            "; those of the command line take their place"));
}

std::vector<FlagText> CliFlags::Texts() const {
  std::vector<FlagText> texts;
  for (const CLI::Option* option : app_.get_options()) {
    FlagText text{.names = {}, .help = option->get_description(), .section = option->get_group()};
    for (const std::string& name : option->get_lnames()) text.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) text.names.push_back("-" + name);
    if (option->get_items_expected_max() > 0) text.value = option->get_type_name();
    if (const auto words = words_.find(option); words != words_.end()) text.words = words->second;
    // "BOOL" is what ReadAsPflag() calls a switch's value; a check adds its own description.
    text.value = text.value.substr(0, text.value.find(':'));
    texts.push_back(std::move(text));
  }
  return texts;
}

Status CliFlags::AddConfigFile(std::vector<std::string>& arguments) const {
  std::string file;
  std::vector<std::string> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (!name.starts_with("--")) continue;
    given.push_back(name);
    if (name != "--config") continue;
    const bool joined = name.size() < arguments[i].size();
    if (joined) file = arguments[i].substr(name.size() + 1);
    if (!joined && i + 1 < arguments.size()) file = arguments[i + 1];
  }
  if (file.empty()) return {};
  ASSIGN_OR_RETURN(std::vector<std::string> flags,
                   ReadConfigFile(RealFileSystem(), file, NamesOf(app_), given));
  arguments.insert(arguments.begin(), flags.begin(), flags.end());
  return {};
}

// Exceptions of CLI11 end here; no other code sees them.
Reading CliFlags::Parse(int argc, const char* const* argv) {
  ReadAsPflag(app_);
  // CLI11's own refusal of an unknown flag has no suggestion.
  app_.allow_extras();
  std::vector<std::string> arguments = Arguments(argc, argv);
  if (reads_config_) {
    const Status read = AddConfigFile(arguments);
    if (!read.ok()) return Refused("--config: " + std::string(read.message()));
  }
  std::ranges::reverse(arguments);  // As App::parse() takes them.
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return {.exit = true, .text = app_.help()};
  } catch (const CLI::CallForVersion& version) {
    return {.exit = true, .text = version.what() + std::string("\n")};
  } catch (const CLI::ParseError& error) {
    return Refused(error.what());
  }
  const std::vector<std::string> extras = app_.remaining();
  if (!extras.empty()) return RefuseExtra(extras.front());
  for (const auto& [option, flag] : added_) flag->given = option->count() > 0;
  return {};
}

// A switch is a flag without a value for pflag too: "--flag true" leaves "true" over.
Reading CliFlags::RefuseExtra(const std::string& argument) const {
  if (!argument.starts_with('-')) {
    return Refused("unexpected argument: " + argument +
                   "; the value of a switch is given as --name=value");
  }
  const std::string name = argument.substr(0, argument.find('='));
  const std::string nearest = Nearest(name, NamesOf(app_));
  return Refused("unknown flag: " + name +
                     (nearest.empty() ? "; --help lists all" : "; did you mean " + nearest + "?"),
                 kExitUnknownFlag);
}

}  // namespace apiserver::v0::program
