#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/object.h"

// Judges whether a rest::Storage keeps what its capability interfaces promise, without a server:
// named cases that any test framework can run; rest_conformance_catch2.h does it for Catch2.
namespace apiserver::inline v0::testing::storage {

// One opened storage and the ways around it. The functions run on the thread of the case and may
// block.
struct RestOpened {
  // Destroyed last: what the storage needs to live (an engine, a pool).
  std::shared_ptr<void> keep;
  // Required. Holds nothing, and is ready.
  std::shared_ptr<rest::Storage> storage;
  // Makes `object` the one of its name, new or changed, by other means than the storage's own
  // writes; reads show it when this returns. Null: the storage's own create and update are used.
  // Required for a storage without them.
  std::function<Status(std::unique_ptr<runtime::Object> object)> put = nullptr;
  // Removes an object in the same way. Null: the storage's own delete is used.
  std::function<Status(std::string_view space, std::string_view name)> remove = nullptr;
  // Makes the storage forget what was before `resource_version`. Null: the cases about expired
  // versions are skipped; then "expiry" must be among RestHost::lacks.
  std::function<Status(std::string_view resource_version)> forget = nullptr;
};

// Describes a storage to the cases. The functions run on the thread of the case and may block.
struct RestHost {
  // Required. Opens a new storage for each case. Time must pass for it as for RealClock().
  std::function<Result<RestOpened>()> open;
  // Adds to `object`, which has a name and a namespace, what makes it valid. Null: nothing. The
  // cases change labels, or the mark, annotations and finalizers only.
  std::function<void(runtime::Object& object)> fill = nullptr;
  // Makes a valid object invalid. Null: the cases about validation by the storage are skipped; then
  // "validation" must be among `lacks`.
  std::function<void(runtime::Object& object)> spoil = nullptr;
  // Writes `mark`, a word such as "red", somewhere into `object` where the storage keeps it: the
  // cases tell the states of an object apart by it. Null: it is the value of the label "kit". For
  // objects that can have no labels; then the cases about label selectors are skipped, and "labels"
  // must be among `lacks`.
  std::function<void(runtime::Object& object, std::string_view mark)> mark = nullptr;
  // Returns the mark of `object`. Required together with `mark`.
  std::function<std::string(const runtime::Object& object)> mark_of = nullptr;
  // Makes a name that the storage's objects can have from a case's, which consists of one to three
  // characters of a-z and 0-9. Different names become different ones in the same (ASCII) order.
  // Null: the names are taken as they are. Only for a storage without create, whose clients choose
  // no names.
  std::function<std::string(std::string_view name)> name = nullptr;
  // The capabilities that the storage lacks: "get", "list", "watch", "create", "update", "delete",
  // "deletecollection", "namespaces" (cluster scope), "labels", "expiry", "validation",
  // "finalizers", "bookmarks" (during a watch; the one that ends initial events is always wanted).
  // Cases that need it are skipped. The case "storage: lacks what its host says, and no more" fails
  // if the list does not fit the storage's interfaces and this struct, so that nothing is skipped
  // unnoticed.
  std::vector<std::string> lacks = {};
};

// One promise, judged with a storage of its own.
struct RestCase {
  std::string name;  // "create: a taken name is 409 and keeps what is there".
  // Returns OK, or an error with the broken promise and its source line. Blocks its thread until
  // the case is over.
  std::function<Status(const RestHost&)> run;
};

// The cases that apply to `host`.
std::vector<RestCase> RestCases(const RestHost& host);
// The others, each with what it needs: "create: ... (needs create)".
std::vector<std::string> SkippedRestCases(const RestHost& host);

}  // namespace apiserver::inline v0::testing::storage
