#pragma once

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/update.h"
#include "apiserver/rest/warnings.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/storage/widget.h"

// A generic store of widgets whose strategy a test bends.
namespace apiserver::inline v0::testing {

struct WidgetStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return namespaced; }
  void PrepareForCreate(const Context&, runtime::Object& object) const override {
    object.Edit("metadata", "generation") = 1;
  }
  void PrepareForUpdate(const Context&, runtime::Object& object,
                        const runtime::Object& old) const override {
    if (object["spec"] == old["spec"]) return;
    object.Edit("metadata", "generation") = old.generation() + 1;
  }
  field::ErrorList Validate(const Context&, const runtime::Object& object) const override {
    field::ErrorList errors;
    if (object["spec"]["size"].AsInt() < 0) {
      errors.InvalidPrinted(field::Path("spec").Child("size"),
                            std::to_string(object["spec"]["size"].AsInt()), "must not be negative");
    }
    return errors;
  }
  std::vector<std::string> WarningsOnCreate(const Context&, const runtime::Object&) const override {
    return {"created"};
  }
  std::vector<std::string> WarningsOnUpdate(const Context&, const runtime::Object&,
                                            const runtime::Object&) const override {
    return {"updated"};
  }
  bool AllowCreateOnUpdate() const override { return create_on_update; }
  bool AllowUnconditionalUpdate() const override { return unconditional; }
  bool CheckGracefulDelete(const Context&, const runtime::Object&,
                           meta::DeleteOptions& options) const override {
    if (!grace) return false;
    if (!options.grace_period_seconds) options.grace_period_seconds = *grace;
    return true;
  }
  rest::GarbageCollectionPolicy DefaultGarbageCollectionPolicy(const Context&) const override {
    return policy;
  }

  bool namespaced = true;
  bool create_on_update = false;
  bool unconditional = true;
  std::optional<std::int64_t> grace;
  rest::GarbageCollectionPolicy policy = rest::GarbageCollectionPolicy::kDeleteDependents;
};

// Status alone may change.
struct StatusStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  void PrepareForUpdate(const Context&, runtime::Object& object,
                        const runtime::Object& old) const override {
    object.Edit("spec") = old["spec"];
  }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
  bool AllowUnconditionalUpdate() const override { return true; }
};

// An update given as a function of what is stored.
class Edited final : public rest::UpdatedObjectInfo {
 public:
  using Edit = std::function<void(runtime::Object&)>;
  explicit Edited(Edit edit) : edit_(std::move(edit)) {}
  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context&, const runtime::ObjectPtr& old) const override {
    auto object = old->Clone();
    edit_(*object);
    return object;
  }

 private:
  Edit edit_;
};

struct Fixture {
  explicit Fixture(bool watch_cache = true) {
    config.engine = engine.get();
    config.executor = pool.get();
    config.watch_cache = watch_cache;
    ctx.Set(rest::Namespace{"ns"});
    ctx.Set(warnings);
  }
  ~Fixture() {
    store.reset();
    pool->Stop();
  }

  registry::Store& Store() {
    if (store == nullptr) {
      options.kind = kind;
      options.strategy = strategy;
      store = *registry::NewStore(config, options);
    }
    return *store;
  }
  std::unique_ptr<runtime::Object> New(std::string_view name) {
    auto object = NewWidget(kind, name);
    object->Erase("metadata", "uid");
    return object;
  }
  Result<runtime::ObjectPtr> TryCreate(std::unique_ptr<runtime::Object> object,
                                       bool dry_run = false) {
    meta::CreateOptions create;
    create.dry_run = dry_run;
    return Store().Create(ctx, std::move(object), nullptr, create);
  }
  runtime::ObjectPtr Create(std::string_view name,
                            const std::vector<std::string>& finalizers = {}) {
    auto object = New(name);
    if (!finalizers.empty()) {
      runtime::ListBuilder list(object->arena());
      for (const auto& finalizer : finalizers) list.Add(runtime::Value::String(finalizer));
      object->Edit("metadata", "finalizers") = list.Build();
    }
    const auto created = TryCreate(std::move(object));
    INFO(created.status().ToString());
    REQUIRE(created.ok());
    return *created;
  }
  Result<rest::UpdateResult> Update(std::string_view name, const rest::UpdatedObjectInfo& info,
                                    bool dry_run = false) {
    rest::UpdateRequest request{info, nullptr, nullptr, false, {}};
    request.options.dry_run = dry_run;
    return Store().Update(ctx, name, request);
  }
  Result<rest::UpdateResult> Edit(std::string_view name, Edited::Edit edit) {
    return Update(name, Edited(std::move(edit)));
  }
  Result<rest::UpdateResult> Put(std::unique_ptr<runtime::Object> object) {
    const std::string name(object->name());
    return Update(name, *rest::DefaultUpdatedObjectInfo(std::move(object)));
  }
  Result<rest::DeleteResult> Delete(std::string_view name,
                                    meta::DeleteOptions delete_options = {}) {
    return Store().Delete(ctx, name, nullptr, delete_options);
  }
  Result<runtime::ObjectPtr> Get(std::string_view name) { return Store().Get(ctx, name, {}); }
  std::string FinalizersOf(std::string_view name) {
    const auto object = Get(name);
    if (!object.ok()) return std::string(ReasonWord(object.status().reason()));
    std::string text;
    for (const auto& finalizer : (*object)->finalizers().items()) {
      text.append(text.empty() ? "" : " ").append(finalizer.AsString());
    }
    return text;
  }

  Context ctx = Context::Child(Context::Background());
  rest::WarningRecorderPtr warnings = std::make_shared<rest::WarningRecorder>();
  runtime::KindPtr kind = NewWidgetKind();
  std::shared_ptr<WidgetStrategy> strategy = std::make_shared<WidgetStrategy>();
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"registry", 2});
  std::unique_ptr<apiserver::storage::kv::Engine> engine = apiserver::storage::memory::NewEngine();
  registry::StorageConfig config;
  registry::StoreOptions options;
  std::shared_ptr<registry::Store> store;
};

}  // namespace apiserver::inline v0::testing
