#include "storage/etcd/lossy_rpc.h"

#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

// StatusResponse with nothing but its version, which is field 2.
std::string StatusAnswer(const std::string& version) {
  return std::string("\x12") + static_cast<char>(version.size()) + version;
}

}  // namespace

int LossyRpc::Calls(const std::string& method) const {
  auto state = state_.Lock();
  const auto found = state->calls.find(method);
  return found == state->calls.end() ? 0 : found->second;
}

void LossyRpc::Release() {
  std::vector<UniqueFunction<void()>> held;
  {
    auto state = state_.Lock();
    state->held_method.clear();
    held.swap(state->held);
  }
  for (auto& call : held) call();
}

std::shared_ptr<RpcCall> LossyRpc::Unary(const std::string& method, std::string request,
                                         const RpcOptions& options, Done done) {
  Loss loss = Loss::kNone;
  {
    auto state = state_.Lock();
    ++state->calls[method];
    if (const auto found = state->losses.find(method); found != state->losses.end()) {
      loss = found->second;
      state->losses.erase(found);
    }
    if (method == kStatusMethod && !state->version.empty()) {
      done = [done = std::move(done), version = state->version](const RpcOutcome& outcome,
                                                                const std::string&) mutable {
        done(outcome, StatusAnswer(version));
      };
    }
    if (method == state->held_method) {
      state->held.push_back([self = shared_from_this(), method, request = std::move(request),
                             options, done = std::move(done)]() mutable {
        self->real_->Unary(method, std::move(request), options, std::move(done));
      });
      return nullptr;
    }
  }
  if (loss == Loss::kNone) {
    return real_->Unary(method, std::move(request), options, std::move(done));
  }
  if (loss == Loss::kRequest) {
    Report(done);
    return nullptr;
  }
  return real_->Unary(method, std::move(request), options,
                      [self = shared_from_this(), done = std::move(done)](
                          const RpcOutcome&, const std::string&) mutable { self->Report(done); });
}

void LossyRpc::Report(Done& done) {
  UniqueFunction<void()> meanwhile = std::move(state_.Lock()->meanwhile);
  // On a thread that may wait, as the transport's own may not.
  Thread other("meanwhile", [&meanwhile] {
    if (meanwhile) meanwhile();
  });
  other.Join();
  done({RpcCode::kUnavailable, "Socket closed"}, "");
}

}  // namespace apiserver::inline v0::storage::etcd
