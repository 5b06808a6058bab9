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
    const auto* const recorder = exchange.Find<rest::WarningRecorderPtr>();
    if (!recorder) {
      if (const auto* const only = exchange.Find<rest::WarningPtr>()) AddOne(*only, head);
      return;
    }
    for (std::string& header : WarningHeaders((*recorder)->Warnings())) {
      head.headers.Add("Warning", std::move(header));
    }
  }

 private:
  // Adds the warning of a read, which makes no list of it unless the warning must be cut.
  static void AddOne(const rest::WarningPtr& only, http::ResponseHead& head) {
    if (only->characters > WarningLimits().total) {
      for (std::string& header : WarningHeaders({only})) {
        head.headers.Add("Warning", std::move(header));
      }
    } else if (!only->header.empty()) {
      head.headers.Add("Warning", only->header);
    }
  }
};

}  // namespace

FilterPtr NewWarnings() { return std::make_unique<Warnings>(); }

}  // namespace apiserver::v0::server
