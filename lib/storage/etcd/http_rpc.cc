#include "storage/etcd/http_rpc.h"

#include <utility>

#include "http/loop.h"
#include "http/loop_dialer.h"
#include "storage/etcd/http_calls.h"

namespace apiserver::v0::storage::etcd {
namespace {

// Begins a call or a stream on the loop. One that the loop drops ends.
template <class Call>
class Beginning {
 public:
  Beginning(std::shared_ptr<HttpCalls> calls, std::shared_ptr<Call> call)
      : calls_(std::move(calls)), call_(std::move(call)) {}
  Beginning(Beginning&&) noexcept = default;
  Beginning& operator=(Beginning&&) = delete;
  ~Beginning() {
    if (call_ != nullptr) call_->GiveUp(EndedOutcome());
  }
  void operator()() { calls_->Begin(std::exchange(call_, nullptr)); }

 private:
  std::shared_ptr<HttpCalls> calls_;
  std::shared_ptr<Call> call_;
};

class HttpRpc final : public Rpc {
 public:
  explicit HttpRpc(const HttpRpcOptions& options) : members_(options.endpoints.size()) {
    loop_->Start("etcd-calls");
    dialer_ = http::NewDialerOn(loop_);
    calls_ = std::make_shared<HttpCalls>(*loop_, *dialer_, options);
  }
  ~HttpRpc() override { Stop(); }

  std::shared_ptr<RpcCall> Unary(const std::string& method, std::string request,
                                 const RpcOptions& options, Done done) override {
    const auto call =
        std::make_shared<HttpUnary>(loop_, method, std::move(request), options, std::move(done));
    loop_->Post(Beginning<HttpUnary>(calls_, call));
    return call;
  }

  std::shared_ptr<RpcStream> Stream(const std::string& method,
                                    std::shared_ptr<RpcStreamHandler> handler) override {
    const auto stream = std::make_shared<HttpStream>(loop_, method, std::move(handler));
    loop_->Post(Beginning<HttpStream>(calls_, stream));
    return stream;
  }

  std::size_t members() const override { return members_; }
  // The loop first, as what runs on it uses the dialer.
  void Stop() override {
    loop_->Stop();
    dialer_.reset();
    calls_->End();
  }

 private:
  const std::size_t members_;
  const std::shared_ptr<http::Loop> loop_ = http::Loop::Create(NullLogSink());
  std::unique_ptr<http::Dialer> dialer_;
  std::shared_ptr<HttpCalls> calls_;
};

}  // namespace

std::shared_ptr<Rpc> NewHttpRpc(const HttpRpcOptions& options) {
  return std::make_shared<HttpRpc>(options);
}

}  // namespace apiserver::v0::storage::etcd
