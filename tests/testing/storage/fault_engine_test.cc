#include "apiserver/testing/storage/fault_engine.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/storage/memory/engine.h"

using namespace apiserver;  // NOLINT: a test.
namespace kv = storage::kv;
using testing::storage::FaultPlan;

namespace {

struct Fixture {
  Result<kv::TxnResponse> Create(const std::string& key) const {
    kv::TxnRequest txn;
    txn.key = key;
    txn.value = std::make_shared<const std::string>("v");
    return faulty->Txn(ctx, txn);
  }
  bool Has(const std::string& key) const {
    kv::RangeRequest request;
    request.key = key;
    return engine->Range(ctx, request)->count == 1;
  }

  Context ctx = Context::Background();
  std::unique_ptr<kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::storage::FaultEngine> faulty = testing::storage::NewFaultEngine(*engine);
};

// "..E.L": what becomes of creates under `plan`.
std::string Pattern(const FaultPlan& plan) {
  Fixture f;
  f.faulty->SetPlan(plan);
  std::string pattern;
  for (int i = 0; i < 60; ++i) {
    const std::string key = "k" + std::to_string(i);
    const bool ok = f.Create(key).ok();
    pattern += ok ? '.' : f.Has(key) ? 'L' : 'E';
  }
  return pattern;
}

}  // namespace

TEST_CASE("testing.storage: a call that fails has done nothing", "[testing.storage]") {
  Fixture f;
  f.faulty->FailTxnAt(2, Status(Reason::kInternalError, "disk"));
  CHECK(f.Create("a").ok());
  CHECK(f.Create("b").status() == Status(Reason::kInternalError, "disk"));
  CHECK(f.Create("c").ok());
  CHECK(!f.Has("b"));
}

TEST_CASE("testing.storage: a lost answer was a write", "[testing.storage]") {
  Fixture f;
  f.faulty->LoseTxns(1);
  CHECK(f.Create("a").status().reason() == Reason::kTimeout);
  CHECK(f.Has("a"));
  CHECK(f.faulty->counts().lost_answers == 1);
}

TEST_CASE("testing.storage: tails end when they are told to", "[testing.storage]") {
  Fixture f;
  const auto tail = *f.faulty->NewTail("", 0);
  kv::EventBatch batch;
  CHECK(tail->Next(batch, Waker()) == kv::Tail::State::kWait);
  f.faulty->EndTails();
  CHECK(tail->Next(batch, Waker()) == kv::Tail::State::kEnd);
  CHECK(tail->status().reason() == Reason::kServiceUnavailable);
  const auto later = *f.faulty->NewTail("", 0);
  CHECK(later->Next(batch, Waker()) == kv::Tail::State::kWait);
}

TEST_CASE("testing.storage: a plan repeats itself from its seed", "[testing.storage]") {
  FaultPlan plan;
  plan.seed = 7;
  plan.txn_errors = 2000;
  plan.lost_answers = 2000;
  const std::string pattern = Pattern(plan);
  CHECK(pattern.find('E') != std::string::npos);
  CHECK(pattern.find('L') != std::string::npos);
  CHECK(Pattern(plan) == pattern);
  plan.seed = 8;
  CHECK(Pattern(plan) != pattern);
  CHECK(Pattern({}) == std::string(60, '.'));
}
