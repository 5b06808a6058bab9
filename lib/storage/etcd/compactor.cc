#include "storage/etcd/compactor.h"

#include <algorithm>
#include <string>

#include "storage/etcd/convert.h"
#include "storage/etcd/shared_revision.h"

namespace apiserver::v0::storage::etcd {
namespace {

// The longest interval between two looks at the injected clock.
constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::seconds kCallMax{30};

}  // namespace

void Compactor::Start() {
  next_ = options_.clock->Now() + options_.interval;
  Wait();
}

void Compactor::Wait() {
  const auto pause = std::clamp(options_.interval / 10, std::chrono::milliseconds(10), kLook);
  client_->timers().After(pause, [self = shared_from_this()] {
    if (self->client_->stopped()) return;
    const auto now = self->options_.clock->Now();
    if (now < self->next_) {
      self->Wait();
      return;
    }
    self->next_ = now + self->options_.interval;
    self->Round();
  });
}

// The transaction takes the turn: only one server can write at the version that all have seen.
void Compactor::Round() {
  compacted_ = client_->known().compacted();
  wire::TxnRequest txn;
  wire::Compare& compare = *txn.add_compare();
  compare.set_result(wire::Compare::EQUAL);
  compare.set_target(wire::Compare::VERSION);
  compare.set_key(kCompactRevisionKey);
  compare.set_version(version_);
  wire::PutRequest& put = *txn.add_success()->mutable_request_put();
  put.set_key(kCompactRevisionKey);
  put.set_value(std::to_string(revision_));
  txn.add_failure()->mutable_request_range()->set_key(kCompactRevisionKey);
  client_->Call<wire::TxnResponse>(
      kTxnMethod, txn, {.deadline = RealClock().Now() + kCallMax, .retry = false, .member = {}},
      [self = shared_from_this()](const RpcOutcome& outcome, const wire::TxnResponse& answer) {
        if (!outcome.ok()) {
          self->Failed(outcome);
          return;
        }
        const kv::Revision revision = answer.header().revision();
        if (answer.succeeded()) {
          self->OnTurn(true, self->version_ + 1, revision, 0);
          return;
        }
        wire::KeyValue held;
        if (!answer.responses().empty() && !answer.responses(0).response_range().kvs().empty()) {
          held = answer.responses(0).response_range().kvs(0);
        }
        // Another server took this turn, so its value tells what it has compacted.
        self->OnTurn(false, held.version(), revision, RevisionOfText(held.value()));
      });
}

void Compactor::OnTurn(bool ours, std::int64_t version, kv::Revision revision,
                       kv::Revision compacted) {
  client_->known().SawRevision(revision);
  client_->known().SawCompaction(compacted);
  // No revision was seen an interval ago: this is the first round.
  if (ours && revision_ != 0) {
    Compact(revision_, version, revision);
    return;
  }
  version_ = version;
  revision_ = revision;
  Wait();
}

void Compactor::BeginJob(kv::Revision at) {
  job_.emplace(options_.progress, *options_.clock,
               ProgressReporter::Job{
                   .what = "compaction", .subject = "etcd", .unit = "revisions", .routine = true});
  // An engine that knows of no compaction cannot tell how many revisions this one is about.
  if (compacted_ > 0 && at > compacted_) {
    job_->Update(0, static_cast<std::uint64_t>(at - compacted_));
  }
  job_->Announce();
}

void Compactor::Compact(kv::Revision at, std::int64_t version, kv::Revision revision) {
  BeginJob(at);
  wire::CompactionRequest request;
  request.set_revision(at);
  client_->Call<wire::CompactionResponse>(
      kCompactMethod, request,
      {.deadline = RealClock().Now() + kCallMax, .retry = true, .member = {}},
      [self = shared_from_this(), at, version, revision](const RpcOutcome& outcome,
                                                         const wire::CompactionResponse&) {
        self->version_ = version;
        self->revision_ = revision;
        if (outcome.ok() || IsCompacted(outcome)) {
          self->client_->known().SawCompaction(at);
          const std::uint64_t total = self->job_->Get().total;
          self->job_->Update(total, total);
          self->job_->Finish();
          Log(*self->options_.log, LogLevel::kDebug, "compacted etcd",
              {{"revision", std::to_string(at)}});
          self->Wait();
        } else {
          self->Failed(outcome);
        }
      });
}

void Compactor::Failed(const RpcOutcome& outcome) {
  if (job_) job_->Finish(client_->StatusOf(outcome));
  if (client_->stopped()) return;
  Log(*options_.log, LogLevel::kWarning, "etcd was not compacted",
      {{"why", client_->StatusOf(outcome).ToString()}});
  Wait();
}

}  // namespace apiserver::v0::storage::etcd
