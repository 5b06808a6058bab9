#include "apiserver/rest/kind_strategy.h"

#include <string_view>
#include <utility>

#include "apiserver/request/request_info.h"
#include "apiserver/rest/status.h"

namespace apiserver::v0::rest {
namespace {

using runtime::Member;
using runtime::Value;

// Compares all but metadata. A member that is missing differs from one that is null, as in Go.
bool SameContent(const Value& a, const Value& b) {
  const auto size = [](const Value& root) {
    return root.members().size() - (root.Find("metadata") != nullptr ? 1 : 0);
  };
  if (size(a) != size(b)) return false;
  for (const Member& member : a.members()) {
    if (member.key == "metadata") continue;
    const Value* const other = b.Find(member.key);
    if (other == nullptr || !(*other == member.value)) return false;
  }
  return true;
}

// Versions without the status subresource keep ownership of `status` on the main resource.
ResetFields StatusFieldsOf(const runtime::Kind& kind) {
  ResetFields fields = StatusFields(kind);
  for (const runtime::KindVersion& version : kind.versions()) {
    if (version.status_subresource.value_or(false)) continue;
    fields.erase(kind.gvk(version.version).group_version().ToString());
  }
  return fields;
}

class KindStrategy final : public Strategy {
 public:
  KindStrategy(runtime::KindPtr kind, KindStrategyOptions options)
      : kind_(std::move(kind)),
        options_(std::move(options)),
        reset_fields_(StatusFieldsOf(*kind_)) {}

  bool NamespaceScoped() const override { return kind_->namespaced(); }
  // The host's functions may block.
  bool RunsInline() const override {
    return !options_.validate && !options_.validate_update && !options_.warnings;
  }

  void PrepareForCreate(const Context& ctx, runtime::Object& object) const override {
    if (HasStatusSubresource(ctx)) object.Erase("status");
    object.Edit("metadata", "generation") = 1;
  }
  void PrepareForUpdate(const Context& ctx, runtime::Object& object,
                        const runtime::Object& old) const override {
    // Done before the generation is decided: a change of status alone must not raise it.
    if (HasStatusSubresource(ctx)) KeepStatus(object, old);
    if (SameContent(object.root(), old.root())) return;
    object.Edit("metadata", "generation") = old.generation() + 1;
  }

  field::ErrorList Validate(const Context& ctx, const runtime::Object& object) const override {
    return options_.validate ? options_.validate(ctx, object) : field::ErrorList();
  }
  field::ErrorList ValidateUpdate(const Context& ctx, const runtime::Object& object,
                                  const runtime::Object& old) const override {
    if (options_.validate_update) return options_.validate_update(ctx, object, old);
    return Validate(ctx, object);
  }
  std::vector<std::string> WarningsOnCreate(const Context& ctx,
                                            const runtime::Object& object) const override {
    return options_.warnings ? options_.warnings(ctx, object) : std::vector<std::string>();
  }

  ResetFields GetResetFields() const override { return reset_fields_; }
  bool AllowCreateOnUpdate() const override { return options_.allow_create_on_update; }
  bool AllowUnconditionalUpdate() const override { return options_.allow_unconditional_update; }

 private:
  // A CustomResourceDefinition says it of each version; a write that comes by none, as a host's
  // own, is of the hub.
  bool HasStatusSubresource(const Context& ctx) const {
    const auto* const info = ctx.Get<request::RequestInfo>();
    const runtime::KindVersion* version =
        info != nullptr ? kind_->FindVersion(info->api_version) : nullptr;
    if (version == nullptr) version = kind_->FindVersion(kind_->hub_version());
    return version->status_subresource.value_or(false);
  }

  const runtime::KindPtr kind_;
  const KindStrategyOptions options_;
  const ResetFields reset_fields_;
};

}  // namespace

std::shared_ptr<const Strategy> NewKindStrategy(runtime::KindPtr kind,
                                                KindStrategyOptions options) {
  return std::make_shared<KindStrategy>(std::move(kind), std::move(options));
}

}  // namespace apiserver::v0::rest
