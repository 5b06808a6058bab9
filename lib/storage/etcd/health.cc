#include "storage/etcd/health.h"

#include <utility>

#include "storage/etcd/convert.h"
#include "storage/etcd/shared_revision.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::seconds kBetweenChecks{1};
constexpr std::chrono::seconds kBetweenCounts{60};

}  // namespace

void Health::Start(Status first) {
  *status_.Lock() = std::move(first);
  Check();
  Count();
}

void Health::Check() {
  // Any read would show that etcd answers. This key also tells how far it is compacted.
  wire::RangeRequest request;
  request.set_key(kCompactRevisionKey);
  client_->Call<wire::RangeResponse>(
      kRangeMethod, request,
      {.deadline = RealClock().Now() + timeout_, .retry = true, .member = {}},
      [self = shared_from_this()](const RpcOutcome& outcome, const wire::RangeResponse& response) {
        if (self->client_->stopped()) return;
        if (outcome.ok()) {
          self->client_->known().SawRevision(response.header().revision());
          if (!response.kvs().empty()) {
            self->client_->known().SawCompaction(RevisionOfText(response.kvs(0).value()));
          }
        }
        self->Tell(outcome.ok() ? Status() : self->client_->StatusOf(outcome));
        self->client_->timers().After(kBetweenChecks, [self] {
          if (!self->client_->stopped()) self->Check();
        });
      });
}

void Health::Tell(const Status& status) {
  bool changed = false;
  {
    auto now = status_.Lock();
    changed = now->ok() != status.ok();
    *now = status;
  }
  if (!changed) return;
  if (status.ok()) {
    Log(log_, LogLevel::kInfo, "etcd answers again", {{"servers", client_->servers()}});
  } else {
    Log(log_, LogLevel::kError, "etcd does not answer", {{"why", status.ToString()}});
  }
}

void Health::Count() {
  wire::RangeRequest request;
  request.set_key(std::string(1, '\0'));
  request.set_range_end(std::string(1, '\0'));
  request.set_count_only(true);
  // A rough number will do, and a serializable read asks only one member.
  request.set_serializable(true);
  client_->Call<wire::RangeResponse>(
      kRangeMethod, request,
      {.deadline = RealClock().Now() + timeout_, .retry = false, .member = {}},
      [self = shared_from_this()](const RpcOutcome& outcome, const wire::RangeResponse& response) {
        if (outcome.ok()) self->keys_.store(static_cast<std::size_t>(response.count()));
        self->client_->timers().After(kBetweenCounts, [self] {
          if (!self->client_->stopped()) self->Count();
        });
      });
}

}  // namespace apiserver::v0::storage::etcd
