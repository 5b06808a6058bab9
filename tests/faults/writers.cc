#include "faults/writers.h"

#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::faults {
namespace {

constexpr std::uint16_t kSlots = 10;

}  // namespace

void RunWriter(const Write& write, History& history, std::size_t writer,
               const WritersOptions& options) {
  auto random = NewSeededRandom(options.seed * History::kWriters + writer);
  std::vector<Revision> held(kSlots, 0);
  for (std::size_t n = 0; n < options.writes; ++n) {
    const auto slot = static_cast<std::uint16_t>(random->Below(kSlots));
    const bool erase = held[slot] != 0 && random->Below(6) == 0;
    History::Entry* entry =
        history.Begin(writer, slot, erase ? History::Kind::kDelete : History::Kind::kPut);
    if (entry == nullptr) return;
    storage::kv::TxnRequest request;
    request.key = KeyOf(writer, slot);
    request.expected_mod_revision = held[slot];
    if (!erase) {
      request.value = std::make_shared<const std::string>(
          ValueOf(options.life, writer, history.Index(writer, entry)));
    }
    if (options.acknowledge_first) entry->outcome = History::Outcome::kAcknowledged;
    const auto response = write(request);
    if (!response.ok()) {
      if (options.stop_at_error) return;
      continue;
    }
    if (!response->succeeded) {
      held[slot] = response->kv.mod_revision;
      entry->outcome = History::Outcome::kRefused;
      continue;
    }
    held[slot] = erase ? 0 : response->revision;
    entry->revision = response->revision;
    entry->outcome = History::Outcome::kAcknowledged;
  }
}

void RunWriters(const Write& write, History& history, const WritersOptions& options) {
  std::vector<Thread> threads;
  for (std::size_t writer = 0; writer < History::kWriters; ++writer) {
    threads.emplace_back("writer", [&write, &history, &options, writer] {
      RunWriter(write, history, writer, options);
    });
  }
  for (Thread& thread : threads) thread.Join();
}

Write WriteTo(storage::kv::Engine& engine) {
  return [&engine](const storage::kv::TxnRequest& request) {
    return engine.Txn(Context::Background(), request);
  };
}

}  // namespace apiserver::inline v0::faults
