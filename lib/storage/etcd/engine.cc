#include "apiserver/storage/etcd/engine.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/etcd/compactor.h"
#include "storage/etcd/health.h"
#include "storage/etcd/http_rpc.h"
#include "storage/etcd/members.h"
#include "storage/etcd/open.h"
#include "storage/etcd/pages.h"
#include "storage/etcd/shared_revision.h"
#include "storage/etcd/transport_options.h"
#include "storage/etcd/watch_hub.h"
#include "storage/etcd/write.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

// The time that running calls have to end when the engine stops.
constexpr std::chrono::seconds kStopGrace{1};
constexpr std::chrono::seconds kContactRound{5};
constexpr std::chrono::milliseconds kContactPause{200};

class HubTail final : public kv::Tail {
 public:
  HubTail(std::shared_ptr<WatchHub> hub, std::shared_ptr<TailQueue> queue)
      : hub_(std::move(hub)), queue_(std::move(queue)) {}
  ~HubTail() override { hub_->Detach(queue_); }

  State Next(kv::EventBatch& batch, const Waker& waker) override {
    const TailQueue::Read read = queue_->Next(batch, waker);
    // The queue ran empty after the hub had left it for being full: the hub is asked to go on.
    if (read.empty && queue_->starving) hub_->Attach(queue_);
    ended_ = read.state == State::kEnd;
    return read.state;
  }
  Status status() const override { return ended_ ? queue_->status() : Status(); }
  kv::Revision compacted_revision() const override { return ended_ ? queue_->compacted() : 0; }

 private:
  const std::shared_ptr<WatchHub> hub_;
  const std::shared_ptr<TailQueue> queue_;
  bool ended_ = false;
};

class EtcdEngine final : public kv::Engine {
 public:
  EtcdEngine(std::shared_ptr<Rpc> rpc, const std::string& servers, const Options& options)
      : options_(options),
        client_(std::make_shared<Client>(std::move(rpc), timers_, servers)),
        hub_(std::make_shared<WatchHub>(
            client_,
            WatchHub::Options{.tail_bytes_max = options.tail_bytes_max, .log = &options.log})),
        members_(std::make_shared<Members>(
            client_, [hub = hub_](bool trusted) { hub->SetProgressTrusted(trusted); })),
        health_(std::make_shared<Health>(client_, options.health_timeout, options.log)),
        revision_(std::make_shared<SharedRevision>(client_, options.request_timeout)) {}
  ~EtcdEngine() override { Stop(); }

  // Contacts the members and starts the background work.
  Status Start();

  std::string_view name() const override { return "etcd"; }
  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override;
  std::unique_ptr<kv::Pages> ReadPages(const Context& ctx, std::string_view prefix) override {
    return NewPages(client_, ctx, {.prefix = prefix, .timeout = options_.request_timeout});
  }
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override;
  void TxnAsync(const Context& ctx, kv::TxnRequest request,
                UniqueFunction<void(Result<kv::TxnResponse>)> done) override;
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, kv::Revision from) override;
  Status RequestProgress(const Context& ctx) override;
  Result<kv::Revision> CurrentRevision(const Context& ctx) override;
  void CurrentRevisionAsync(const Context& ctx,
                            UniqueFunction<void(Result<kv::Revision>)> done) override;
  Status Compact(const Context& ctx, kv::Revision revision) override;
  kv::Revision CompactedRevision() const override { return client_->known().compacted(); }
  Result<kv::LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) override;
  kv::Stats GetStats() const override {
    const Members::Bytes bytes = members_->bytes();
    return {
        .keys = health_->keys(), .bytes = bytes.used, .history_bytes = 0, .file_bytes = bytes.file};
  }
  Status Ready() const override {
    return client_->stopped() ? kv::NewStoppedError() : health_->Ready();
  }
  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view /*prefix*/,
                                                   kv::Observer& /*observer*/) override {
    return Status(Reason::kMethodNotAllowed, "etcd is followed by tails, not observed");
  }
  void Stop() override;

 private:
  // Checks that a call that has to wait may go on.
  Status Enter(const Context& ctx, const kv::CallGate::Pass& pass) const;
  Clock::Monotonic DeadlineOf(const Context& ctx) const {
    const auto ours = RealClock().Now() + options_.request_timeout;
    return std::min(ctx.deadline().value_or(ours), ours);
  }
  Status Meet();
  // Makes one idempotent call and waits for it. `ctx` may end it.
  template <class Response, class Request>
  Result<Response> Wait(const Context& ctx, const char* method, const Request& request,
                        RpcOutcome* failure);

  const Options options_;
  Timers timers_;
  const std::shared_ptr<Client> client_;
  const std::shared_ptr<WatchHub> hub_;
  const std::shared_ptr<Members> members_;
  const std::shared_ptr<Health> health_;
  const std::shared_ptr<SharedRevision> revision_;
  kv::CallGate gate_;
};

Status EtcdEngine::Start() {
  Status met = Meet();
  if (!met.ok() && options_.require_contact) return met;
  health_->Start(met);
  members_->Watch();
  if (options_.compaction_interval.count() > 0) {
    std::make_shared<Compactor>(client_,
                                Compactor::Options{.interval = options_.compaction_interval,
                                                   .progress = options_.progress,
                                                   .clock = &options_.clock,
                                                   .log = &options_.log})
        ->Start();
  }
  return Status::Ok();
}

Status EtcdEngine::Meet() {
  const auto deadline = RealClock().Now() + options_.dial_timeout;
  for (;;) {
    const auto asked = std::make_shared<Pending<bool>>();
    members_->Ask(std::min(deadline, RealClock().Now() + kContactRound),
                  [asked](const Status& status) {
                    asked->Set(status.ok() ? Result<bool>(true) : Result<bool>(status));
                  });
    const auto answered = asked->Wait();
    if (answered.ok()) break;
    // A refusal of credentials would only be repeated.
    const bool wait = options_.require_contact &&
                      answered.status().reason() != Reason::kInternalError &&
                      RealClock().Now() + kContactPause < deadline;
    if (!wait) return NewNotMetError(answered.status());
    Pending<bool> never;
    (void)never.WaitUntil(RealClock().Now() + kContactPause);
  }
  // etcd answers Status to every client, but not reads of keys.
  const Status read = CurrentRevision(Context::Background()).status();
  return read.ok() ? read : NewNotMetError(read);
}

Status EtcdEngine::Enter(const Context& ctx, const kv::CallGate::Pass& pass) const {
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "etcd has to be asked");
  return Status::Ok();
}

Result<kv::RangeResponse> EtcdEngine::Range(const Context& ctx, const kv::RangeRequest& request) {
  const auto pass = gate_.Enter();
  RETURN_IF_ERROR(Enter(ctx, pass));
  if (request.at_revision < 0) {
    return Status(Reason::kInvalid, "the revision must not be negative");
  }
  const auto pending = std::make_shared<Pending<kv::RangeResponse>>();
  const auto work =
      StartRange(client_, request, DeadlineOf(ctx),
                 [pending](Result<kv::RangeResponse> result) { pending->Set(std::move(result)); });
  const auto cancel = ctx.OnDone([work] { work->Cancel(); });
  auto result = pending->Wait();
  if (result.ok() || result.status().reason() != Reason::kTimeout) return result;
  RETURN_IF_ERROR(ctx.Err());
  const bool future = request.at_revision > 0 && result.status().details() != nullptr;
  if (!future) return result;
  // The error must tell the current revision, which etcd's answer did not.
  ASSIGN_OR_RETURN(const kv::Revision current, CurrentRevision(ctx));
  if (request.at_revision <= current) return Range(ctx, request);
  return kv::NewFutureRevisionError(request.at_revision, current);
}

Result<kv::TxnResponse> EtcdEngine::Txn(const Context& ctx, const kv::TxnRequest& request) {
  const auto pass = gate_.Enter();
  RETURN_IF_ERROR(Enter(ctx, pass));
  RETURN_IF_ERROR(kv::ValidateTxn(request, 0));
  const auto pending = std::make_shared<Pending<kv::TxnResponse>>();
  const auto work =
      StartWrite(client_, request, DeadlineOf(ctx),
                 [pending](Result<kv::TxnResponse> result) { pending->Set(std::move(result)); });
  const auto cancel = ctx.OnDone([work] { work->Cancel(); });
  return pending->Wait();
}

void EtcdEngine::TxnAsync(const Context& ctx, kv::TxnRequest request,
                          UniqueFunction<void(Result<kv::TxnResponse>)> done) {
  const auto pass = gate_.Enter();
  Status status = pass ? ctx.Err() : kv::NewStoppedError();
  if (status.ok()) status = kv::ValidateTxn(request, 0);
  if (!status.ok()) {
    done(std::move(status));
    return;
  }
  StartWrite(client_, std::move(request), DeadlineOf(ctx), std::move(done));
}

Result<std::unique_ptr<kv::Tail>> EtcdEngine::NewTail(std::string_view prefix, kv::Revision from) {
  const auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  if (from < 0) return Status(Reason::kInvalid, "the revision must not be negative");
  const Known& known = client_->known();
  // Zero means "from now on": after the last revision that this engine has seen, which is not older
  // than any write it has acknowledged.
  const kv::Revision start = from > 0 ? from : known.revision() + 1;
  const auto queue =
      std::make_shared<TailQueue>(std::string(prefix), start, options_.tail_bytes_max);
  // Known without asking etcd, which would start a watch only to end it.
  if (const kv::Revision compacted = known.compacted(); start <= compacted && compacted > 1) {
    queue->End(kv::NewCompactedError(start, compacted), compacted);
  } else {
    hub_->Attach(queue);
  }
  return std::make_unique<HubTail>(hub_, queue);
}

Status EtcdEngine::RequestProgress(const Context& ctx) {
  const auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  revision_->Get([hub = hub_](const Result<kv::Revision>& revision) {
    if (revision.ok()) hub->WantProgress(*revision);
  });
  return Status::Ok();
}

Result<kv::Revision> EtcdEngine::CurrentRevision(const Context& ctx) {
  const auto pass = gate_.Enter();
  RETURN_IF_ERROR(Enter(ctx, pass));
  const auto pending = std::make_shared<Pending<kv::Revision>>();
  revision_->Get([pending](Result<kv::Revision> revision) {
    // If the caller has left, this result is not read.
    pending->Set(std::move(revision));
  });
  const auto leave = ctx.OnDone([pending, ctx] { pending->Set(ctx.Err()); });
  return pending->WaitUntil(ctx.deadline().value_or(Clock::Monotonic::max()));
}

void EtcdEngine::CurrentRevisionAsync(const Context& ctx,
                                      UniqueFunction<void(Result<kv::Revision>)> done) {
  const auto pass = gate_.Enter();
  if (!pass) return done(kv::NewStoppedError());
  if (Status over = ctx.Err(); !over.ok()) return done(std::move(over));
  revision_->Get(std::move(done));
}

template <class Response, class Request>
Result<Response> EtcdEngine::Wait(const Context& ctx, const char* method, const Request& request,
                                  RpcOutcome* failure) {
  const auto pending = std::make_shared<Pending<Response>>();
  const auto failed = std::make_shared<RpcOutcome>();
  const auto call = client_->Call<Response>(
      method, request, {.deadline = DeadlineOf(ctx), .retry = true, .member = {}},
      [pending, failed, client = client_](const RpcOutcome& outcome, Response&& response) {
        if (outcome.ok()) {
          pending->Set(std::move(response));
        } else {
          *failed = outcome;
          pending->Set(client->StatusOf(outcome));
        }
      });
  const auto cancel = ctx.OnDone([call] {
    if (call != nullptr) call->Cancel();
  });
  auto result = pending->Wait();
  if (!result.ok()) {
    *failure = *failed;
    RETURN_IF_ERROR(ctx.Err());
  }
  return result;
}

Status EtcdEngine::Compact(const Context& ctx, kv::Revision revision) {
  const auto pass = gate_.Enter();
  RETURN_IF_ERROR(Enter(ctx, pass));
  if (revision <= 0) return Status::Ok();
  wire::CompactionRequest request;
  request.set_revision(revision);
  RpcOutcome failure;
  const auto answer = Wait<wire::CompactionResponse>(ctx, kCompactMethod, request, &failure);
  if (answer.ok()) {
    client_->known().SawCompaction(revision);
    return Status::Ok();
  }
  // Another server has compacted as far already: the request is fulfilled.
  if (IsCompacted(failure)) return Status::Ok();
  if (!IsFutureRevision(failure)) return answer.status();
  ASSIGN_OR_RETURN(const kv::Revision current, CurrentRevision(ctx));
  return kv::ValidateCompaction(revision, std::min(current, revision - 1));
}

Result<kv::LeaseId> EtcdEngine::GrantLease(const Context& ctx, std::chrono::seconds ttl) {
  const auto pass = gate_.Enter();
  RETURN_IF_ERROR(Enter(ctx, pass));
  if (ttl.count() <= 0) {
    return Status(Reason::kInvalid, "a lease must have a positive time to live");
  }
  wire::LeaseGrantRequest request;
  request.set_ttl(ttl.count());
  RpcOutcome failure;
  // Retried safely: if two leases are granted, one of them ends unused.
  ASSIGN_OR_RETURN(const auto lease,
                   Wait<wire::LeaseGrantResponse>(ctx, kLeaseGrantMethod, request, &failure));
  return lease.id();
}

void EtcdEngine::Stop() {
  // Refuse new work first, then let running calls end by themselves for a moment before they are
  // cancelled.
  client_->Stop();
  timers_.After(kStopGrace, [client = client_] { client->CancelAll(); });
  gate_.Shut();
  hub_->Stop();
  client_->Drain();
  timers_.Stop();
  client_->rpc().Stop();
}

}  // namespace

Result<std::unique_ptr<kv::Engine>> OpenOver(std::shared_ptr<Rpc> rpc, const std::string& servers,
                                             const Options& options) {
  auto engine = std::make_unique<EtcdEngine>(std::move(rpc), servers, options);
  RETURN_IF_ERROR(engine->Start());
  return engine;
}

Result<std::unique_ptr<kv::Engine>> Open(const Options& options) {
  ASSIGN_OR_RETURN(const Transport transport, TransportOf(options));
  return OpenOver(NewRpc(transport), TextOf(transport.http.endpoints), options);
}

}  // namespace apiserver::v0::storage::etcd
