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

// What the storage cases are written with.
namespace apiserver::inline v0::testing::storage {

using apiserver::storage::GetOptions;
using apiserver::storage::ListOptions;
using apiserver::storage::Update;
using apiserver::storage::UpdateOptions;
using meta::ResourceVersionMatch;

// The real time and what a case adds to it.
class ShiftedClock final : public Clock {
 public:
  Monotonic Now() const override { return RealClock().Now() + Shift(); }
  Wall WallNow() const override { return RealClock().WallNow() + Shift(); }
  void Advance(std::chrono::nanoseconds by) { shift_ += by.count(); }

 private:
  std::chrono::nanoseconds Shift() const { return std::chrono::nanoseconds(shift_.load()); }
  std::atomic<std::int64_t> shift_{0};
};

// Reads a watch from a case's thread.
class WatchReader {
 public:
  explicit WatchReader(std::unique_ptr<watch::Stream> stream);
  WatchReader(WatchReader&&) noexcept;
  ~WatchReader();

  // The next event, after ten seconds at most; nullopt: the watch is over, or no event came.
  std::optional<watch::Event> Next();
  // "ADDED one 5", "BOOKMARK  7", "BOOKMARK-END  7", "ERROR Expired", "END", "NOTHING".
  std::string NextText();
  // As NextText(), passing over bookmarks.
  std::string NextChange();
  // What can be had without waiting.
  std::vector<watch::Event> Ready();
  // Whether the last Next() found the watch over.
  bool over() const { return over_; }

 private:
  std::shared_ptr<Bell> bell_;
  std::unique_ptr<watch::Stream> stream_;
  std::vector<watch::Event> events_;
  std::size_t next_ = 0;
  bool over_ = false;
};

// A storage in a test. What returns an object or a reader rather than a Result throws what
// Result::value() throws, which fails the case; whoever runs the case asks failure() for why.
class StorageSubject {
 public:
  static Result<std::unique_ptr<StorageSubject>> Open(const StorageHost& host);
  ~StorageSubject();

  static std::string KeyOf(std::string_view name, std::string_view space = "ns");
  // A stored widget; `color` sets spec.color and the label color.
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
  // Another storage over the same engine, as after a restart.
  Result<std::unique_ptr<apiserver::storage::Interface>> OpenAnother();
  // Another one that hardly waits for a revision; for what asks for one of the future.
  Result<std::unique_ptr<apiserver::storage::Interface>> OpenImpatient();
  // Puts bytes under a key as if another server had written them; returns the revision.
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

// "one two": what a list holds.
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

// `options`, for objects whose labels match `labels`.
ListOptions WithLabels(ListOptions options, std::string_view labels);

}  // namespace apiserver::inline v0::testing::storage
