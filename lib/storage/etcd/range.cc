#include "storage/etcd/range.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/etcd/call_slot.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/page_size.h"
#include "storage/etcd/range_message.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

// A page is read on the transport's loop, so that it is smaller than those of a start.
constexpr PageSize::Limits kListPages{.bytes = std::size_t{4} << 20U, .first = 500, .last = 500};
// The list's room is taken for so many keys at once, whatever etcd says it has.
constexpr std::size_t kReservedMax = 1'000'000;
// The number of times that a list begins anew because its revision was compacted; then it is read
// whole.
constexpr int kPagedTries = 3;

class RangeWork final : public Work, public std::enable_shared_from_this<RangeWork> {
 public:
  RangeWork(std::shared_ptr<Client> client, const kv::RangeRequest& request,
            Clock::Monotonic deadline, RangeDone done)
      : client_(std::move(client)), request_(request), deadline_(deadline), done_(std::move(done)) {
    paged_ = request_.limit == 0 && !request_.count_only && !request_.end.empty();
  }

  void Begin() {
    response_ = {};
    at_ = request_.at_revision;
    // etcd has no empty key, not even as the beginning of a range.
    from_ = request_.key.empty() && !request_.end.empty() ? std::string(1, '\0') : request_.key;
    size_ = PageSize(kListPages);
    Send();
  }
  void Cancel() override { slot_.Cancel(); }

 private:
  void Send() {
    wire::RangeRequest page;
    page.set_key(from_);
    page.set_range_end(request_.end);
    page.set_limit(static_cast<std::int64_t>(paged_ ? size_.keys() : request_.limit));
    page.set_revision(at_);
    page.set_keys_only(request_.keys_only);
    page.set_count_only(request_.count_only);
    Client::Options options{.deadline = deadline_, .retry = true, .member = {}};
    if (paged_) options.response_bytes_max = size_.limits().bytes_max;
    slot_.Run([&] {
      return client_->Call(
          kRangeMethod, page.SerializeAsString(), options,
          [self = shared_from_this()](const RpcOutcome& outcome, const std::string& answer) {
            self->OnPage(outcome, answer);
          });
    });
  }

  void OnPage(const RpcOutcome& outcome, const std::string& answer) {
    if (!outcome.ok()) {
      const bool too_long = outcome.code == RpcCode::kDataLoss && paged_;
      if (too_long && size_.TooLong()) return Send();
      return Fail(outcome);
    }
    auto page = ReadRange(answer, !request_.keys_only);
    if (!page) return Fail(NotReadableOutcome());
    size_.Took(page->kvs.size(), answer.size(),
               page->count - std::min(page->count, page->kvs.size()));
    Add(std::move(*page));
  }

  void Add(kv::RangeResponse page) {
    const bool last = !paged_ || !page.more || page.kvs.empty();
    if (!last) from_ = page.kvs.back().key + '\0';
    if (response_.revision == 0) {
      client_->known().SawRevision(page.revision);
      // All pages are read at the revision of the first, so that the list is of one moment.
      if (at_ == 0) at_ = page.revision;
      response_ = std::move(page);
      // The first page tells how many keys there are.
      if (!last) response_.kvs.reserve(std::min(response_.count, kReservedMax));
    } else {
      response_.more = page.more;
      std::move(page.kvs.begin(), page.kvs.end(), std::back_inserter(response_.kvs));
    }
    if (last) {
      Finish(std::move(response_));
    } else {
      Send();
    }
  }

  void Fail(const RpcOutcome& outcome) {
    const kv::Revision wanted = request_.at_revision;
    // A read of the present state must not fail for its own slowness, so it begins again.
    if (IsCompacted(outcome) && wanted == 0) {
      if (++compacted_ >= kPagedTries) paged_ = false;
      Begin();
    } else if (IsCompacted(outcome)) {
      Finish(kv::NewCompactedError(wanted, client_->known().compacted()));
    } else if (IsFutureRevision(outcome)) {
      Finish(kv::NewFutureRevisionError(wanted, client_->known().revision()));
    } else {
      Finish(client_->StatusOf(outcome));
    }
  }

  void Finish(Result<kv::RangeResponse> result) {
    RangeDone done = std::move(done_);
    done(std::move(result));
  }

  const std::shared_ptr<Client> client_;
  const kv::RangeRequest request_;
  const Clock::Monotonic deadline_;
  RangeDone done_;
  bool paged_ = false;
  int compacted_ = 0;
  std::string from_;     // The next page begins here.
  PageSize size_;        // Of the next page.
  kv::Revision at_ = 0;  // Of all pages; zero: the first has not arrived.
  kv::RangeResponse response_;
  CallSlot slot_;
};

}  // namespace

std::shared_ptr<Work> StartRange(std::shared_ptr<Client> client, const kv::RangeRequest& request,
                                 Clock::Monotonic deadline, RangeDone done) {
  auto work = std::make_shared<RangeWork>(std::move(client), request, deadline, std::move(done));
  work->Begin();
  return work;
}

}  // namespace apiserver::v0::storage::etcd
