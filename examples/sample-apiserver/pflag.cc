#include "pflag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace sample {

namespace {

std::string ProblemOfBool(const std::string& text) {
  constexpr std::array<std::string_view, 12> kWords = {"1", "t", "T", "true",  "TRUE",  "True",
                                                       "0", "f", "F", "false", "FALSE", "False"};
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return "";
  return "\"" + text + "\" is neither true nor false";
}

}  // namespace

void ReadAsPflag(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;
    const int values = option->get_items_expected_max();
    if (values <= 1) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (values == 0) option->check(ProblemOfBool, "", "BOOL");
  }
}

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

}  // namespace sample
