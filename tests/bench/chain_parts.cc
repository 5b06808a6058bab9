#include "bench/chain_parts.h"

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "bench/corpus.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

// Of all series of `name` that have `label` among their labels.
double SumOf(const std::string& metrics, std::string_view name, std::string_view label = "") {
  double sum = 0;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    if (line[name.size()] != '{' && line[name.size()] != ' ') continue;
    if (line.find(label) == std::string::npos) continue;
    sum += std::atof(line.c_str() + line.rfind(' '));
  }
  return sum;
}

Status CheckPart(const char* part, double seen, double expected) {
  if (seen >= expected) return {};
  return {Reason::kInternalError, std::string(part) + " has seen " + std::to_string(seen) + " of " +
                                      std::to_string(expected)};
}

}  // namespace

Result<ChainCounts> ChainCountsOf(apiserver::http::Connection& connection) {
  BENCH_ASSIGN(answer, connection.Call(Context::Background(), {.target = "/metrics"}));
  if (answer.code != 200) {
    return Status(Reason::kInternalError, "/metrics answered " + std::to_string(answer.code));
  }
  const std::string& metrics = answer.body;
  return ChainCounts{
      .known_by_certificate =
          SumOf(metrics, "authenticated_user_requests", R"(username="email_id")"),
      .authorized = SumOf(metrics, "authorization_attempts_total", R"(result="allowed")"),
      .dispatched = SumOf(metrics, "apiserver_flowcontrol_dispatched_requests_total"),
      .audited = SumOf(metrics, "apiserver_audit_event_total"),
      .counted = SumOf(metrics, "apiserver_request_total")};
}

Status CheckWholeChain(const ChainCounts& before, const ChainCounts& after, std::size_t requests) {
  const auto expected = static_cast<double>(requests);
  const auto check = [&](const char* part, double ChainCounts::*count, double each) {
    return CheckPart(part, after.*count - before.*count, each * expected);
  };
  for (const Status& checked :
       {check("authentication", &ChainCounts::known_by_certificate, 1),
        check("authorization", &ChainCounts::authorized, 1),
        check("flow control", &ChainCounts::dispatched, 1),
        check("audit", &ChainCounts::audited, 2), check("metrics", &ChainCounts::counted, 1)}) {
    if (!checked.ok()) return checked;
  }
  return {};
}

Status CheckBareChain(const ChainCounts& after) {
  if (after.dispatched == 0 && after.audited == 0) return {};
  return {Reason::kInternalError, "the bare server has audit or flow control on"};
}

}  // namespace bench
