#pragma once

#include <array>
#include <string_view>

namespace apiserver::inline v0::program {

// A command of every program: `<program> <name>`.
struct Command {
  std::string_view name;
  std::string_view help;
};

inline constexpr std::array kCommands = {
    Command{"crd", "Print the kinds as CustomResourceDefinitions"},
    Command{"openapi", "Print the OpenAPI documents; openapi --help says which"},
    Command{"manifests", "Print the objects that deploy this server in a cluster"},
    Command{"doctor", "Say why this server does not work; doctor --help lists its flags"},
    Command{"completion", "Print the completions of a shell: completion bash, zsh or fish"},
    Command{"man", "Print the manual page"},
};

}  // namespace apiserver::inline v0::program
