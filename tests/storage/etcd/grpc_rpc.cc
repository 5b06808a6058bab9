#include "storage/etcd/grpc_rpc.h"

#include <deque>
#include <utility>

#include "storage/etcd/grpc_unary.h"

namespace apiserver::v0::storage::etcd {
namespace {

using grpc::ByteBuffer;

constexpr std::chrono::milliseconds kProbe{250};
constexpr const char* kProbeMethod = "/etcdserverpb.Maintenance/Status";

// A stream. It owns itself until gRPC is done with it.
class StreamCall final : public RpcStream, public grpc::ClientBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  explicit StreamCall(std::shared_ptr<RpcStreamHandler> handler) : handler_(std::move(handler)) {}

  void Start(Member& member, const std::string& method, std::shared_ptr<void> owner,
             std::shared_ptr<StreamCall> self) {
    owner_ = std::move(owner);
    self_ = std::move(self);
    // Without this etcd leaves a watch open on a member that has lost its cluster.
    context_.AddMetadata("hasleader", "true");
    member.stream_stub->PrepareBidiStreamingCall(&context_, method, {}, this);
    // The hold is for the writes, which come from other threads.
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void Write(std::string message) override {
    auto out = out_.Lock();
    if (out->closed) return;
    out->waiting.push_back(BufferOf(message));
    if (out->waiting.size() == 1) StartWrite(&out->waiting.front());
  }
  void Cancel() override { context_.TryCancel(); }

  void OnWriteDone(bool ok) override {
    auto out = out_.Lock();
    out->waiting.pop_front();
    if (ok && !out->closed && !out->waiting.empty()) StartWrite(&out->waiting.front());
  }
  void OnReadDone(bool ok) override {
    if (ok) {
      std::string message = BytesOf(incoming_);
      incoming_.Clear();
      handler_->OnMessage(std::move(message));
      StartRead(&incoming_);
      return;
    }
    out_.Lock()->closed = true;
    RemoveHold();
  }
  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<StreamCall> self = std::move(self_);
    RpcOutcome outcome = OutcomeOf(status);
    if (outcome.ok()) outcome = {RpcCode::kUnavailable, "etcd has ended the stream"};
    handler_->OnEnd(outcome);
    handler_.reset();
  }

 private:
  struct Out {
    bool closed = false;
    std::deque<ByteBuffer> waiting;  // The first one is being written.
  };

  std::shared_ptr<RpcStreamHandler> handler_;
  std::shared_ptr<void> owner_;
  std::shared_ptr<StreamCall> self_;
  grpc::ClientContext context_;
  ByteBuffer incoming_;
  Guarded<Out> out_;
};

// gRPC ends its callback threads when the last channel that used any is destroyed, and cannot do so
// when that happens in a callback (1.51: it joins itself and aborts). So one channel, to nowhere,
// stays until the process ends, with the one call that makes it count.
struct Anchor {
  Anchor() : stub(grpc::CreateChannel("unix:/nonexistent", grpc::InsecureChannelCredentials())) {
    stub.UnaryCall(&context, "/none/None", {}, &request, &response, [](const grpc::Status&) {});
  }
  grpc::GenericStub stub;
  grpc::ClientContext context;
  ByteBuffer request = BufferOf("");
  ByteBuffer response;
};
const Anchor& TheAnchor() {
  static const Anchor* const anchor = new Anchor;
  return *anchor;
}

class GrpcRpc final : public Rpc, public std::enable_shared_from_this<GrpcRpc> {
 public:
  explicit GrpcRpc(const GrpcOptions& options) : channels_(options) {}

  std::shared_ptr<RpcCall> Unary(const std::string& method, std::string request,
                                 const RpcOptions& options, Done done) override {
    auto call = std::make_shared<UnaryCall>(method, request, options, std::move(done));
    if (options.member) {
      call->Start(channels_.at(*options.member), shared_from_this(), /*wait_for_ready=*/false);
    } else if (Member* member = channels_.Connected()) {
      call->Start(*member, shared_from_this(), /*wait_for_ready=*/false);
    } else {
      Park(call);
    }
    return call;
  }

  std::shared_ptr<RpcStream> Stream(const std::string& method,
                                    std::shared_ptr<RpcStreamHandler> handler) override {
    auto stream = std::make_shared<StreamCall>(std::move(handler));
    stream->Start(channels_.ForStream(), method, shared_from_this(), stream);
    return stream;
  }

  std::size_t members() const override { return channels_.size(); }

 private:
  struct Parked {
    std::vector<std::shared_ptr<UnaryCall>> calls;
    std::size_t probes = 0;  // The number of running probes.
  };

  void Park(std::shared_ptr<UnaryCall> call) {
    {
      auto parked = parked_.Lock();
      parked->calls.push_back(std::move(call));
      if (parked->probes > 0) return;
      // One probe for each member, however many calls wait.
      parked->probes = channels_.size();
    }
    ProbeAll();
  }

  // Probes all members: gRPC makes a connection only while some call waits for it.
  void ProbeAll() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const RpcOptions options{.deadline = RealClock().Now() + kProbe, .member = std::nullopt};
      const auto probe = std::make_shared<UnaryCall>(
          kProbeMethod, "", options,
          [self = shared_from_this()](const RpcOutcome&, const std::string&) { self->OnProbe(); });
      probe->Start(channels_.at(i), shared_from_this(), /*wait_for_ready=*/true);
    }
  }

  void OnProbe() {
    std::vector<std::shared_ptr<UnaryCall>> ready;
    bool again = false;
    Member* const connected = channels_.Connected();
    const auto now = RealClock().Now();
    {
      auto parked = parked_.Lock();
      std::vector<std::shared_ptr<UnaryCall>> kept;
      for (auto& call : parked->calls) {
        const bool go = connected != nullptr || call->give_up_at() <= now + kProbe;
        (go ? ready : kept).push_back(std::move(call));
      }
      std::erase_if(kept, [](const auto& call) { return call->over(); });
      parked->calls = std::move(kept);
      again = --parked->probes == 0 && !parked->calls.empty();
      if (again) parked->probes = channels_.size();
    }
    for (const auto& call : ready) {
      // A call that has waited long enough gets gRPC's reason why there is no connection.
      Member* const member = channels_.Connected();
      call->Start(member != nullptr ? *member : channels_.ForStream(), shared_from_this(),
                  /*wait_for_ready=*/false);
    }
    if (again) ProbeAll();
  }

  [[maybe_unused]] const Anchor& anchor_ = TheAnchor();
  Channels channels_;
  Guarded<Parked> parked_;
};

}  // namespace

std::shared_ptr<Rpc> NewGrpcRpc(const GrpcOptions& options) {
  return std::make_shared<GrpcRpc>(options);
}

}  // namespace apiserver::v0::storage::etcd
