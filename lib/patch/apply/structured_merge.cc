#include "patch/apply/structured_merge.h"

#include <memory>
#include <utility>

#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

// Prints Go's %v of a GroupVersionKind; that of the legacy group begins with a slash.
std::string Printed(const runtime::GroupVersionKind& gvk) {
  return gvk.group + "/" + gvk.version + ", Kind=" + gvk.kind;
}

Status Failed(std::string what, const Status& why) {
  return {Reason::kUnknown, std::move(what) + std::string(why.message())};
}

Value WithoutManagedFields(Value root, runtime::Arena& arena) {
  const Value metadata = root["metadata"];
  if (metadata.Find("managedFields") == nullptr) return root;
  return runtime::With(root, "metadata", runtime::Without(metadata, "managedFields", arena), arena);
}

// Versions of one kind.
struct FromTo {
  std::string_view from;
  std::string_view to;
};

// Converts through an object that shares the content and lives as long as the arena.
Result<Value> Converted(const runtime::KindPtr& kind, const FromTo& versions, Value content,
                        const Work& work) {
  auto view = std::make_shared<runtime::Object>(kind, versions.from, runtime::Arena(), content);
  RETURN_IF_ERROR(runtime::Convert(work.ctx, *view, versions.to));
  const Value converted = view->root();
  work.arena.Pin(std::move(view));
  return converted;
}

// Upstream's versionConverter, for one call.
class VersionsOf final : public Converter {
 public:
  VersionsOf(const TypeConverter& types, const Context& ctx) : types_(types), ctx_(ctx) {}

  const ParseableType* TypeOf(std::string_view api_version) const override {
    const auto gv = runtime::GroupVersion::Parse(api_version);
    return gv.group == types_.kind()->group() ? types_.TypeOf(gv.version) : nullptr;
  }
  Result<Value> Convert(Value content, std::string_view from, std::string_view to,
                        runtime::Arena& arena) const override {
    const std::string before = runtime::GroupVersion::Parse(from).version;
    const std::string after = runtime::GroupVersion::Parse(to).version;
    return Converted(types_.kind(), {before, after}, content, {ctx_, arena});
  }

 private:
  const TypeConverter& types_;
  const Context& ctx_;
};

}  // namespace

TypeConverter::TypeConverter(runtime::KindPtr kind) : kind_(std::move(kind)) {
  for (const runtime::KindVersion& version : kind_->versions()) {
    auto empty = std::make_unique<runtime::Object>(kind_, version.version);
    (void)runtime::Settle(*empty, {.defaults = false});  // An object without fields always fits.
    versions_.emplace(version.version, Version{ParseableType(version.schema), std::move(empty)});
  }
}

const ParseableType* TypeConverter::TypeOf(std::string_view version) const {
  const auto found = versions_.find(version);
  return found != versions_.end() ? &found->second.type : nullptr;
}

Value TypeConverter::EmptyObject(std::string_view version) const {
  const auto found = versions_.find(version);
  return found != versions_.end() ? found->second.empty->root() : Value();
}

StructuredMerge::StructuredMerge(TypeConverterPtr types, std::string version,
                                 const FieldFilters& reset_fields)
    : types_(std::move(types)),
      version_(std::move(version)),
      api_version_(types_->kind()->gvk(version_).group_version().ToString()),
      type_(types_->TypeOf(version_)),
      reset_fields_(reset_fields) {}

std::string StructuredMerge::Describe(Value content) const {
  const Value metadata = content["metadata"];
  return std::string(metadata["namespace"].AsString()) + "/" +
         std::string(metadata["name"].AsString()) + "; " + Printed(kind().gvk(version_));
}

Result<Value> StructuredMerge::ToVersioned(const runtime::Object& object, const Work& work) const {
  RETURN_IF_ERROR(object.load_status());
  const Value content = WithoutManagedFields(object.root(), work.arena);
  if (object.version() == version_) return content;
  return Converted(types_->kind(), {object.version(), version_}, content, work);
}

Result<Managers> StructuredMerge::Update(UpdateRequest request, const Work& work) const {
  const auto typed = [this, &request](Value value) -> Result<TypedValue> {
    // Compare() has validated both.
    if (request.changes != nullptr) return TypedValue(value, *type_);
    // Updates let duplicate items in, so stored objects may have some.
    return AsTyped(value, *type_, {.allow_duplicates = true});
  };
  const auto typed_now = typed(request.now);
  if (!typed_now.ok()) {
    return Failed("failed to convert new object (" + Describe(request.now) + ") to smd typed: ",
                  typed_now.status());
  }
  const auto typed_live = typed(request.live);
  if (!typed_live.ok()) {
    return Failed("failed to convert live object (" + Describe(request.live) + ") to smd typed: ",
                  typed_live.status());
  }
  const VersionsOf versions(*types_, work.ctx);
  auto updated = Updater(versions, &reset_fields_)
                     .Update(*typed_live, *typed_now,
                             {.version = api_version_,
                              .managers = std::move(request.managers),
                              .manager = request.manager,
                              .changes = request.changes},
                             work.arena);
  if (!updated.ok()) {
    return Failed("failed to update ManagedFields (" + Describe(request.now) + "): ",
                  updated.status());
  }
  return updated;
}

Result<Comparison> StructuredMerge::Compare(Value live, Value now, const Work& work) const {
  const ValidationOptions options{.allow_duplicates = true};
  ASSIGN_OR_RETURN(const TypedValue typed_now, AsTyped(now, *type_, options));
  ASSIGN_OR_RETURN(const TypedValue typed_live, AsTyped(live, *type_, options));
  return Compare(typed_live, typed_now, work);
}

const FieldFilter* StructuredMerge::Filter() const {
  const auto found = reset_fields_.find(api_version_);
  return found != reset_fields_.end() ? &found->second : nullptr;
}

Result<Comparison> StructuredMerge::Compare(const TypedValue& live, const TypedValue& now,
                                            const Work& work) const {
  ASSIGN_OR_RETURN(Comparison changes, live.Compare(now, work.arena));
  if (const FieldFilter* const filter = Filter()) {
    for (FieldSet* const set : {&changes.removed, &changes.modified, &changes.added}) {
      *set = filter->Filter(*set, work.arena);
    }
  }
  return changes;
}

Result<std::optional<FieldSet>> StructuredMerge::FieldsOf(Value config, const Work& work) const {
  const FieldFilter* const filter = Filter();
  // Updater::Run::Prune says why.
  if (filter != nullptr && !filter->excludes()) return std::optional<FieldSet>();
  ASSIGN_OR_RETURN(const TypedValue typed, AsTyped(config, *type_));
  ASSIGN_OR_RETURN(const FieldSet set, typed.ToFieldSet(work.arena));
  return std::optional(filter == nullptr ? set : filter->Filter(set, work.arena));
}

Result<StructuredMerge::Merged> StructuredMerge::Merge(Value live, Value config,
                                                       const Work& work) const {
  ASSIGN_OR_RETURN(const TypedValue typed_live, AsTyped(live, *type_, {.allow_duplicates = true}));
  ASSIGN_OR_RETURN(const TypedValue merged,
                   typed_live.Merge(TypedValue(config, *type_), work.arena));
  ASSIGN_OR_RETURN(const Comparison changes, Compare(typed_live, merged, work));
  // Objects without differences may still have items in another order.
  const bool changed = !changes.IsSame() || !ValuesEqual(live, merged.value());
  return Merged{merged.value(), changes, changed};
}

Result<Updater::Applied> StructuredMerge::Apply(ApplyRequest request, const Work& work) const {
  const auto config = AsTyped(request.config, *type_);
  if (!config.ok()) {
    return Failed("failed to create typed patch object (" + Describe(request.config) + "): ",
                  config.status());
  }
  const auto live = AsTyped(request.live, *type_, {.allow_duplicates = true});
  if (!live.ok()) {
    return Failed("failed to create typed live object (" + Describe(request.live) + "): ",
                  live.status());
  }
  const VersionsOf versions(*types_, work.ctx);
  auto applied = Updater(versions, &reset_fields_)
                     .Apply(*live, *config,
                            {.version = api_version_,
                             .managers = std::move(request.managers),
                             .manager = request.manager,
                             .force = request.force},
                            work.arena);
  if (!applied.ok()) return Status(Reason::kUnknown, std::string(applied.status().message()));
  return applied;
}

}  // namespace apiserver::v0::patch::apply
