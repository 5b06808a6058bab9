#include "buggy_rest.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "apiserver/rest/update.h"
#include "apiserver/storage/interface.h"

namespace apiserver::inline v0::testing {
namespace {

using runtime::Object;
using runtime::ObjectPtr;

// Changes the object that another UpdatedObjectInfo makes.
class BentInfo final : public rest::UpdatedObjectInfo {
 public:
  using Bend = std::function<void(Object& object, const Object& old)>;
  BentInfo(const rest::UpdatedObjectInfo& inner, Bend bend, bool preconditions)
      : inner_(inner), bend_(std::move(bend)), preconditions_(preconditions) {}
  meta::Preconditions GetPreconditions() const override {
    return preconditions_ ? inner_.GetPreconditions() : meta::Preconditions();
  }
  Result<std::unique_ptr<Object>> UpdatedObject(const Context& ctx,
                                                const ObjectPtr& old) const override {
    auto object = inner_.UpdatedObject(ctx, old);
    if (object.ok() && old != nullptr) bend_(**object, *old);
    return object;
  }

 private:
  const rest::UpdatedObjectInfo& inner_;
  Bend bend_;
  bool preconditions_;
};

class BentStream final : public watch::Stream {
 public:
  BentStream(std::unique_ptr<watch::Stream> inner, RestBug bug, meta::LabelSelector label)
      : inner_(std::move(inner)), bug_(bug), label_(std::move(label)) {}

  State Next(std::vector<watch::Event>& events, std::size_t events_max,
             const Waker& waker) override {
    std::vector<watch::Event> mine;
    const State state = inner_->Next(mine, events_max, waker);
    for (watch::Event& event : mine) Pass(std::move(event), events);
    return state;
  }

 private:
  void Pass(watch::Event event, std::vector<watch::Event>& events) const {
    const bool deleted = event.type == watch::EventType::kDeleted;
    const bool bookmark = event.type == watch::EventType::kBookmark;
    if (bug_ == RestBug::kWatchDropsDeletes && deleted) return;
    if (bug_ == RestBug::kWatchHasNoInitialEnd && event.initial_events_end) return;
    if (bug_ == RestBug::kWatchHasNoBookmarks && bookmark && !event.initial_events_end) return;
    if (bug_ == RestBug::kWatchDeletesWithOldVersion && deleted) {
      event.resource_version = event.object->resource_version();
    }
    if (bug_ == RestBug::kWatchFiltersNaively && event.object != nullptr) {
      apiserver::storage::SelectionPredicate predicate;
      predicate.label = label_;
      if (!predicate.Matches(*event.object)) return;
    }
    if (bug_ == RestBug::kWatchRepeats && event.type == watch::EventType::kModified) {
      events.push_back(event);
    }
    events.push_back(std::move(event));
  }

  std::unique_ptr<watch::Stream> inner_;
  RestBug bug_;
  meta::LabelSelector label_;
};

// Passes everything on, but for its bug.
class BuggyRest final : public rest::Storage,
                        public rest::Scoper,
                        public rest::Getter,
                        public rest::Lister,
                        public rest::Watcher,
                        public rest::Creater,
                        public rest::Updater,
                        public rest::GracefulDeleter,
                        public rest::CollectionDeleter {
 public:
  BuggyRest(std::shared_ptr<registry::Store> good, RestBug bug)
      : good_(std::move(good)), bug_(bug) {}

  std::unique_ptr<Object> New() const override { return good_->New(); }
  void Destroy() override { good_->Destroy(); }
  bool NamespaceScoped() const override { return good_->NamespaceScoped(); }

  Result<ObjectPtr> Get(const Context& ctx, std::string_view name,
                        const meta::GetOptions& options) override {
    Context inner = Context::Child(ctx);
    if (Is(RestBug::kGetIgnoresNamespace)) inner.Set(rest::Namespace{"ns"});
    meta::GetOptions bent = options;
    if (Is(RestBug::kGetTakesBadVersion)) bent.resource_version.clear();
    auto object = good_->Get(inner, name, bent);
    const bool absent = !object.ok() && object.status().reason() == Reason::kNotFound;
    if (absent && Is(RestBug::kGetOfNothingIs500)) {
      return Status(Reason::kInternalError, "nothing there");
    }
    return object;
  }

  Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) override {
    meta::ListOptions bent = options;
    if (Is(RestBug::kListIgnoresLabels)) bent.label_selector = {};
    if (Is(RestBug::kListIgnoresFields)) bent.field_selector = {};
    if (Is(RestBug::kListIgnoresLimit)) bent.limit = 0;
    if (Is(RestBug::kExactIsNow) &&
        bent.resource_version_match == meta::ResourceVersionMatch::kExact) {
      bent.resource_version_match = meta::ResourceVersionMatch::kNotOlderThan;
    }
    if (Is(RestBug::kPagesGoOnNow) && !bent.continue_token.empty()) {
      auto token = apiserver::storage::DecodeContinueToken(bent.continue_token);
      if (token.ok())
        bent.continue_token = apiserver::storage::EncodeContinueToken({-1, token->start_key});
    }
    auto list = good_->List(ctx, bent);
    if (!list.ok()) return list;
    if (Is(RestBug::kListReversed)) std::reverse(list->items.begin(), list->items.end());
    if (Is(RestBug::kListHasNoVersion)) list->resource_version.clear();
    if (Is(RestBug::kRemainingCountWithSelector) && !list->continue_token.empty()) {
      list->remaining_item_count = 3;
    }
    return list;
  }

  Result<meta::Table> ConvertToTable(const Context& ctx, const std::vector<ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    auto table = good_->ConvertToTable(ctx, items, options);
    if (Is(RestBug::kTableSkipsRow) && table.ok() && !table->rows.empty()) table->rows.pop_back();
    return table;
  }

  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, const meta::ListOptions& options,
                                               Clock::Monotonic deadline) override {
    meta::ListOptions bent = options;
    if (Is(RestBug::kWatchBeginsNow) && !options.send_initial_events) Now(ctx, bent);
    if (Is(RestBug::kWatchExpiresSilently) && bent.resource_version == "1") Now(ctx, bent);
    if (Is(RestBug::kWatchFiltersNaively)) bent.label_selector = {};
    auto stream = good_->Watch(ctx, bent, deadline);
    if (!stream.ok()) return stream;
    return std::make_unique<BentStream>(std::move(*stream), bug_, options.label_selector);
  }

  Result<ObjectPtr> Create(const Context& ctx, std::unique_ptr<Object> object,
                           const rest::ValidateObject& validate,
                           const meta::CreateOptions& options) override {
    meta::CreateOptions bent = options;
    if (Is(RestBug::kCreateIgnoresDryRun)) bent.dry_run = false;
    if (Is(RestBug::kCreateValidatesBeforeNaming) && validate) {
      if (Status judged = validate(ctx, *object); !judged.ok()) return judged;
    }
    const bool skip =
        Is(RestBug::kCreateSkipsValidate) || Is(RestBug::kCreateValidatesBeforeNaming);
    const auto copy = object->Clone();
    auto made = good_->Create(ctx, std::move(object), skip ? nullptr : validate, bent);
    const bool taken = !made.ok() && made.status().reason() == Reason::kAlreadyExists;
    if (!taken || !Is(RestBug::kCreateOverwrites)) return made;
    const std::string name(copy->name());
    const auto info = rest::DefaultUpdatedObjectInfo(ObjectPtr(copy->Clone()));
    auto done = good_->Update(ctx, name, {*info, nullptr, nullptr, false, options});
    if (!done.ok()) return done.status();
    return done->object;
  }

  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    int calls = 0;
    const BentInfo info(
        request.info,
        [&](Object& object, const Object& old) {
          if (Is(RestBug::kUpdateIgnoresVersion)) {
            object.Edit("metadata", "resourceVersion") = old.resource_version();
          }
          if (Is(RestBug::kUpdateAlwaysWrites) && ++calls > 0) {
            object.Edit("metadata", "annotations", "touched") = old.resource_version();
          }
        },
        !Is(RestBug::kUpdateIgnoresUid));
    const rest::ValidateObjectUpdate none = nullptr;
    rest::UpdateRequest bent{info, request.validate_create,
                             Is(RestBug::kUpdateSkipsValidate) ? none : request.validate_update,
                             request.force_allow_create, request.options};
    if (Is(RestBug::kUpdateIgnoresDryRun)) bent.options.dry_run = false;
    return good_->Update(ctx, name, bent);
  }

  Result<rest::DeleteResult> Delete(const Context& ctx, std::string_view name,
                                    const rest::ValidateObject& validate,
                                    const meta::DeleteOptions& options) override {
    meta::DeleteOptions bent = options;
    if (Is(RestBug::kDeleteIgnoresDryRun)) bent.dry_run = false;
    if (Is(RestBug::kDeleteIgnoresPreconditions)) bent.preconditions = {};
    if (Is(RestBug::kDeleteIgnoresFinalizers)) (void)TakeFinalizers(ctx, name);
    return good_->Delete(ctx, name, Is(RestBug::kDeleteSkipsValidate) ? nullptr : validate, bent);
  }

  Result<runtime::List> DeleteCollection(const Context& ctx, const rest::ValidateObject& validate,
                                         const meta::DeleteOptions& options,
                                         const meta::ListOptions& list_options) override {
    meta::ListOptions bent = list_options;
    if (Is(RestBug::kCollectionIgnoresSelector)) bent.label_selector = {};
    return good_->DeleteCollection(ctx, validate, options, bent);
  }

 private:
  class NoFinalizers final : public rest::UpdatedObjectInfo {
   public:
    Result<std::unique_ptr<Object>> UpdatedObject(const Context&,
                                                  const ObjectPtr& old) const override {
      auto object = old->Clone();
      object->Erase("metadata", "finalizers");
      return object;
    }
  };

  bool Is(RestBug bug) const { return bug_ == bug; }
  void Now(const Context& ctx, meta::ListOptions& options) const {
    options.resource_version = good_->List(ctx, {}).value().resource_version;
  }
  Status TakeFinalizers(const Context& ctx, std::string_view name) {
    const NoFinalizers info;
    return good_->Update(ctx, name, {info, nullptr, nullptr, false, {}}).status();
  }

  std::shared_ptr<registry::Store> good_;
  RestBug bug_;
};

}  // namespace

std::shared_ptr<rest::Storage> WithRestBug(std::shared_ptr<registry::Store> good, RestBug bug) {
  return std::make_shared<BuggyRest>(std::move(good), bug);
}

}  // namespace apiserver::inline v0::testing
