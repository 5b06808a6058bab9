// What observers of other prefixes cost a write to the engine in memory, whose writes are the
// cheapest there are:
//
//   observers_bench [OBSERVERS=1000] [WRITES=20000] [ROUNDS=15]
//
// Each round updates keys of one prefix, which has an observer as a resource has its cache, first
// alone and then with OBSERVERS idle ones beside it; the order changes from round to round. Prints
// the median of each and what it takes to add and to remove one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/storage/memory/engine.h"

namespace {

using namespace apiserver;  // NOLINT: a program of its own.
namespace kv = storage::kv;

class Nothing final : public kv::Observer {
 public:
  void OnCommit(std::span<const kv::Event* const> events, kv::Revision) override {
    told += events.size();
  }
  std::size_t told = 0;
};

using Observations = std::vector<std::unique_ptr<kv::Observation>>;

double Microseconds(Clock::Monotonic begin, std::size_t count) {
  const std::chrono::duration<double, std::micro> took = RealClock().Now() - begin;
  return took.count() / static_cast<double>(count);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Figures {
  std::vector<double> alone;
  std::vector<double> beside;
  std::vector<double> add;
  std::vector<double> remove;
};

class Bench {
 public:
  Bench(std::size_t observers, std::size_t writes)
      : idle_(observers), writes_(writes), held_(kKeys, 0) {
    busy_ = std::move(*engine_->Observe("/registry/example.com/widgets/", observer_));
  }

  void Round(bool alone_first, Figures& figures) {
    if (alone_first) figures.alone.push_back(Write());
    Observations idle;
    auto begin = RealClock().Now();
    for (std::size_t i = 0; i < idle_; ++i) {
      const std::string group = "group-" + std::to_string(i) + ".example.com";
      idle.push_back(std::move(*engine_->Observe("/registry/" + group + "/things/", nothing_)));
    }
    figures.add.push_back(Microseconds(begin, idle_));
    figures.beside.push_back(Write());
    begin = RealClock().Now();
    idle.clear();
    figures.remove.push_back(Microseconds(begin, idle_));
    if (!alone_first) figures.alone.push_back(Write());
  }
  // Every write has reached its observer and nobody else.
  bool honest() const { return observer_.told == written_ && nothing_.told == 0; }

 private:
  static constexpr std::size_t kKeys = 1000;

  double Write() {
    const Context ctx = Context::Background();
    const auto value = std::make_shared<const std::string>(1024, 'x');
    const auto begin = RealClock().Now();
    for (std::size_t i = 0; i < writes_; ++i) {
      kv::TxnRequest request;
      request.key = "/registry/example.com/widgets/default/name-" + std::to_string(i % kKeys);
      request.value = value;
      request.expected_mod_revision = held_[i % kKeys];
      const auto response = engine_->Txn(ctx, request);
      if (!response.ok() || !response->succeeded) continue;
      held_[i % kKeys] = response->revision;
      ++written_;
    }
    return Microseconds(begin, writes_);
  }

  const std::size_t idle_;
  const std::size_t writes_;
  std::size_t written_ = 0;
  std::vector<kv::Revision> held_;
  // It keeps as much history as a server's; each compaction calls all observers.
  std::unique_ptr<kv::Engine> engine_ = storage::memory::NewEngine();
  Nothing observer_;
  Nothing nothing_;
  std::unique_ptr<kv::Observation> busy_;
};

std::size_t NumberOf(int argc, char** argv, int at, std::size_t otherwise) {
  return argc > at ? static_cast<std::size_t>(std::atoi(argv[at])) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t observers = NumberOf(argc, argv, 1, 1000);
  const std::size_t writes = NumberOf(argc, argv, 2, 20'000);
  const std::size_t rounds = NumberOf(argc, argv, 3, 15);
  if (observers == 0 || writes == 0 || rounds == 0) {
    std::fprintf(stderr, "usage: %s [OBSERVERS] [WRITES] [ROUNDS]\n", argv[0]);
    return 2;
  }
  Bench bench(observers, writes);
  Figures warm_up;
  bench.Round(true, warm_up);
  Figures figures;
  for (std::size_t i = 0; i < rounds; ++i) bench.Round(i % 2 == 0, figures);
  const double alone = Median(figures.alone);
  const double beside = Median(figures.beside);
  std::printf(
      "a write %.3f us, beside %zu idle observers %.3f us (%+.1f %%); add %.2f us, remove %.2f "
      "us\n",
      alone, observers, beside, (beside / alone - 1) * 100, Median(figures.add),
      Median(figures.remove));
  return bench.honest() ? 0 : 1;
}
