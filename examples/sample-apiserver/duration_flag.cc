#include "duration_flag.h"

#include <CLI/CLI.hpp>

#include "apiserver/options/flag_set.h"

namespace sample {

CLI::Option* AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& value,
                         const std::string& help) {
  const auto read = [&value, name](const CLI::results_t& texts) {
    const auto duration = apiserver::options::ParseDuration(texts.at(0));
    if (!duration.ok()) {
      throw CLI::ValidationError(name, std::string(duration.status().message()));
    }
    value = *duration;
    return true;
  };
  return app.add_option(name, read, help)->type_name("DURATION");
}

}  // namespace sample
