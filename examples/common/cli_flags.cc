#include "common/cli_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>

namespace examples {

namespace {

namespace options = apiserver::options;

// Adds one flag to an app, by the type of its value.
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
      const apiserver::Status status = read_texts(texts);
      if (!status.ok()) throw CLI::ValidationError(name, std::string(status.message()));
      return true;
    };
    return app.add_option(spec.name, read, spec.help)
        ->type_name(spec.type_name)
        ->expected(1, 1000)
        ->take_all();
  }
};

std::string ProblemOfBool(const std::string& text) {
  constexpr std::array<std::string_view, 12> kWords = {"1", "t", "T", "true",  "TRUE",  "True",
                                                       "0", "f", "F", "false", "FALSE", "False"};
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return "";
  return "\"" + text + "\" is neither true nor false";
}

// Mends what CLI11 reads otherwise than pflag does.
void ReadAsPflag(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;
    const int values = option->get_items_expected_max();
    if (values <= 1) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (values == 0) option->check(ProblemOfBool, "", "BOOL");
  }
}

// For App::parse(), last first.
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
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

}  // namespace

options::FlagPtr CliFlags::Add(options::FlagSpec spec) {
  CLI::Option* option = std::visit(Adder{.app = app_, .spec = spec}, spec.value);
  if (spec.range) option->check(CLI::Range(spec.range->min, spec.range->max));
  if (!spec.one_of.empty()) option->check(CLI::IsMember(spec.one_of));
  if (spec.comma_separated) option->delimiter(',');
  if (spec.show_default) option->capture_default_str();
  const auto flag = std::make_shared<options::Flag>(options::Flag{.name = std::move(spec.name)});
  added_.emplace_back(option, flag);
  return flag;
}

void CliFlags::Parse(int argc, const char* const* argv) {
  ReadAsPflag(app_);
  app_.parse(Arguments(argc, argv));
  for (const auto& [option, flag] : added_) flag->given = option->count() > 0;
}

}  // namespace examples
