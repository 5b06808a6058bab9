// Tests of what a doctor asks the members of an etcd.
#include "apiserver/storage/etcd/inspection.h"

#include <catch2/catch.hpp>

#include "storage/etcd/client.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/fixture.h"
#include "storage/etcd/inspect.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{10};

// A member that gives the answers it is told to.
class ScriptedRpc final : public Rpc {
 public:
  explicit ScriptedRpc(wire::StatusResponse state) : state_(std::move(state)) {}

  std::shared_ptr<RpcCall> Unary(const std::string& method, std::string, const RpcOptions&,
                                 Done done) override {
    done(read, method == kStatusMethod ? state_.SerializeAsString() : "");
    return nullptr;
  }
  std::shared_ptr<RpcStream> Stream(const std::string&,
                                    std::shared_ptr<RpcStreamHandler>) override {
    return nullptr;
  }
  std::size_t members() const override { return 1; }

  RpcOutcome read;

 private:
  const wire::StatusResponse state_;
};

MemberReport ReportOf(const wire::StatusResponse& state) {
  return InspectOver({{"http://a:1", std::make_shared<ScriptedRpc>(state)}}, kPatience).at(0);
}

}  // namespace

TEST_CASE("storage.etcd: each member that answers tells its state", "[storage.etcd]") {
  const auto one = StartEtcd(3);
  const auto other = StartEtcd();
  auto options = OptionsFor(one->urls());
  options.servers.push_back(other->urls()[0]);
  const auto reports = Must(Inspect(options, kPatience));

  REQUIRE(reports.size() == 4);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    INFO(reports[i].status.ToString());
    CHECK(reports[i].status.ok());
    CHECK(reports[i].server == options.servers[i]);
    CHECK(reports[i].supported);
    CHECK(reports[i].version.starts_with("3."));
    CHECK(reports[i].database_bytes >= reports[i].used_bytes);
    CHECK(reports[i].used_bytes > 0);
    CHECK(reports[i].alarms.empty());
  }
  CHECK(reports[0].cluster_id == reports[2].cluster_id);
  CHECK(reports[0].member_id != reports[2].member_id);
  CHECK(reports[0].cluster_id != reports[3].cluster_id);
}

TEST_CASE("storage.etcd: members that are down or hang are told of in time", "[storage.etcd]") {
  const auto server = StartEtcd(3);
  server->Kill(0);
  server->Pause(1);
  const auto began = RealClock().Now();
  auto reports = Must(Inspect(OptionsFor(server->urls()), milliseconds(1500)));
  CHECK(RealClock().Now() - began < seconds(10));

  CHECK(reports[0].status.reason() == Reason::kServiceUnavailable);
  CHECK(reports[0].status.message().find("connection refused") != std::string_view::npos);
  CHECK(reports[0].version.empty());
  CHECK(reports[1].status.reason() == Reason::kTimeout);
  // The last one is there, but alone it may not read.
  CHECK_FALSE(reports[2].status.ok());
  CHECK(reports[2].supported);
  server->Resume(1);
}

TEST_CASE("storage.etcd: an alarm is told, with the member that raised it", "[storage.etcd]") {
  const auto server = StartEtcd(1, {.arguments = {"--quota-backend-bytes=65536"}});
  const auto s = OpenSubject(OptionsFor(server->urls()));
  // The write that reaches the quota raises the alarm.
  const std::string value(60'000, 'x');
  REQUIRE(Eventually(
      [&, i = 0]() mutable { return !s->Create("key" + std::to_string(i++), value).ok(); }));
  const MemberReport report = Must(Inspect(OptionsFor(server->urls()), kPatience)).at(0);

  CHECK(report.status.ok());
  CHECK(report.alarms == std::vector<Alarm>{{"NOSPACE", report.member_id}});
}

TEST_CASE("storage.etcd: versions, quotas and alarms are read from what a member says",
          "[storage.etcd]") {
  wire::StatusResponse state;
  state.set_version("3.3.27");
  state.set_db_size(4096);
  const MemberReport old = ReportOf(state);
  CHECK(old.status.ok());
  CHECK_FALSE(old.supported);
  CHECK(old.quota_bytes == 0);

  state.set_version("3.6.1");
  state.set_db_size_quota(1 << 30);
  state.add_errors("etcdserver: no leader");
  state.add_errors("memberID:10276657743932975437  alarm:CORRUPT");
  state.add_errors("memberID:7 alarm:NOSPACE ");
  const MemberReport report = ReportOf(state);
  CHECK(report.supported);
  CHECK(report.quota_bytes == 1 << 30);
  CHECK(report.alarms == std::vector<Alarm>{{"CORRUPT", 10276657743932975437U}, {"NOSPACE", 7}});

  state.set_db_size_quota(-1);  // Without a limit.
  CHECK(ReportOf(state).quota_bytes == 0);
}

TEST_CASE("storage.etcd: a refusal of our credentials is told by its reason", "[storage.etcd]") {
  const auto rpc = std::make_shared<ScriptedRpc>(wire::StatusResponse());
  rpc->read = {RpcCode::kPermissionDenied, "etcdserver: permission denied"};
  const MemberReport report = InspectOver({{"http://a:1", rpc}}, kPatience).at(0);
  CHECK(report.status.reason() == Reason::kInternalError);
  CHECK(report.status.message().find("the rights of its user") != std::string_view::npos);
}

TEST_CASE("storage.etcd: options that do not fit together are not asked with", "[storage.etcd]") {
  auto options = OptionsFor({"http://127.0.0.1:1"});
  options.ca_file = "/nonexistent/ca";
  CHECK(Inspect(options, kPatience).status().reason() == Reason::kInvalid);
  options.servers = {"https://127.0.0.1:1"};
  CHECK(Inspect(options, kPatience).status().message().find("/nonexistent/ca") !=
        std::string_view::npos);
}

}  // namespace apiserver::inline v0::storage::etcd
