#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

// Where CLI11 reads a command line otherwise than Kubernetes' programs do (github.com/spf13/pflag).
namespace sample {

// Once all flags are there: of a flag with one value the last counts, and a switch takes the words
// of Go's strconv.ParseBool. Switches must have been made by add_flag.
void ReadAsPflag(CLI::App& app);

// For App::parse(), last first. `--name=` is an empty value, not the next argument; `-v=2` is 2.
std::vector<std::string> Arguments(int argc, const char* const* argv);

}  // namespace sample
