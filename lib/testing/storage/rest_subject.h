#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/rest/update.h"
#include "apiserver/testing/storage/rest_conformance.h"
#include "testing/storage/storage_subject.h"

// The helpers of the cases for a rest::Storage.
namespace apiserver::inline v0::testing::storage::rest_kit {

using runtime::Object;
using runtime::ObjectPtr;

// Makes the new object by changing the old one.
class Editing final : public rest::UpdatedObjectInfo {
 public:
  using Edit = std::function<void(Object&)>;
  explicit Editing(Edit edit, meta::Preconditions preconditions = {})
      : edit_(std::move(edit)), preconditions_(std::move(preconditions)) {}
  meta::Preconditions GetPreconditions() const override { return preconditions_; }
  Result<std::unique_ptr<Object>> UpdatedObject(const Context& ctx,
                                                const ObjectPtr& old) const override;

 private:
  Edit edit_;
  meta::Preconditions preconditions_;
};

// The names that a host made of the cases' names, each with the case's. Empty: the host takes the
// cases' names as they are.
using CaseNames = std::map<std::string, std::string, std::less<>>;

// A watch, read from a case's thread. `names` outlives it.
class Watching {
 public:
  Watching(std::unique_ptr<watch::Stream> stream, const CaseNames& names)
      : reader_(std::move(stream)), names_(&names) {}
  // The next event; kTimeout: none came, or the watch has ended.
  Result<watch::Event> Next();
  // "ADDED a", "BOOKMARK", "BOOKMARK-END", "ERROR Expired", "NOTHING".
  std::string NextText();
  // As NextText(), passing over bookmarks.
  std::string NextChange();
  // Returns the events that are ready, without bookmarks: "ADDED a, DELETED b".
  std::string Ready();

 private:
  WatchReader reader_;
  const CaseNames* names_;
};

// A storage under test. What returns an object or a watch rather than a Result throws what
// Result::value() throws, which fails the case; failure() says why.
class RestSubject {
 public:
  static Result<std::unique_ptr<RestSubject>> Open(const RestHost& host);
  ~RestSubject();

  bool namespaced() const { return namespaced_; }
  // The Context of a request in `space`.
  Context In(std::string_view space) const;
  // A valid object without uid. `mark` tells its states apart: it is the value of its label "kit",
  // or where RestHost::mark writes it.
  std::unique_ptr<Object> New(std::string_view name, std::string_view mark = "one",
                              std::string_view space = "ns");
  std::string MarkOf(const Object& object) const;
  // The name of an object as its storage has it, and the name that the cases call it by.
  std::string HostName(std::string_view name);
  std::string NameOf(const Object& object) const;

  // Brings an object about, changes its mark, and removes it, by whatever means there are.
  void Add(std::string_view name, std::string_view mark = "one", std::string_view space = "ns");
  void Remark(std::string_view name, std::string_view mark, std::string_view space = "ns");
  void Remove(std::string_view name, std::string_view space = "ns");

  Result<ObjectPtr> Get(std::string_view name, std::string_view rv = "",
                        std::string_view space = "ns");
  Result<runtime::List> List(const meta::ListOptions& options = {}, std::string_view space = "ns");
  // "a b", or the error.
  std::string NamesOf(const Result<runtime::List>& list) const;
  std::string Names(const meta::ListOptions& options = {}, std::string_view space = "ns");
  Result<ObjectPtr> Create(std::unique_ptr<Object> object,
                           const rest::ValidateObject& validate = nullptr, bool dry_run = false);
  Result<rest::UpdateResult> Update(std::string_view name, const rest::UpdatedObjectInfo& info,
                                    const rest::ValidateObjectUpdate& validate = nullptr,
                                    bool dry_run = false);
  // Sets an annotation.
  Result<rest::UpdateResult> Note(std::string_view name, std::string_view text);
  Result<rest::DeleteResult> Delete(std::string_view name, const meta::DeleteOptions& options = {},
                                    const rest::ValidateObject& validate = nullptr);
  Result<runtime::List> DeleteCollection(const meta::DeleteOptions& options,
                                         const meta::ListOptions& list_options,
                                         const rest::ValidateObject& validate = nullptr);
  Result<std::unique_ptr<watch::Stream>> TryWatch(meta::ListOptions options,
                                                  std::string_view space = "ns",
                                                  std::chrono::seconds life = kWatchLife);
  // Reads `stream`, which TryWatch() returned.
  Watching Read(std::unique_ptr<watch::Stream> stream) const;
  Watching Watch(const meta::ListOptions& options, std::string_view space = "ns");
  Watching WatchFrom(std::string_view rv, std::string_view space = "ns");
  // The resourceVersion of a list of everything.
  std::string Now();
  void Forget(std::string_view rv);

  const RestHost& host() const { return host_; }
  const RestOpened& opened() const { return opened_; }
  const rest::Capabilities& can() const { return can_; }
  const Status& failure() const { return failure_; }

  static constexpr std::chrono::seconds kWatchLife{600};

 private:
  RestSubject(const RestHost& host, RestOpened opened);
  template <class T>
  T Must(Result<T> result);
  void Must(const Status& status);
  void SetMark(Object& object, std::string_view mark) const;

  RestHost host_;
  RestOpened opened_;
  rest::Capabilities can_;
  bool namespaced_ = false;
  CaseNames names_;
  Status failure_;
};

// Options of a list or watch.
meta::ListOptions At(std::string_view rv,
                     ResourceVersionMatch match = ResourceVersionMatch::kUnset);
meta::ListOptions Labelled(std::string_view selector);
meta::ListOptions Pages(std::int64_t limit, std::string_view token = "");
// A resourceVersion as a number; zero: it is none.
std::uint64_t Number(std::string_view rv);

// The capabilities that a case needs, as bits.
enum Need : unsigned {
  kGet = 1U << 0U,
  kList = 1U << 1U,
  kWatch = 1U << 2U,
  kCreate = 1U << 3U,
  kUpdate = 1U << 4U,
  kDelete = 1U << 5U,
  kCollection = 1U << 6U,
  kNamespaces = 1U << 7U,
  kExpiry = 1U << 8U,
  kValidation = 1U << 9U,
  kFinalizers = 1U << 10U,
  kBookmarks = 1U << 11U,
  kLabels = 1U << 12U,
};

struct RestCaseRow {
  const char* name;
  unsigned needs;
  Status (*run)(RestSubject&);
};
using RestCaseTable = std::vector<RestCaseRow>;

RestCaseTable GetCases();
RestCaseTable ListCases();
RestCaseTable PageCases();
RestCaseTable WatchCases();
RestCaseTable InitialEventCases();
RestCaseTable CreateCases();
RestCaseTable UpdateCases();
RestCaseTable DeleteCases();

}  // namespace apiserver::inline v0::testing::storage::rest_kit
