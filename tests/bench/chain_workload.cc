#include "bench/chain_workload.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "bench/audit_folder.h"
#include "bench/chain_parts.h"
#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::http::ClientRequest;
using apiserver::http::DialOptions;

constexpr std::size_t kRoles = 200;
constexpr std::size_t kRulesPerRole = 50;
constexpr std::size_t kUsers = 1'000;
constexpr std::size_t kBindings = 10'000;
constexpr std::size_t kConnections = 32;
constexpr char kRbac[] = "/apis/rbac.authorization.k8s.io/v1";
constexpr char kUser[] = "measured@example.com";

std::string TargetOfW1() { return CollectionOf(NamespaceOf(7)) + "/o-7?resourceVersion=0"; }

std::string UserName(std::size_t n) {
  return "user-" + std::to_string(n % kUsers) + "@example.com";
}
std::string RoleName(std::size_t n) { return "role-" + std::to_string(n % kRoles); }

ClientRequest Create(const std::string& collection, std::string json) {
  return {.method = "POST",
          .target = kRbac + collection,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(json)};
}

ClientRequest CreateRole(const std::string& name, const std::string& rules) {
  return Create("/clusterroles",
                R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":)"
                R"({"name":")" +
                    name + R"("},"rules":[)" + rules + "]}");
}

// The nth of those that say nothing about what is asked for.
ClientRequest CreateOtherRole(std::size_t n) {
  std::string rules;
  for (std::size_t rule = 0; rule < kRulesPerRole; ++rule) {
    if (rule > 0) rules += ',';
    rules += R"({"verbs":["get","list","watch"],"apiGroups":["group)" + std::to_string(rule % 7) +
             R"(.example.com"],"resources":["resources)" +
             std::to_string((n * kRulesPerRole + rule) % 997) + R"("]})";
  }
  return CreateRole(RoleName(n), rules);
}

ClientRequest CreateBinding(const std::string& place, const std::string& name,
                            const std::string& role, const std::string& user) {
  return Create("/namespaces/" + place + "/rolebindings",
                R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":)"
                R"({"name":")" +
                    name +
                    R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
                    R"("name":")" +
                    role +
                    R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User",)"
                    R"("name":")" +
                    user + R"("}]})");
}

// The nth binding. The user who is measured has as many as the others have, all in the namespace
// that is asked; the last one allows it.
ClientRequest CreateNthBinding(std::size_t n) {
  const std::string name = "binding-" + std::to_string(n);
  const std::size_t of_measured = kBindings / kUsers;
  if (n + of_measured < kBindings) {
    return CreateBinding(NamespaceOf(n), name, RoleName(n * 31 + n / kUsers), UserName(n));
  }
  return CreateBinding(NamespaceOf(7), name, n + 1 < kBindings ? RoleName(n) : "reader", kUser);
}

Status CreateAll(const Connections& connections, std::size_t count,
                 const std::function<ClientRequest(std::size_t)>& request) {
  return RunClosedLoop(
             connections,
             {.streams = 8, .operations = count, .expected_code = 201, .request = request})
      .status();
}

// Until the server's view of roles and bindings is complete.
Status WaitUntilAllowed(apiserver::http::Connection& connection) {
  for (int tries = 0; tries < 60'000; ++tries) {
    BENCH_ASSIGN(answer, connection.Call(Context::Background(), {.target = TargetOfW1()}));
    if (answer.code == 200) return {};
    if (answer.code != 403) {
      return {Reason::kInternalError, "answered " + std::to_string(answer.code)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {Reason::kTimeout, "the user was not allowed within a minute"};
}

// Roles first; the binding that allows the user comes last, so that with it all others are known.
Status FillRbac(apiserver::http::Dialer& dialer, const DialOptions& admin, Report& report) {
  BENCH_ASSIGN(connections, DialMany(dialer, admin, 4));
  if (Status made = CreateAll(connections, kRoles, &CreateOtherRole); !made.ok()) return made;
  const Status reader = CreateAll(connections, 1, [](std::size_t) {
    return CreateRole("reader", R"({"verbs":["get"],"apiGroups":["wardle.example.com"],)"
                                R"("resources":["flunders"]})");
  });
  if (!reader.ok()) return reader;
  const auto started = std::chrono::steady_clock::now();
  if (Status made = CreateAll(connections, kBindings - 1, &CreateNthBinding); !made.ok()) {
    return made;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  report.Add({"W1/chain", "set_up_bindings", took.count(), "s"});
  return CreateAll(connections, 1, [](std::size_t) { return CreateNthBinding(kBindings - 1); });
}

// An ordinary user, known by a certificate of the server's own authority.
Result<DialOptions> DialAsUser(const ServerUnderTest& server) {
  const apiserver::FileSystem& files = apiserver::RealFileSystem();
  BENCH_ASSIGN(certificate, files.Read(server.folder() + "/pki/ca.crt"));
  BENCH_ASSIGN(key, files.Read(server.folder() + "/pki/ca.key"));
  BENCH_ASSIGN(pair, apiserver::http::NewCertificate(
                         {.certificate_pem = certificate, .key_pem = key},
                         {.common_name = kUser, .organizations = {"developers"}, .client = true},
                         apiserver::RealClock()));
  DialOptions options = server.dial();
  options.tls->client = pair;
  return options;
}

// The runs of both in turn, and of each pair the quotient.
Status RunInTurn(const Connections& bare_connections, Series& bare,
                 const Connections& chain_connections, Series& chain, Report& report) {
  std::vector<double> ratios;
  for (int run = 0; run < kRuns; ++run) {
    if (Status ran = bare.RunOnce(bare_connections, CachedGets()); !ran.ok()) return ran;
    if (Status ran = chain.RunOnce(chain_connections, CachedGets()); !ran.ok()) return ran;
    ratios.push_back(chain.cpu_us().back() / bare.cpu_us().back());
  }
  bare.AddTo(report);
  chain.AddTo(report);
  report.Add({"W1/chain", "ratio_of_cpu", Median(ratios), "times"});
  report.Add({"W1/chain", "ratio_of_cpu_min", Percentile(ratios, 0), "times"});
  report.Add({"W1/chain", "ratio_of_cpu_max", Percentile(ratios, 1), "times"});
  return {};
}

}  // namespace

LoopOptions CachedGets() {
  return {.streams = 10, .operations = 100'000, .request = [target = TargetOfW1()](std::size_t) {
            return ClientRequest{.target = target};
          }};
}

Status RunChain(const StartServer& start, Report& report) {
  BENCH_ASSIGN(audit, AuditFolder::New());
  BENCH_ASSIGN(bare, start({"--authorization-mode=AlwaysAllow", "--no-enable-priority-and-fairness",
                            "--max-requests-inflight=0", "--max-mutating-requests-inflight=0"}));
  BENCH_ASSIGN(chain, start(audit->Flags()));
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, *bare, 100); !filled.ok()) return filled;
  if (Status filled = Populate(*dialer, *chain, 100); !filled.ok()) return filled;
  if (Status filled = FillRbac(*dialer, chain->dial(), report); !filled.ok()) return filled;
  BENCH_ASSIGN(user, DialAsUser(*chain));
  BENCH_ASSIGN(bare_connections, DialMany(*dialer, bare->dial(), kConnections));
  BENCH_ASSIGN(chain_connections, DialMany(*dialer, user, kConnections));
  if (Status allowed = WaitUntilAllowed(*chain_connections[0]); !allowed.ok()) return allowed;
  BENCH_ASSIGN(bare_admin, dialer->Dial(Context::Background(), bare->dial()));
  BENCH_ASSIGN(chain_admin, dialer->Dial(Context::Background(), chain->dial()));
  BENCH_ASSIGN(before, ChainCountsOf(*chain_admin));
  Series bare_series("W1/bare", *bare);
  Series chain_series("W1/chain", *chain);
  const Status ran =
      RunInTurn(bare_connections, bare_series, chain_connections, chain_series, report);
  if (!ran.ok()) return ran;
  BENCH_ASSIGN(after, ChainCountsOf(*chain_admin));
  BENCH_ASSIGN(of_bare, ChainCountsOf(*bare_admin));
  const std::size_t requests = kRuns * (CachedGets().operations / chain->fewer());
  if (Status whole = CheckWholeChain(before, after, requests); !whole.ok()) return whole;
  if (Status little = CheckBareChain(of_bare); !little.ok()) return little;
  if (audit->Recorded(kUser)) return {};
  return {Reason::kInternalError, "the audit log does not show the user's requests"};
}

}  // namespace bench
