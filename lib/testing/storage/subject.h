#pragma once

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/testing/storage/engine_conformance.h"
#include "testing/storage/bell.h"

// The vocabulary of the engine's conformance cases.
namespace apiserver::inline v0::testing::storage {

namespace kv = apiserver::storage::kv;
using kv::Revision;

// A clock that stands still until a case advances it.
class ManualClock final : public Clock {
 public:
  Monotonic Now() const override { return *now_.Lock(); }
  Wall WallNow() const override { return Wall(Now().time_since_epoch()); }
  void Advance(std::chrono::nanoseconds by) { *now_.Lock() += by; }

 private:
  // Not at zero, where a deadline computed backwards would underflow.
  Guarded<Monotonic> now_{Monotonic(std::chrono::hours(1000))};
};

// An engine in a test, with shorthands for its calls.
class Subject {
 public:
  static Result<std::unique_ptr<Subject>> Open(const EngineHost& host);
  ~Subject();

  kv::Engine& engine() { return *engine_; }
  ManualClock& clock() { return clock_; }
  const EngineHost& host() const { return host_; }
  // Stops and destroys the engine, and opens what it left behind.
  Status Reopen();

  // Create, Update, Delete and Tick return the revision of the write. kConflict: the comparison
  // failed.
  Result<Revision> Create(const std::string& key, const std::string& value, kv::LeaseId lease = 0);
  // Replaces the key's current value, whatever it is.
  Result<Revision> Update(const std::string& key, const std::string& value, kv::LeaseId lease = 0);
  Result<Revision> Delete(const std::string& key);
  // Writes to a key outside the cases' prefixes, to advance the revision.
  Result<Revision> Tick();

  Result<kv::TxnResponse> Txn(const std::string& key, Revision expected,
                              std::optional<std::string> value, kv::LeaseId lease = 0);
  // Reads a key. Null value: the key is absent.
  Result<kv::KeyValue> Get(const std::string& key, Revision at = 0);
  Result<kv::RangeResponse> List(const std::string& prefix, Revision at = 0, std::size_t limit = 0);
  // Returns the pairs in the order of the response: "a=1 b=2".
  Result<std::string> Text(const std::string& prefix, Revision at = 0);
  Result<Revision> Current();
  Status Compact(Revision revision);

 private:
  explicit Subject(const EngineHost& host) : host_(host) {}

  EngineHost host_;
  ManualClock clock_;
  std::unique_ptr<kv::Engine> engine_;
};

std::string TextOf(const std::vector<kv::KeyValue>& kvs);
// "create a=1@5", "put a=2@6 was 1@5", "delete a@7 was 2@6".
std::string TextOf(const kv::Event& event);
std::string TextOf(const std::vector<kv::Event>& events);

// Reads a tail as a cache does: polls, waits for the waker, polls again. For one thread.
class TailReader {
 public:
  static Result<std::unique_ptr<TailReader>> Open(kv::Engine& engine, std::string_view prefix,
                                                  Revision from);

  // Reads until all events up to `revision` are there, and returns those since the last call.
  // kTimeout after ten seconds; the tail's own status when it ends.
  Result<std::vector<kv::Event>> ReadTo(Revision revision);
  // Reads until the tail ends, and returns its status.
  Status ReadToEnd();
  // Polls once with the reader's waker.
  kv::Tail::State Poll(kv::EventBatch& batch);
  // Waits for a wake-up by the tail for up to ten seconds. False: there was none.
  bool WaitForWake();
  kv::Tail& tail() { return *tail_; }

 private:
  TailReader() = default;

  std::shared_ptr<Bell> bell_;
  std::shared_ptr<Wakeable> target_;
  std::unique_ptr<kv::Tail> tail_;
};

// Polls `holds` until it is true. False: it was not within ten seconds.
bool Eventually(const std::function<bool()>& holds);

template <class T>
std::string Show(const T& value) {
  std::ostringstream out;
  out << std::boolalpha << value;
  return out.str();
}

// Makes the error of a broken promise: where and what.
Status Broken(const char* file, int line, const std::string& what);

template <class Actual, class Expected>
Status Equal(const char* file, int line, const char* text, const Actual& actual,
             const Expected& expected) {
  if (actual == expected) return Status::Ok();
  return Broken(
      file, line,
      std::string(text) + " is \"" + Show(actual) + "\", must be \"" + Show(expected) + "\"");
}

// Fail the case unless `condition` holds, or both values are equal.
#define EXPECT(condition) \
  if (!(condition)) return Broken(__FILE__, __LINE__, #condition)
#define EXPECT_EQ(actual, expected) \
  if (Status kit_s = Equal(__FILE__, __LINE__, #actual, actual, expected); !kit_s.ok()) return kit_s
// Fails the case unless `expression`, a Result or Status, is the error `reason_word`.
#define EXPECT_REASON(expression, reason_word)                                                  \
  if (const Status kit_s = StatusOf(expression); kit_s.ok() || kit_s.reason() != (reason_word)) \
  return Broken(__FILE__, __LINE__,                                                             \
                #expression " is \"" + kit_s.ToString() + "\", must be " #reason_word)

inline Status StatusOf(const Status& status) { return status; }
template <class T>
Status StatusOf(const Result<T>& result) {
  return result.status();
}

// A row of a table of cases.
struct CaseRow {
  const char* name;
  Status (*run)(Subject&);
  bool embedded = false;  // If set, left out if EngineHost::remote.
};
using CaseTable = std::vector<CaseRow>;

CaseTable WriteCases();
CaseTable RangeCases();
CaseTable HistoryCases();
CaseTable TailCases();
CaseTable LeaseCases();
CaseTable LifeCases();
CaseTable ConcurrencyCases();
CaseTable ModelCases();
CaseTable ObserverCases();      // Only if the host has observers.
CaseTable ObserverLifeCases();  // Only if the host has observers.
CaseTable DurableCases();       // Only if the host can reopen.

}  // namespace apiserver::inline v0::testing::storage
