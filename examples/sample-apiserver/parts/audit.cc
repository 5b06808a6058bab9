#include "apiserver/options/audit.h"

#include <cstdio>
#include <memory>
#include <string>

#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;

// This program's standard output, for --audit-log-path=-: the library writes to no stream of its
// host's.
class StandardOutput final : public apiserver::audit::LineWriter {
 public:
  Status Write(std::string_view lines) override {
    const bool written = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() &&
                         std::fflush(stdout) == 0;
    if (written) return {};
    return {apiserver::Reason::kInternalError, "cannot write to standard output"};
  }
};

class Audit final : public Part {
 public:
  Audit() {
    audit_.values.standard_output = [] { return std::make_unique<StandardOutput>(); };
  }

  void AddFlags(examples::CliFlags& flags) override { audit_.AddFlags(flags); }

  std::string Problem(const Options& /*options*/) const override {
    const std::vector<std::string> problems = audit_.Validate();
    return problems.empty() ? "" : problems.front();
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    return audit_.ApplyTo(config, environment.log);
  }

 private:
  apiserver::options::AuditOptions audit_;
};

}  // namespace

std::unique_ptr<Part> NewAudit() { return std::make_unique<Audit>(); }

}  // namespace sample
