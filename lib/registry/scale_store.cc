#include <limits>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"
#include "apiserver/patch/apply/scale_handler.h"
#include "apiserver/registry/scale.h"
#include "apiserver/request/request_info.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/schema_path.h"
#include "base/status_macros.h"
#include "registry/declared_paths.h"
#include "registry/scale_view.h"

namespace apiserver::v0::registry {
namespace {

// A marker in the Scale of a custom resource without replicas while a patch is applied to it, as in
// Go. If it is still there afterwards, the patch did not set the replicas.
constexpr std::int64_t kNoReplicas = std::numeric_limits<std::int32_t>::min();

// The state that all parts of one scale subresource share.
struct Scaled {
  std::shared_ptr<Store> main;
  runtime::KindPtr main_kind;
  runtime::KindPtr scale_kind;
  ScaleView view;
  std::string spec_replicas_path;

  // Returns the object in the version to which the view's paths refer.
  Result<runtime::ObjectPtr> ForRules(const Context& ctx, const runtime::ObjectPtr& object) const {
    return runtime::Converted(ctx, object, main_kind->hub_version());
  }
  bool structural() const { return main_kind->semantics() == runtime::Semantics::kCustomResource; }
  // Tells if the store checks the replicas with the rest of the object (rest::ValidateScale).
  bool checked_with_object() const {
    return structural() && main_kind->FindVersion(main_kind->hub_version())->scale.has_value();
  }
  Result<std::unique_ptr<runtime::Object>> ScaleOf(const runtime::Object& object) const {
    return view.ScaleOf(scale_kind, object);
  }
  // Translates managedFields between the object and its Scale, in the version of the request.
  // Borrows the view and the object.
  patch::apply::ScaleHandler OwnersOf(const Context& ctx, const runtime::Object& object) const {
    std::string_view version = main_kind->hub_version();
    const auto* info = ctx.Get<request::RequestInfo>();
    if (info != nullptr && main_kind->FindVersion(info->api_version)) version = info->api_version;
    return {object.metadata()["managedFields"], main_kind->gvk(version).group_version().ToString(),
            view.Mappings(*main_kind)};
  }
  // "deployments/scale.apps": what conflicts name.
  runtime::GroupResource resource() const {
    return {main_kind->group(), main_kind->plural() + "/scale"};
  }
};

// The stored object becomes its Scale, that becomes another, and its replicas go back.
class ScaledObject final : public rest::UpdatedObjectInfo {
 public:
  ScaledObject(const Scaled& scaled, std::string_view name, const rest::UpdatedObjectInfo& info)
      : scaled_(scaled), name_(name), info_(info) {}

  meta::Preconditions GetPreconditions() const override { return info_.GetPreconditions(); }

  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const override {
    // A Scale never comes without its object.
    if (old == nullptr) return meta::NewNotFound(scaled_.resource(), name_);
    ASSIGN_OR_RETURN(auto old_scale, scaled_.ScaleOf(*old));
    ASSIGN_OR_RETURN(const auto replicas, scaled_.view.SpecReplicas(*old));
    if (!replicas && scaled_.structural()) old_scale->Edit("spec", "replicas") = kNoReplicas;
    const patch::apply::ScaleHandler owners = scaled_.OwnersOf(ctx, *old);
    ASSIGN_OR_RETURN(const runtime::Value of_scale, owners.ToSubresource(old_scale->arena()));
    SetOwners(*old_scale, of_scale);
    ASSIGN_OR_RETURN(const auto scale, info_.UpdatedObject(ctx, std::move(old_scale)));
    RETURN_IF_ERROR(Validate(*scale, *old));
    auto object = MoveTo(*old, *scale);
    ASSIGN_OR_RETURN(const runtime::Value of_object,
                     owners.ToParent(scale->metadata()["managedFields"], object->arena()));
    SetOwners(*object, of_object);
    return object;
  }

 private:
  // Follows ValidateScale of apis/autoscaling/validation.
  Status Validate(const runtime::Object& scale, const runtime::Object& old) const {
    const std::int64_t replicas = scale["spec"]["replicas"].AsInt();
    if (replicas == kNoReplicas && scaled_.structural()) {
      return meta::NewBadRequest("the spec replicas field " +
                                 field::Quote(scaled_.spec_replicas_path) + " cannot be empty");
    }
    if (scaled_.checked_with_object()) return {};
    field::ErrorList errors =
        meta::ValidateObjectMeta(scale.metadata(), scaled_.main->NamespaceScoped(),
                                 meta::ValidatePathSegmentName, field::Path("metadata"));
    errors.Append(meta::ValidateNonnegativeField(replicas, field::Path("spec").Child("replicas")));
    if (!errors.empty()) {
      return meta::NewInvalid(scaled_.scale_kind->group_kind(), old.name(), errors);
    }
    if (scale.uid().empty() || scale.uid() == old.uid()) return {};
    std::string why = "Precondition failed: UID in precondition: ";
    why.append(scale.uid()).append(", UID in object meta: ").append(old.uid());
    return meta::NewConflict(scaled_.resource(), old.name(), why);
  }

  static void SetOwners(runtime::Object& object, runtime::Value owners) {
    if (!owners.is_null()) return object.SetPath({"metadata", "managedFields"}, owners);
    if (object.metadata().Find("managedFields") != nullptr) {
      object.Erase("metadata", "managedFields");
    }
  }

  std::unique_ptr<runtime::Object> MoveTo(const runtime::Object& old,
                                          const runtime::Object& scale) const {
    auto object = old.Clone();
    scaled_.view.SetSpecReplicas(*object, scale["spec"]["replicas"].AsInt());
    // Without a resourceVersion the strategy decides; that of a custom resource always accepts.
    if (!scaled_.structural() || !scale.resource_version().empty()) {
      object->Edit("metadata", "resourceVersion") = scale.resource_version();
    }
    return object;
  }

  const Scaled& scaled_;
  std::string_view name_;
  const rest::UpdatedObjectInfo& info_;
};

// Reads and writes of the subresource are those of the main store; a Scale is stored nowhere.
class ScaleStore final : public rest::Storage,
                         public rest::Scoper,
                         public rest::GroupVersionKindProvider,
                         public rest::Getter,
                         public rest::Updater,
                         public rest::TableConvertor,
                         public rest::InlineReader {
 public:
  ScaleStore(Scaled scaled, const Clock& clock)
      : scaled_(std::move(scaled)),
        table_(NewColumnTableConvertor(scaled_.scale_kind->versions().front().columns, clock)) {}

  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(scaled_.scale_kind, "v1");
  }
  bool NamespaceScoped() const override { return scaled_.main->NamespaceScoped(); }
  runtime::GroupVersionKind GetGroupVersionKind(const runtime::GroupVersion&) const override {
    return scaled_.scale_kind->gvk("v1");
  }
  bool AnswersInline() const override { return scaled_.main->AnswersInline(); }
  void WhenFresh(const Context& ctx, FreshDone done) override {
    scaled_.main->WhenFresh(ctx, std::move(done));
  }

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions& options) override {
    ASSIGN_OR_RETURN(const runtime::ObjectPtr stored, scaled_.main->Get(ctx, name, options));
    ASSIGN_OR_RETURN(const runtime::ObjectPtr object, scaled_.ForRules(ctx, stored));
    ASSIGN_OR_RETURN(const auto replicas, scaled_.view.SpecReplicas(*object));
    if (!replicas && scaled_.structural()) {
      return meta::NewInternalError("the spec replicas field " +
                                    field::Quote(scaled_.spec_replicas_path) + " does not exist");
    }
    ASSIGN_OR_RETURN(auto scale, scaled_.ScaleOf(*object));
    return runtime::ObjectPtr(std::move(scale));
  }

  // Optimistic locking is the main object's: a Scale has its uid and resourceVersion.
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    const ScaledObject info(scaled_, name, request.info);
    const rest::ValidateObject validate_create = ValidateCreate(request.validate_create);
    const rest::ValidateObjectUpdate validate_update = ValidateUpdate(request.validate_update);
    const rest::UpdateRequest of_main{info, validate_create, validate_update, false,
                                      request.options};
    ASSIGN_OR_RETURN(const rest::UpdateResult updated, scaled_.main->Update(ctx, name, of_main));
    ASSIGN_OR_RETURN(const runtime::ObjectPtr object, scaled_.ForRules(ctx, updated.object));
    auto scale = scaled_.ScaleOf(*object);
    if (!scale.ok()) return meta::NewBadRequest(std::string(scale.status().message()));
    return rest::UpdateResult{std::move(*scale), false};
  }

  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    return table_->ConvertToTable(ctx, items, options);
  }

 private:
  // Admission sees Scales, not the objects that they are made from.
  rest::ValidateObject ValidateCreate(const rest::ValidateObject& validate) const {
    if (!validate) return nullptr;
    return [this, &validate](const Context& ctx, const runtime::Object& object) -> Status {
      ASSIGN_OR_RETURN(const auto scale, scaled_.ScaleOf(object));
      return validate(ctx, *scale);
    };
  }
  rest::ValidateObjectUpdate ValidateUpdate(const rest::ValidateObjectUpdate& validate) const {
    if (!validate) return nullptr;
    return [this, &validate](const Context& ctx, const runtime::Object& object,
                             const runtime::Object& old) -> Status {
      ASSIGN_OR_RETURN(const auto scale, scaled_.ScaleOf(object));
      ASSIGN_OR_RETURN(const auto old_scale, scaled_.ScaleOf(old));
      return validate(ctx, *scale, *old_scale);
    };
  }

  const Scaled scaled_;
  const std::shared_ptr<const rest::TableConvertor> table_;
};

// Checks that a field exists and may hold an integer.
Status CheckReplicas(const runtime::KindVersion& version, std::string_view what,
                     std::string_view path) {
  RETURN_IF_ERROR(CheckMemberPath(version, what, path));
  if (version.schema == nullptr) return {};
  const runtime::Schema* const found = *runtime::SchemaAt(*version.schema, path);
  if (found == nullptr || runtime::OpenApiType(*found) == "integer") return {};
  return {Reason::kInvalid,
          version.version + ": " + std::string(what) + ": " + std::string(path) + " is no integer"};
}

Status CheckPaths(const runtime::Kind& kind, const ScaleOptions& options) {
  if (!options.check_paths) return {};
  const runtime::KindVersion& hub = *kind.FindVersion(kind.hub_version());
  RETURN_IF_ERROR(CheckReplicas(hub, "spec_replicas_path", options.spec_replicas_path));
  RETURN_IF_ERROR(CheckReplicas(hub, "status_replicas_path", options.status_replicas_path));
  for (const auto& [name, path] : options.spec_replicas_path_in) {
    const runtime::KindVersion* const version = kind.FindVersion(name);
    if (version == nullptr) {
      return {Reason::kInvalid, "spec_replicas_path_in: the kind has no version " + name};
    }
    RETURN_IF_ERROR(CheckReplicas(*version, "spec_replicas_path_in", path));
  }
  if (options.label_selector_path.empty()) return {};
  return CheckMemberPath(hub, "label_selector_path", options.label_selector_path);
}

}  // namespace

Result<std::shared_ptr<rest::Storage>> NewScaleStore(std::shared_ptr<Store> main,
                                                     ScaleOptions options) {
  if (main == nullptr) {
    return Status(Reason::kInvalid, "registry scale store: main is required");
  }
  ASSIGN_OR_RETURN(ScaleView view, ScaleView::New(options));
  runtime::KindPtr main_kind = main->New()->kind_ptr();
  if (const Status bad = CheckPaths(*main_kind, options); !bad.ok()) {
    return Status(bad.reason(), "registry scale store: " + std::string(bad.message()));
  }
  Scaled scaled{.main = std::move(main),
                .main_kind = std::move(main_kind),
                .scale_kind = ScaleKind(),
                .view = std::move(view),
                .spec_replicas_path = std::move(options.spec_replicas_path)};
  return std::make_shared<ScaleStore>(std::move(scaled), *options.clock);
}

}  // namespace apiserver::v0::registry
