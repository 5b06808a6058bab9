#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "storage/etcd/client.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// The keys of tests, whose order is that of their numbers.
inline std::string KeyOf(int i) { return "/p/" + std::to_string(10'000 + i); }

// A transport whose etcd answers ranges at once from a map, and writes down what it was asked.
class FakeRange final : public Rpc {
 public:
  struct Asked {
    std::string key;
    std::size_t limit = 0;
    kv::Revision revision = 0;
    std::size_t bytes = 0;  // Of the answer; zero: it was refused.
    std::size_t count = 0;  // The keys of the range.
  };

  RpcOutcome fail_with;         // The outcome of the request `fail_at` and those after it.
  std::size_t fail_at = 1'000;  // Counted from one.
  std::string answer_instead;   // If set, the answer to all.
  bool silent = false;          // Nothing is answered before it is cancelled.
  std::map<std::string, std::string> values;

  std::vector<Asked> asked() const { return *asked_.Lock(); }

  std::shared_ptr<RpcCall> Unary(const std::string& /*method*/, std::string request,
                                 const RpcOptions& options, Done done) override {
    if (silent) return std::make_shared<SilentCall>(std::move(done));
    wire::RangeRequest range;
    if (!range.ParseFromString(request)) return nullptr;
    std::size_t in_range = 0;
    const std::string answer = answer_instead.empty() ? Answer(range, in_range) : answer_instead;
    const bool too_long = answer.size() > options.response_bytes_max;
    std::size_t count = 0;
    {
      auto asked = asked_.Lock();
      asked->push_back({range.key(), static_cast<std::size_t>(range.limit()), range.revision(),
                        too_long ? 0 : answer.size(), in_range});
      count = asked->size();
    }
    if (count >= fail_at) {
      done(fail_with, "");
    } else if (too_long) {
      done({RpcCode::kDataLoss, "the message is too long"}, "");
    } else {
      done({}, answer);
    }
    return nullptr;
  }
  std::shared_ptr<RpcStream> Stream(const std::string&,
                                    std::shared_ptr<RpcStreamHandler>) override {
    return nullptr;
  }
  std::size_t members() const override { return 1; }

 private:
  class SilentCall final : public RpcCall {
   public:
    explicit SilentCall(Done done) : done_(std::move(done)) {}
    void Cancel() override {
      if (Done done = std::exchange(*done_.Lock(), nullptr)) {
        done({RpcCode::kCancelled, "cancelled"}, "");
      }
    }

   private:
    Guarded<Done> done_;
  };

  std::string Answer(const wire::RangeRequest& range, std::size_t& in_range) const {
    wire::RangeResponse answer;
    answer.mutable_header()->set_revision(7 + static_cast<std::int64_t>(asked_.Lock()->size()));
    std::int64_t count = 0;
    for (auto it = values.lower_bound(range.key());
         it != values.end() &&
         (range.range_end() == std::string(1, '\0') || it->first < range.range_end());
         ++it) {
      if (++count > range.limit()) continue;
      wire::KeyValue& kv = *answer.add_kvs();
      kv.set_key(it->first);
      kv.set_value(it->second);
      kv.set_create_revision(2);
      kv.set_mod_revision(3);
    }
    answer.set_count(count);
    in_range = static_cast<std::size_t>(count);
    answer.set_more(count > range.limit());
    return answer.SerializeAsString();
  }

  Guarded<std::vector<Asked>> asked_;
};

}  // namespace apiserver::inline v0::storage::etcd
