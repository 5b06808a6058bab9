#include "storage/memory/versions.h"

#include <utility>

namespace apiserver::v0::storage::memory {
namespace {

// Adds one key to the answer, as far as the request wants it.
void Add(const Version& version, const kv::RangeRequest& request, kv::RangeResponse& response) {
  kv::KeyValue kv = version.kv;
  if (request.keys_only) kv.value = nullptr;
  response.kvs.push_back(std::move(kv));
}

bool Full(const kv::RangeRequest& request, const kv::RangeResponse& response) {
  return request.limit > 0 && response.kvs.size() >= request.limit;
}

}  // namespace

kv::Event EventOf(const Change& change) {
  kv::Event event;
  const bool existed = change.before && !change.before->deleted();
  event.type = change.now->deleted() ? kv::Event::Type::kDelete : kv::Event::Type::kPut;
  event.is_create = !change.now->deleted() && !existed;
  event.kv = change.now->kv;
  if (existed) event.previous = change.before->kv;
  return event;
}

void ReadLive(const LiveTree& live, const kv::RangeRequest& request, kv::RangeResponse& response) {
  const kv::KeyRange range(request);
  const std::size_t end = range.unbounded ? live.size() : live.Rank(range.end);
  const std::size_t begin = live.Rank(range.begin);
  response.count = end > begin ? end - begin : 0;
  if (request.count_only) return;
  const bool cut = request.limit > 0 && request.limit < response.count;
  response.kvs.reserve(cut ? request.limit : response.count);
  for (auto it = live.LowerBound(range.begin); it.Valid() && range.Contains(it.key()); it.Next()) {
    if (Full(request, response)) break;
    Add(*it.value(), request, response);
  }
  response.more = cut;
}

void ReadHistory(const HistoryTree& history, const kv::RangeRequest& request,
                 kv::RangeResponse& response) {
  const kv::KeyRange range(request);
  const kv::Revision at = request.at_revision;
  auto it = history.LowerBound({range.begin, at});
  while (it.Valid() && range.Contains(it.key().key)) {
    const VersionRef& version = it.value();
    if (version->kv.mod_revision > at) {
      it = history.LowerBound({version->kv.key, at});
      continue;
    }
    if (!version->deleted()) {
      ++response.count;
      if (!request.count_only && !Full(request, response)) Add(*version, request, response);
    }
    // Older versions of the key; nearly always few.
    const std::string_view key = version->kv.key;
    do {
      it.Next();
    } while (it.Valid() && it.key().key == key);
  }
  response.more = !request.count_only && response.kvs.size() < response.count;
}

}  // namespace apiserver::v0::storage::memory
