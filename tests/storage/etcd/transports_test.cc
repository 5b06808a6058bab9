#include "../../http/support.h"
#include "storage/etcd/client.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/fixture.h"
#include "storage/etcd/grpc_rpc.h"

// Our transport and gRPC's must tell the same of a real etcd.
namespace apiserver::inline v0::storage::etcd {
namespace {

using std::chrono::milliseconds;

// Both transports to one etcd.
struct Both {
  explicit Both(const EtcdServer& server) {
    HttpRpcOptions our_options;
    our_options.endpoints = Must(ParseEndpoints(server.urls()));
    ours = NewHttpRpc(our_options);
    GrpcOptions options;
    options.endpoints = our_options.endpoints;
    theirs = NewGrpcRpc(options);
  }
  ~Both() {
    ours->Stop();
    theirs->Stop();
  }
  std::shared_ptr<Rpc> ours;
  std::shared_ptr<Rpc> theirs;
};

struct Ended {
  RpcOutcome outcome;
  std::string response;
};

Ended Call(Rpc& rpc, const std::string& method, const std::string& request,
           const RpcOptions& options) {
  const auto pending = std::make_shared<Pending<Ended>>();
  (void)rpc.Unary(method, request, options, [pending](RpcOutcome outcome, std::string response) {
    pending->Set(Ended{std::move(outcome), std::move(response)});
  });
  return Must(pending->Wait());
}

Ended Call(Rpc& rpc, const std::string& method, const std::string& request,
           milliseconds timeout = http_test::kPatience) {
  return Call(rpc, method, request, {.deadline = RealClock().Now() + timeout});
}

// Makes a call that changes nothing over both. Returns the code that both tell.
RpcCode Compare(const Both& both, const std::string& method, const std::string& request) {
  const Ended ours = Call(*both.ours, method, request);
  const Ended theirs = Call(*both.theirs, method, request);
  INFO(method << ": " << theirs.outcome.message);
  CHECK(ours.outcome.code == theirs.outcome.code);
  CHECK(ours.outcome.message == theirs.outcome.message);
  CHECK(ours.outcome.sent == theirs.outcome.sent);
  CHECK((ours.response == theirs.response));
  return ours.outcome.code;
}

std::string RangeOf(const std::string& key, const std::string& end, Revision revision) {
  wire::RangeRequest range;
  range.set_key(key);
  range.set_range_end(end);
  range.set_revision(revision);
  return range.SerializeAsString();
}

std::string WriteOf(const std::string& value, kv::LeaseId lease) {
  wire::TxnRequest txn;
  wire::PutRequest& put = *txn.add_success()->mutable_request_put();
  put.set_key("key");
  put.set_value(value);
  put.set_lease(lease);
  return txn.SerializeAsString();
}

TEST_CASE("storage.etcd: both transports tell the same of calls", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 6; ++i) Must(s->Create(std::to_string(i), std::string(1 << 20, 'x')));
  REQUIRE(s->engine().Compact(Context::Background(), 4).ok());
  const Both both(*server);

  CHECK(Compare(both, kRangeMethod, RangeOf("1", "", 0)) == RpcCode::kOk);
  CHECK(Compare(both, kRangeMethod, RangeOf("0", "9", 0)) == RpcCode::kOk);
  CHECK(Compare(both, kRangeMethod, RangeOf("none", "", 0)) == RpcCode::kOk);
  CHECK(Compare(both, kRangeMethod, RangeOf("1", "", 99)) == RpcCode::kOutOfRange);
  CHECK(Compare(both, kRangeMethod, RangeOf("1", "", 2)) == RpcCode::kOutOfRange);
  CHECK(Compare(both, kRangeMethod, "no protobuf") == RpcCode::kInternal);
  CHECK(Compare(both, kTxnMethod, WriteOf("", 12345)) == RpcCode::kNotFound);
  CHECK(Compare(both, kTxnMethod, WriteOf(std::string(3 << 20, 'x'), 0)) ==
        RpcCode::kResourceExhausted);
  CHECK(Compare(both, "/etcdserverpb.KV/None", "") == RpcCode::kUnimplemented);
}

TEST_CASE("storage.etcd: both transports refuse an answer that is longer than was asked for",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  Must(s->Create("0", std::string(1'000, 'x')));
  const Both both(*server);
  for (const auto& [bytes_max, code] :
       {std::pair(std::size_t{1'000}, RpcCode::kDataLoss), {std::size_t{2'000}, RpcCode::kOk}}) {
    for (Rpc* rpc : {both.ours.get(), both.theirs.get()}) {
      const Ended ended = Call(
          *rpc, kRangeMethod, RangeOf("0", "", 0),
          {.deadline = RealClock().Now() + http_test::kPatience, .response_bytes_max = bytes_max});
      CHECK(ended.outcome.code == code);
      CHECK(ended.outcome.message == (code == RpcCode::kOk ? "" : "the message is too long"));
    }
  }
}

TEST_CASE("storage.etcd: both transports tell the same of an etcd that is away", "[storage.etcd]") {
  const auto server = StartEtcd();
  const Both both(*server);
  REQUIRE(Compare(both, kRangeMethod, RangeOf("a", "", 0)) == RpcCode::kOk);
  const auto compare = [&](RpcCode code, bool sent) {
    for (Rpc* rpc : {both.ours.get(), both.theirs.get()}) {
      const Ended ended = Call(*rpc, kRangeMethod, RangeOf("a", "", 0), milliseconds(500));
      CHECK(ended.outcome.code == code);
      CHECK(ended.outcome.sent == sent);
    }
  };
  server->Pause(0);
  compare(RpcCode::kDeadlineExceeded, true);
  server->Kill(0);
  // A call may still be put on the connection whose end is not known yet.
  (void)Call(*both.ours, kRangeMethod, "", milliseconds(500));
  (void)Call(*both.theirs, kRangeMethod, "", milliseconds(500));
  compare(RpcCode::kUnavailable, false);
}

class Messages final : public RpcStreamHandler {
 public:
  void OnMessage(std::string message) override { journal.Add(message); }
  void OnEnd(const RpcOutcome&) override { journal.Add("end"); }
  http_test::Journal journal;
};

TEST_CASE("storage.etcd: both transports tell the same of a watch", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 3; ++i) Must(s->Create(std::to_string(i), std::string(1 << 20, 'x')));
  const Both both(*server);
  wire::WatchRequest request;
  wire::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key("0");
  create.set_range_end("9");
  create.set_start_revision(2);
  create.set_fragment(true);
  // That it is created, and a fragment for each megabyte.
  constexpr std::size_t kMessages = 4;
  const auto seen = [&](Rpc& rpc) {
    const auto messages = std::make_shared<Messages>();
    const auto stream = rpc.Stream(kWatchMethod, messages);
    stream->Write(request.SerializeAsString());
    CHECK(messages->journal.AwaitCount(kMessages));
    stream->Cancel();
    CHECK(messages->journal.Await("end"));
    return messages->journal.lines();
  };
  const auto ours = seen(*both.ours);
  CHECK(ours.size() == kMessages + 1);
  CHECK((ours == seen(*both.theirs)));
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
