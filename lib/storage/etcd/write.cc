#include "storage/etcd/write.h"

#include <algorithm>
#include <utility>

#include "storage/etcd/call_slot.h"
#include "storage/etcd/convert.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::milliseconds kPause{50};

class WriteWork final : public Work, public std::enable_shared_from_this<WriteWork> {
 public:
  WriteWork(std::shared_ptr<Client> client, kv::TxnRequest request, Clock::Monotonic deadline,
            WriteDone done)
      : client_(std::move(client)),
        request_(std::move(request)),
        deadline_(deadline),
        done_(std::move(done)),
        pass_(std::in_place, client_->Enter()) {}

  void Send() {
    if (!*pass_) {
      Finish(kv::NewStoppedError());
      return;
    }
    slot_.Run([this] {
      return client_->Call<wire::TxnResponse>(
          kTxnMethod, Message(), {.deadline = deadline_, .retry = false, .member = {}},
          [self = shared_from_this()](const RpcOutcome& outcome, wire::TxnResponse&& answer) {
            self->OnAnswer(outcome, std::move(answer));
          });
    });
  }

  void Cancel() override { slot_.Cancel(); }

 private:
  wire::TxnRequest Message() const {
    // The comparison makes repetition safe: the write happens only at the revision it names.
    wire::TxnRequest txn;
    wire::Compare& compare = *txn.add_compare();
    compare.set_result(wire::Compare::EQUAL);
    compare.set_target(wire::Compare::MOD);
    compare.set_key(request_.key);
    compare.set_mod_revision(request_.expected_mod_revision);
    if (request_.value != nullptr) {
      wire::PutRequest& put = *txn.add_success()->mutable_request_put();
      put.set_key(request_.key);
      put.set_value(*request_.value);
      put.set_lease(request_.lease);
      put.set_prev_kv(request_.expected_mod_revision != 0);
    } else {
      wire::DeleteRangeRequest& remove = *txn.add_success()->mutable_request_delete_range();
      remove.set_key(request_.key);
      remove.set_prev_kv(true);
    }
    // The state that won comes with the refusal, which saves a read.
    txn.add_failure()->mutable_request_range()->set_key(request_.key);
    return txn;
  }

  void OnAnswer(const RpcOutcome& outcome, wire::TxnResponse&& answer) {
    if (outcome.ok()) {
      OnTxn(std::move(answer));
    } else if (IsLeaseNotFound(outcome)) {
      Finish(kv::NewLeaseNotFoundError(request_.lease));
      // Only a request that was never sent, on its first attempt, is certain not to have happened.
    } else if (!outcome.sent && !doubtful_) {
      Finish(client_->StatusOf(outcome));
    } else if (!IsTransient(outcome) && outcome.code != RpcCode::kDataLoss) {
      // A refusal says nothing about an earlier attempt.
      Finish(doubtful_ ? NewUnknownOutcomeError(outcome.message) : client_->StatusOf(outcome));
    } else {
      doubtful_ = true;
      why_ = outcome.message;
      LookAgain();
    }
  }

  void OnTxn(wire::TxnResponse&& answer) {
    kv::TxnResponse response;
    response.succeeded = answer.succeeded();
    response.revision = answer.header().revision();
    client_->known().SawRevision(response.revision);
    if (wire::KeyValue* const kv = Held(answer)) response.kv = ToKeyValue(*kv, true);
    // A failed comparison after a doubtful attempt may have met this write's own success.
    if (response.succeeded || !doubtful_) {
      Finish(std::move(response));
    } else {
      Judge(response.kv);
    }
  }

  // Returns the key in the answer: before the write, or as it stands if the write failed. Null: it
  // does not exist.
  static wire::KeyValue* Held(wire::TxnResponse& answer) {
    if (answer.responses().empty()) return nullptr;
    wire::ResponseOp& op = *answer.mutable_responses(0);
    switch (op.response_case()) {
      case wire::ResponseOp::kResponsePut:
        return op.response_put().has_prev_kv() ? op.mutable_response_put()->mutable_prev_kv()
                                               : nullptr;
      case wire::ResponseOp::kResponseDeleteRange: {
        auto& kvs = *op.mutable_response_delete_range()->mutable_prev_kvs();
        return kvs.empty() ? nullptr : &kvs[0];
      }
      case wire::ResponseOp::kResponseRange: {
        auto& kvs = *op.mutable_response_range()->mutable_kvs();
        return kvs.empty() ? nullptr : &kvs[0];
      }
      default:
        return nullptr;
    }
  }

  void LookAgain() {
    if (slot_.cancelled() || client_->stopped() || RealClock().Now() >= deadline_) {
      Finish(NewUnknownOutcomeError(why_));
      return;
    }
    Read(0, [self = shared_from_this()](Result<kv::KeyValue> kv) {
      if (kv.ok()) {
        self->Judge(*kv);
      } else {
        self->Finish(NewUnknownOutcomeError(self->why_));
      }
    });
  }

  void Read(kv::Revision at, UniqueFunction<void(Result<kv::KeyValue>)> then) {
    wire::RangeRequest range;
    range.set_key(request_.key);
    range.set_revision(at);
    auto on_answer = [self = shared_from_this(), then = std::move(then)](
                         const RpcOutcome& outcome, wire::RangeResponse&& answer) mutable {
      if (!outcome.ok()) {
        then(self->client_->StatusOf(outcome));
        return;
      }
      kv::KeyValue kv;
      if (!answer.kvs().empty()) kv = ToKeyValue(*answer.mutable_kvs(0), true);
      then(std::move(kv));
    };
    slot_.Run([&] {
      return client_->Call<wire::RangeResponse>(
          kRangeMethod, range, {.deadline = deadline_, .retry = true, .member = {}},
          std::move(on_answer));
    });
  }

  // Decides from the key's content if a write whose answer was lost has happened.
  void Judge(const kv::KeyValue& now) {
    // The key is unchanged: the write is sent again, which is safe even if the lost request still
    // arrives.
    if (now.mod_revision == request_.expected_mod_revision) {
      client_->timers().After(kPause, [self = shared_from_this()] { self->SendAgain(); });
      return;
    }
    // The same content can only be taken for this write's if the revision before it fits too.
    const bool ours = request_.value != nullptr && now.value != nullptr &&
                      *now.value == *request_.value && now.lease == request_.lease;
    if (!ours || now.mod_revision < request_.expected_mod_revision) {
      Finish(NewUnknownOutcomeError(why_));
    } else if (request_.expected_mod_revision == 0) {
      // Another client may have created it and written it since: then this write is not known to
      // have created it.
      if (now.create_revision == now.mod_revision) {
        Succeed(now.mod_revision, {});
      } else {
        Finish(NewUnknownOutcomeError(why_));
      }
    } else {
      Compare(now.mod_revision);
    }
  }

  // Decides if the write at `at` came right after the expected revision.
  void Compare(kv::Revision at) {
    Read(at - 1, [self = shared_from_this(), at](Result<kv::KeyValue> before) {
      if (before.ok() && before->mod_revision == self->request_.expected_mod_revision) {
        self->Succeed(at, *std::move(before));
      } else {
        self->Finish(NewUnknownOutcomeError(self->why_));
      }
    });
  }

  void SendAgain() {
    if (slot_.cancelled() || client_->stopped() || RealClock().Now() >= deadline_) {
      Finish(NewUnknownOutcomeError(why_));
    } else {
      Send();
    }
  }

  void Succeed(kv::Revision revision, kv::KeyValue before) {
    client_->known().SawRevision(revision);
    kv::TxnResponse response;
    response.succeeded = true;
    response.revision = revision;
    response.kv = std::move(before);
    Finish(std::move(response));
  }

  void Finish(Result<kv::TxnResponse> result) {
    WriteDone done = std::move(done_);
    done(std::move(result));
    pass_.reset();
  }

  const std::shared_ptr<Client> client_;
  const kv::TxnRequest request_;
  const Clock::Monotonic deadline_;
  WriteDone done_;
  std::optional<kv::CallGate::Pass> pass_;
  bool doubtful_ = false;  // An earlier attempt may have happened.
  std::string why_;
  CallSlot slot_;
};

}  // namespace

std::shared_ptr<Work> StartWrite(std::shared_ptr<Client> client, kv::TxnRequest request,
                                 Clock::Monotonic deadline, WriteDone done) {
  auto work =
      std::make_shared<WriteWork>(std::move(client), std::move(request), deadline, std::move(done));
  work->Send();
  return work;
}

}  // namespace apiserver::v0::storage::etcd
