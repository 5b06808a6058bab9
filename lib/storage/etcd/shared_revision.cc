#include "storage/etcd/shared_revision.h"

#include <utility>

#include "storage/etcd/convert.h"

namespace apiserver::v0::storage::etcd {

// A caller that comes while a read is running waits for the next one, which begins after it asked:
// the running one may have seen an older revision than the caller must.
void SharedRevision::Get(Done done) {
  std::vector<Done> asked;
  {
    auto state = state_.Lock();
    state->waiting.push_back(std::move(done));
    if (state->running) return;
    state->running = true;
    asked.swap(state->waiting);
  }
  Read(std::move(asked));
}

void SharedRevision::Read(std::vector<Done> asked) {
  wire::RangeRequest request;
  request.set_key(kCompactRevisionKey);
  const Client::Options options{.deadline = RealClock().Now() + timeout_, .retry = true};
  client_->Call<wire::RangeResponse>(
      kRangeMethod, request, options,
      [self = shared_from_this(), asked = std::move(asked)](
          const RpcOutcome& outcome, const wire::RangeResponse& response) mutable {
        if (outcome.ok()) {
          self->client_->known().SawRevision(response.header().revision());
          if (!response.kvs().empty()) {
            self->client_->known().SawCompaction(RevisionOfText(response.kvs(0).value()));
          }
        }
        const auto result = outcome.ok() ? Result<kv::Revision>(response.header().revision())
                                         : Result<kv::Revision>(self->client_->StatusOf(outcome));
        std::vector<Done> next;
        {
          auto state = self->state_.Lock();
          state->running = !state->waiting.empty();
          next.swap(state->waiting);
        }
        // The next read starts before the callbacks, so that they do not delay its waiters.
        if (!next.empty()) self->Read(std::move(next));
        for (Done& done : asked) done(result);
      });
}

}  // namespace apiserver::v0::storage::etcd
