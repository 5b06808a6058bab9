#include "storage/etcd/grpc_unary.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace apiserver::v0::storage::etcd {
namespace {

std::chrono::system_clock::time_point WallOf(Clock::Monotonic deadline) {
  if (deadline == Clock::Monotonic::max()) return std::chrono::system_clock::time_point::max();
  return std::chrono::system_clock::now() + (deadline - RealClock().Now());
}

}  // namespace

RpcOutcome OutcomeOf(const grpc::Status& status) {
  RpcOutcome outcome;
  outcome.code = static_cast<RpcCode>(status.error_code());
  outcome.message = status.error_message();
  // The text that gRPC uses when a channel has no connection to put the call on.
  outcome.sent = outcome.code != RpcCode::kUnavailable ||
                 !outcome.message.starts_with("failed to connect to all addresses");
  return outcome;
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::string bytes;
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

UnaryCall::UnaryCall(std::string method, const std::string& request, const RpcOptions& options,
                     Rpc::Done done)
    : method_(std::move(method)),
      options_(options),
      give_up_at_(std::min(options.deadline, RealClock().Now() + options.connect_wait_max)),
      request_(BufferOf(request)),
      done_(std::move(done)) {}

void UnaryCall::Start(Member& member, std::shared_ptr<void> owner, bool wait_for_ready) {
  {
    auto state = state_.Lock();
    if (*state != State::kParked) return;
    *state = State::kStarted;
  }
  context_.set_deadline(WallOf(options_.deadline));
  context_.set_wait_for_ready(wait_for_ready);
  member.call_stub->UnaryCall(&context_, method_, {}, &request_, &response_,
                              [self = shared_from_this(), &member, owner = std::move(owner)](
                                  const grpc::Status& status) { self->Finish(member, status); });
}

void UnaryCall::Finish(Member& member, const grpc::Status& status) {
  *state_.Lock() = State::kOver;
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) member.Suspect();
  // The callback is moved out: the caller may keep the call, and must not keep with it what `done`
  // owns.
  Rpc::Done done = std::move(done_);
  if (!status.ok()) {
    done(OutcomeOf(status), "");
    return;
  }
  if (response_.Length() > options_.response_bytes_max) {
    done({RpcCode::kDataLoss, "the message is too long"}, "");
    return;
  }
  done({}, BytesOf(response_));
}

void UnaryCall::Cancel() {
  {
    auto state = state_.Lock();
    if (*state == State::kOver) return;
    if (*state == State::kStarted) {
      context_.TryCancel();
      return;
    }
    *state = State::kOver;
  }
  Rpc::Done done = std::move(done_);
  done({RpcCode::kCancelled, "cancelled", /*sent=*/false}, "");
}

}  // namespace apiserver::v0::storage::etcd
