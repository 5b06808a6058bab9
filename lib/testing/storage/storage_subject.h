#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/meta/watch.h"
#include "apiserver/testing/storage/storage_conformance.h"
#include "apiserver/testing/storage/widget.h"
#include "testing/storage/bell.h"
#include "testing/storage/subject.h"

// The vocabulary of the storage cases.
namespace apiserver::inline v0::testing::storage {

using apiserver::storage::GetOptions;
using apiserver::storage::ListOptions;
using apiserver::storage::Update;
using apiserver::storage::UpdateOptions;
using meta::ResourceVersionMatch;

// The real time plus the time that a case added.
class ShiftedClock final : public Clock {
 public:
  Monotonic Now() const override { return RealClock().Now() + Shift(); }
  Wall WallNow() const override { return RealClock().WallNow() + Shift(); }
  void Advance(std::chrono::nanoseconds by) { shift_ += by.count(); }

 private:
  std::chrono::nanoseconds Shift() const { return std::chrono::nanoseconds(shift_.load()); }
  std::atomic<std::int64_t> shift_{0};
};

// Reads a watch on a case's thread.
class WatchReader {
 public:
  explicit WatchReader(std::unique_ptr<watch::Stream> stream);
  WatchReader(WatchReader&&) noexcept;
  ~WatchReader();

  // Waits for the next event for up to ten seconds. Nullopt: the watch has ended, or no event came.
  std::optional<watch::Event> Next();
  // The next event as text: "ADDED one 5", "BOOKMARK  7", "BOOKMARK-END  7", "ERROR Expired",
  // "END", "NOTHING".
  std::string NextText();
  // Like NextText(), but skips bookmarks.
  std::string NextChange();
  // The events that are available without waiting.
  std::vector<watch::Event> Ready();
  // True if the last Next() found that the watch has ended.
  bool over() const { return over_; }

 private:
  std::shared_ptr<Bell> bell_;
  std::unique_ptr<watch::Stream> stream_;
  std::vector<watch::Event> events_;
  std::size_t next_ = 0;
  bool over_ = false;
};

// A storage in a test. Functions that return an object or a reader instead of a Result throw like
// Result::value(), which fails the case; failure() then has the reason.
class StorageSubject {
 public:
  static Result<std::unique_ptr<StorageSubject>> Open(const StorageHost& host);
  ~StorageSubject();

  static std::string KeyOf(std::string_view name, std::string_view space = "ns");
  // Stores a widget; `color` sets spec.color and the label color.
  runtime::ObjectPtr Create(std::string_view name, std::string_view space = "ns",
                            std::string_view color = "");
  // Sets spec.size, and spec.color and its label if `color` is given.
  Result<runtime::ObjectPtr> Resize(std::string_view name, int size, std::string_view color = "");
  Result<runtime::ObjectPtr> Delete(std::string_view name);
  Result<runtime::ObjectPtr> Get(std::string_view name, std::string rv = "");
  Result<runtime::List> List(const ListOptions& options = {}, std::string_view key = "/");
  WatchReader Watch(const ListOptions& options, std::string_view key = "/");
  WatchReader WatchFrom(std::string_view rv);
  void Compact(std::string_view rv);
  // Opens another storage over the same engine, as after a restart.
  Result<std::unique_ptr<apiserver::storage::Interface>> OpenAnother();
  // Opens another storage that waits for a revision for 50 ms only, for requests of future
  // revisions.
  Result<std::unique_ptr<apiserver::storage::Interface>> OpenImpatient();
  // Writes bytes under a key as another server would. Returns the revision of the write.
  Result<Revision> Put(std::string_view name, std::string bytes);

  const Status& failure() const { return failure_; }
  ShiftedClock& clock() { return clock_; }

  const Context ctx = Context::Background();
  const std::string prefix = "/registry/test.example.com/widgets";
  const runtime::KindPtr kind = NewWidgetKind();
  std::unique_ptr<kv::Engine> engine;
  std::unique_ptr<apiserver::storage::Interface> storage;

 private:
  explicit StorageSubject(const StorageHost& host) : host_(host) {}
  Result<std::unique_ptr<apiserver::storage::Interface>> OpenOver(
      std::chrono::milliseconds fresh_wait);
  template <class T>
  T Must(Result<T> result);

  StorageHost host_;
  ShiftedClock clock_;
  Status failure_;
  std::unique_ptr<ThreadPool> pool_ = NewThreadPool({"storage", 2});
};

// The names of a list's objects, "one two", or its error.
std::string NamesOf(const Result<runtime::List>& list);

struct StorageCaseRow {
  const char* name;
  const char* upstream;
  Status (*run)(StorageSubject&);
};
using StorageCaseTable = std::vector<StorageCaseRow>;

StorageCaseTable StorageObjectCases();
StorageCaseTable StorageDeleteCases();
StorageCaseTable StorageListCases();
StorageCaseTable StorageWatchCases();
StorageCaseTable StorageBookmarkCases();
StorageCaseTable StorageDamageCases();

// Returns `options` with the label selector `labels`.
ListOptions WithLabels(ListOptions options, std::string_view labels);

}  // namespace apiserver::inline v0::testing::storage
