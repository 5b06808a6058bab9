#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "apiserver/options/flag_set.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace examples {

// The library's flags on CLI11, read as Kubernetes' programs read theirs (github.com/spf13/pflag).
class CliFlags final : public apiserver::options::FlagSet {
 public:
  // `app` must outlive this.
  explicit CliFlags(CLI::App& app) : app_(app) {}

  apiserver::options::FlagPtr Add(apiserver::options::FlagSpec spec) override;

  // For flags of the program's own; switches by add_flag.
  CLI::App& app() { return app_; }
  // Reads main's arguments once all flags are there: of a flag with one value the last counts, a
  // switch takes the words of Go's strconv.ParseBool, `--name=` is an empty value and not the next
  // argument, `-v=2` is 2. Throws CLI::ParseError: help is asked for, or the arguments are wrong.
  void Parse(int argc, const char* const* argv);

 private:
  CLI::App& app_;
  std::vector<std::pair<const CLI::Option*, std::shared_ptr<apiserver::options::Flag>>> added_;
};

}  // namespace examples
