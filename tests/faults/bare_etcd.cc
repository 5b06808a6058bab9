#include "faults/bare_etcd.h"

#include <utility>

#include "base/status_macros.h"
#include "storage/etcd/client.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/grpc_rpc.h"

namespace apiserver::inline v0::faults {
namespace {

namespace wire = etcd::wire;

constexpr const char* kPutMethod = "/etcdserverpb.KV/Put";
constexpr const char* kDeleteMethod = "/etcdserverpb.KV/DeleteRange";
// How long a member may be silent while it tells its log.
constexpr std::chrono::seconds kLogPatience{60};

Status StatusOf(const etcd::RpcOutcome& outcome) {
  const bool late = outcome.code == etcd::RpcCode::kDeadlineExceeded;
  const bool away = outcome.code == etcd::RpcCode::kUnavailable;
  return {late   ? Reason::kTimeout
          : away ? Reason::kServiceUnavailable
                 : Reason::kInternalError,
          outcome.message};
}

}  // namespace

Result<std::unique_ptr<BareEtcd>> BareEtcd::New(const std::string& url,
                                                std::chrono::milliseconds timeout) {
  etcd::GrpcOptions options;
  ASSIGN_OR_RETURN(options.endpoints, etcd::ParseEndpoints({url}));
  return std::unique_ptr<BareEtcd>(new BareEtcd(etcd::NewGrpcRpc(options), timeout));
}

template <class Response, class Request>
Result<Response> BareEtcd::Ask(const char* method, const Request& request) {
  const auto pending = std::make_shared<etcd::Pending<Response>>();
  const etcd::RpcOptions options{.deadline = RealClock().Now() + timeout_,
                                 .connect_wait_max = std::chrono::milliseconds(0),
                                 .member = {}};
  (void)rpc_->Unary(method, request.SerializeAsString(), options,
                    [pending](const etcd::RpcOutcome& outcome, const std::string& bytes) {
                      Response response;
                      if (!outcome.ok()) {
                        pending->Set(StatusOf(outcome));
                      } else if (!response.ParseFromString(bytes)) {
                        pending->Set(Status(Reason::kInternalError, "cannot be read"));
                      } else {
                        pending->Set(std::move(response));
                      }
                    });
  return pending->Wait();
}

Result<Revision> BareEtcd::Put(const std::string& key, const std::string& value) {
  wire::PutRequest request;
  request.set_key(key);
  request.set_value(value);
  ASSIGN_OR_RETURN(const auto response, Ask<wire::PutResponse>(kPutMethod, request));
  return response.header().revision();
}

Result<Revision> BareEtcd::Delete(const std::string& key) {
  wire::DeleteRangeRequest request;
  request.set_key(key);
  ASSIGN_OR_RETURN(const auto response, Ask<wire::DeleteRangeResponse>(kDeleteMethod, request));
  if (response.deleted() == 0) return Status(Reason::kNotFound, "there is no such key");
  return response.header().revision();
}

Result<Revision> BareEtcd::CurrentRevision() {
  wire::RangeRequest request;
  request.set_key("no/such/key");
  ASSIGN_OR_RETURN(const auto response, Ask<wire::RangeResponse>(etcd::kRangeMethod, request));
  return response.header().revision();
}

Result<MemberView> BareEtcd::View(const std::string& prefix, Revision revision) {
  MemberView view;
  wire::RangeRequest request;
  request.set_key(prefix);
  request.set_range_end(storage::kv::PrefixEnd(prefix));
  request.set_revision(revision);
  ASSIGN_OR_RETURN(const auto state, Ask<wire::RangeResponse>(etcd::kRangeMethod, request));
  for (const wire::KeyValue& kv : state.kvs()) {
    view.state[kv.key().substr(prefix.size())] = ValueIn(kv.value());
  }
  BareWatch watch(*rpc_, prefix, 1);
  while (view.log.empty() || view.log.back().revision < revision) {
    const std::size_t before = view.log.size();
    const bool goes_on = watch.Next(view.log, kLogPatience);
    if (!goes_on || view.log.size() == before) {
      return Status(Reason::kTimeout, "the member does not tell its log");
    }
  }
  std::erase_if(view.log, [revision](const Change& change) { return change.revision > revision; });
  return view;
}

struct BareWatch::Inbox {
  struct State {
    std::vector<Change> changes;
    bool ended = false;
  };
  explicit Inbox(std::string p) : prefix(std::move(p)) {}
  const std::string prefix;
  Guarded<State> state;
};

class BareWatch::Handler final : public etcd::RpcStreamHandler {
 public:
  explicit Handler(std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)) {}

  void OnMessage(std::string message) override {
    wire::WatchResponse response;
    const bool good = response.ParseFromString(message) && !response.canceled();
    auto state = inbox_->state.Lock();
    state->ended = state->ended || !good;
    for (const wire::Event& event : response.events()) {
      const bool erased = event.type() == wire::Event::DELETE;
      state->changes.push_back({event.kv().mod_revision(),
                                event.kv().key().substr(inbox_->prefix.size()),
                                erased ? 0 : ValueIn(event.kv().value())});
    }
    inbox_->state.NotifyAll();
  }
  void OnEnd(const etcd::RpcOutcome&) override {
    inbox_->state.Lock()->ended = true;
    inbox_->state.NotifyAll();
  }

 private:
  const std::shared_ptr<Inbox> inbox_;
};

BareWatch::BareWatch(etcd::Rpc& rpc, const std::string& prefix, Revision from)
    : inbox_(std::make_shared<Inbox>(prefix)) {
  stream_ = rpc.Stream(etcd::kWatchMethod, std::make_shared<Handler>(inbox_));
  wire::WatchRequest request;
  wire::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(prefix);
  create.set_range_end(storage::kv::PrefixEnd(prefix));
  create.set_start_revision(from);
  stream_->Write(request.SerializeAsString());
}

BareWatch::~BareWatch() { stream_->Cancel(); }

bool BareWatch::Next(std::vector<Change>& changes, std::chrono::milliseconds patience) {
  auto state = inbox_->state.Lock();
  (void)state.WaitUntil(RealClock().Now() + patience,
                        [&state] { return state->ended || !state->changes.empty(); });
  const bool more = !state->ended || !state->changes.empty();
  for (Change& change : state->changes) changes.push_back(std::move(change));
  state->changes.clear();
  return more;
}

}  // namespace apiserver::inline v0::faults
