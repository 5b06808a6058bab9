#include "apiserver/rest/warnings.h"

#include <string>
#include <utility>
#include <vector>

#include "server/filters/filters.h"
#include "server/requests/warning_header.h"

namespace apiserver::v0::server {

namespace {

class Warnings final : public http::Filter {
 public:
  std::string_view name() const override { return "warnings"; }

  http::Step Begin(http::Exchange& exchange) const override {
    // A read causes no warnings, except for a deprecated version, which brings its own recorder.
    if (exchange.request().method != "GET") {
      exchange.Set(std::make_shared<rest::WarningRecorder>());
    }
    return http::Step::Next();
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    std::vector<rest::WarningPtr> warnings;
    if (const auto* recorder = exchange.Find<rest::WarningRecorderPtr>()) {
      warnings = (*recorder)->Warnings();
    } else if (const auto* only = exchange.Find<rest::WarningPtr>()) {
      warnings.push_back(*only);
    } else {
      return;
    }
    for (std::string& header : WarningHeaders(warnings)) {
      head.headers.Add("Warning", std::move(header));
    }
  }
};

}  // namespace

FilterPtr NewWarnings() { return std::make_unique<Warnings>(); }

}  // namespace apiserver::v0::server
