#pragma once

#include <chrono>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sample {

// A flag whose values are Go's durations of whole milliseconds: "5m", "1m30s", "0". `help` names
// the default.
CLI::Option* AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& value,
                         const std::string& help);

}  // namespace sample
