#include "bench/rbac_workload.h"

#include <chrono>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/context.h"
#include "bench/series.h"

namespace bench {

namespace {

namespace auth = apiserver::auth;
namespace rbac = apiserver::authz::rbac;
using apiserver::Reason;
using apiserver::Status;

constexpr std::size_t kRoles = 200;
constexpr std::size_t kRulesPerRole = 50;
constexpr std::size_t kUsers = 1'000;
constexpr std::size_t kNamespaces = 100;
constexpr std::size_t kDecisions = 1'000'000;

std::string UserName(std::size_t n) {
  return "user-" + std::to_string(n % kUsers) + "@example.com";
}
std::string RoleName(std::size_t n) { return "role-" + std::to_string(n % kRoles); }
std::string ResourceName(std::size_t role, std::size_t rule) {
  return "resources" + std::to_string((role * kRulesPerRole + rule) % 997);
}
std::string PlaceName(std::size_t n) { return "namespace-" + std::to_string(n % kNamespaces); }

// Half of the bindings are cluster-wide, half are in namespaces; each user has as many as any
// other.
std::unique_ptr<rbac::RbacAuthorizer> NewPolicy(std::size_t bindings) {
  auto authorizer = rbac::NewRbacAuthorizer();
  for (std::size_t role = 0; role < kRoles; ++role) {
    rbac::Role made{"", RoleName(role), {}};
    for (std::size_t rule = 0; rule < kRulesPerRole; ++rule) {
      made.rules.push_back({.verbs = {"get", "list", "watch"},
                            .api_groups = {"group" + std::to_string(rule % 7) + ".example.com"},
                            .resources = {ResourceName(role, rule)}});
    }
    authorizer->Upsert(std::move(made));
  }
  for (std::size_t n = 0; n < bindings; ++n) {
    const std::size_t role = n * 31 + n / kUsers;
    authorizer->Upsert(rbac::Binding{n / kUsers % 2 == 0 ? "" : PlaceName(n),
                                     "binding-" + std::to_string(n),
                                     {"ClusterRole", RoleName(role)},
                                     {{"User", UserName(n)}}});
  }
  return authorizer;
}

struct Asked {
  auth::UserInfoPtr user;
  std::string group, resource, place;
};

// Every other is allowed; the rest asks for what no role has.
std::vector<Asked> NewQuestions(std::size_t bindings) {
  std::vector<Asked> questions;
  for (std::size_t n = 0; n < 20'011; ++n) {
    const std::size_t binding = n * 7'919 % bindings;
    const std::size_t role = (binding * 31 + binding / kUsers) % kRoles;
    const std::size_t rule = n % kRulesPerRole;
    questions.push_back(
        {.user = std::make_shared<const auth::UserInfo>(auth::UserInfo{
             .name = UserName(binding), .groups = {"system:authenticated", "developers"}}),
         .group = "group" + std::to_string(rule % 7) + ".example.com",
         .resource = n % 2 == 0 ? ResourceName(role, rule) : "secrets",
         .place = PlaceName(binding)});
  }
  return questions;
}

// What this thread has had of a CPU: others may want it too.
std::chrono::nanoseconds CpuTime() {
  timespec used{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

double MicrosecondsOf(std::chrono::nanoseconds took, std::size_t count) {
  return std::chrono::duration<double, std::micro>(took).count() / static_cast<double>(count);
}

Status Measure(const std::string& name, std::size_t bindings, Report& report) {
  const auto begun = CpuTime();
  const auto authorizer = NewPolicy(bindings);
  const double filled = MicrosecondsOf(CpuTime() - begun, bindings + kRoles);
  const std::vector<Asked> questions = NewQuestions(bindings);
  const auto ctx = apiserver::Context::Background();
  std::vector<double> micros;
  for (int run = 0; run < kRuns; ++run) {
    std::size_t allowed = 0;
    const auto start = CpuTime();
    for (std::size_t n = 0; n < kDecisions; ++n) {
      const Asked& asked = questions[n % questions.size()];
      const auto verdict = authorizer->Authorize(ctx, {.user = asked.user,
                                                       .verb = "get",
                                                       .resource_request = true,
                                                       .group = asked.group,
                                                       .resource = asked.resource,
                                                       .namespace_ = asked.place,
                                                       .name = "one"});
      if (verdict.ok() && verdict->decision == auth::Decision::kAllow) ++allowed;
    }
    micros.push_back(MicrosecondsOf(CpuTime() - start, kDecisions));
    if (allowed < kDecisions * 2 / 5 || allowed > kDecisions * 3 / 5) {
      return {Reason::kInternalError, name + ": " + std::to_string(allowed) + " were allowed"};
    }
  }
  report.Add({name, "decision", Median(micros), "us"});
  report.Add({name, "upsert", filled, "us"});
  return {};
}

}  // namespace

Status RunRbac(Report& report) {
  if (Status small = Measure("W16a/1000", 1'000, report); !small.ok()) return small;
  return Measure("W16a", 10'000, report);
}

}  // namespace bench
