#include "storage/etcd/inspect.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "storage/etcd/client.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/members.h"
#include "storage/etcd/shared_revision.h"
#include "storage/etcd/shown_certificates.h"
#include "storage/etcd/transport_options.h"

namespace apiserver::v0::storage::etcd {
namespace {

// Returns what follows `name` in a message that protobuf has printed, up to the next space.
std::string_view ValueIn(std::string_view printed, std::string_view name) {
  const std::size_t at = printed.find(name);
  if (at == std::string_view::npos) return "";
  const std::string_view value = printed.substr(at + name.size());
  return value.substr(0, value.find(' '));
}

// Parses "memberID:10276657743932975437 alarm:NOSPACE ". A member tells alarms as texts, among
// other errors; the call that lists them would write to etcd's log.
std::optional<Alarm> AlarmIn(std::string_view error) {
  const std::string_view name = ValueIn(error, "alarm:");
  if (name.empty()) return std::nullopt;
  Alarm alarm{.name = std::string(name)};
  const std::string_view id = ValueIn(error, "memberID:");
  (void)std::from_chars(id.data(), id.data() + id.size(), alarm.member_id);
  return alarm;
}

std::size_t BytesOf(std::int64_t told) {
  return told > 0 ? static_cast<std::size_t>(told) : 0;  // Negative: a quota without a limit.
}

// The questions to one member: its state, then a read.
class Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(const MemberTransport& member, Timers& timers)
      : client_(std::make_shared<Client>(member.rpc, timers, member.server)) {
    report_.server = member.server;
  }

  void Begin(Clock::Monotonic deadline) {
    client_->Call<wire::StatusResponse>(
        kStatusMethod, wire::StatusRequest(), {.deadline = deadline, .member = 0},
        [self = shared_from_this(), deadline](const RpcOutcome& outcome,
                                              const wire::StatusResponse& response) {
          if (!outcome.ok()) return self->Finish(outcome);
          self->Note(response);
          self->Read(deadline);
        });
  }

  // Waits for the end of the visit.
  MemberReport End() {
    MemberReport report = *done_.Wait();
    client_->Stop();
    client_->Drain();
    client_->rpc().Stop();
    return report;
  }

 private:
  void Note(const wire::StatusResponse& state) {
    report_.version = state.version();
    report_.supported = IsSupported(state.version());
    report_.cluster_id = state.header().cluster_id();
    report_.member_id = state.header().member_id();
    report_.database_bytes = BytesOf(state.db_size());
    report_.used_bytes = BytesOf(state.db_size_in_use());
    report_.quota_bytes = BytesOf(state.db_size_quota());
    for (const std::string& error : state.errors()) {
      if (auto alarm = AlarmIn(error)) report_.alarms.push_back(*std::move(alarm));
    }
  }

  // A member answers for its state even if it has lost the others, and whatever our rights are.
  void Read(Clock::Monotonic deadline) {
    wire::RangeRequest request;
    request.set_key(kCompactRevisionKey);
    client_->Call<wire::RangeResponse>(
        kRangeMethod, request, {.deadline = deadline, .member = 0},
        [self = shared_from_this(), began = RealClock().Now()](const RpcOutcome& outcome,
                                                               const wire::RangeResponse&) {
          self->report_.took =
              std::chrono::duration_cast<std::chrono::milliseconds>(RealClock().Now() - began);
          self->Finish(outcome);
        });
  }

  void Finish(const RpcOutcome& outcome) {
    if (!outcome.ok()) report_.status = client_->StatusOf(outcome);
    done_.Set(report_);
  }

  const std::shared_ptr<Client> client_;
  MemberReport report_;  // Changed by one call after the other.
  Pending<MemberReport> done_;
};

}  // namespace

std::vector<MemberReport> InspectOver(const std::vector<MemberTransport>& members,
                                      std::chrono::milliseconds timeout) {
  const Clock::Monotonic deadline = RealClock().Now() + timeout;
  Timers timers;
  std::vector<std::shared_ptr<Visit>> visits;
  for (const MemberTransport& member : members) {
    visits.push_back(std::make_shared<Visit>(member, timers));
    visits.back()->Begin(deadline);
  }
  std::vector<MemberReport> reports;
  reports.reserve(visits.size());
  for (const auto& visit : visits) reports.push_back(visit->End());
  return reports;
}

Result<std::vector<MemberReport>> Inspect(const Options& options,
                                          std::chrono::milliseconds timeout) {
  ASSIGN_OR_RETURN(Transport transport, TransportOf(options));
  std::vector<std::optional<http::CertificateFacts>> shown;
  Thread asking("certificates", [&shown, http = transport.http, timeout] {
    shown = ShownCertificates(http, timeout);
  });
  std::vector<MemberTransport> members;
  for (const Endpoint& endpoint : std::exchange(transport.http.endpoints, {})) {
    transport.http.endpoints = {endpoint};
    members.push_back({endpoint.text, NewRpc(transport)});
  }
  std::vector<MemberReport> reports = InspectOver(members, timeout);
  asking.Join();
  for (std::size_t i = 0; i < reports.size(); ++i) reports[i].certificate = std::move(shown[i]);
  return reports;
}

}  // namespace apiserver::v0::storage::etcd
