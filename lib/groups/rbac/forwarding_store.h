#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/registry/store.h"

namespace apiserver::inline v0::groups::rbac {

// A store that forwards to another one, as a base for decorators: they override the methods that
// they change.
class ForwardingStore : public registry::Store {
 public:
  explicit ForwardingStore(std::shared_ptr<registry::Store> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<runtime::Object> New() const override { return inner_->New(); }
  void Destroy() override { inner_->Destroy(); }
  bool NamespaceScoped() const override { return inner_->NamespaceScoped(); }
  std::string GetSingularName() const override { return inner_->GetSingularName(); }
  std::vector<std::string> ShortNames() const override { return inner_->ShortNames(); }
  std::vector<std::string> Categories() const override { return inner_->Categories(); }
  runtime::GroupVersionKind StorageVersion() const override { return inner_->StorageVersion(); }
  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    return inner_->ConvertToTable(ctx, items, options);
  }
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions& options) override {
    return inner_->Get(ctx, name, options);
  }
  Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) override {
    return inner_->List(ctx, options);
  }
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, const meta::ListOptions& options,
                                               Clock::Monotonic deadline) override {
    return inner_->Watch(ctx, options, deadline);
  }
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<runtime::Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override {
    return inner_->Create(ctx, std::move(object), validate, options);
  }
  void CreateAsync(const Context& ctx, std::unique_ptr<runtime::Object> object,
                   const rest::ValidateObject& validate, const meta::CreateOptions& options,
                   Done done) override {
    inner_->CreateAsync(ctx, std::move(object), validate, options, std::move(done));
  }
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    return inner_->Update(ctx, name, request);
  }
  Result<rest::DeleteResult> Delete(const Context& ctx, std::string_view name,
                                    const rest::ValidateObject& validate,
                                    const meta::DeleteOptions& options) override {
    return inner_->Delete(ctx, name, validate, options);
  }
  bool DeleteReturnsDeletedObject() const override { return inner_->DeleteReturnsDeletedObject(); }
  Result<runtime::List> DeleteCollection(const Context& ctx, const rest::ValidateObject& validate,
                                         const meta::DeleteOptions& options,
                                         const meta::ListOptions& list_options) override {
    return inner_->DeleteCollection(ctx, validate, options, list_options);
  }
  bool AnswersInline() const override { return inner_->AnswersInline(); }
  void WhenFresh(const Context& ctx, FreshDone done) override {
    inner_->WhenFresh(ctx, std::move(done));
  }
  Status ReadinessCheck() const override { return inner_->ReadinessCheck(); }
  std::optional<apiserver::storage::Stats> GetStats() const override { return inner_->GetStats(); }
  rest::ResetFields GetResetFields() const override { return inner_->GetResetFields(); }
  apiserver::storage::Interface& storage() override { return inner_->storage(); }
  Result<rest::UpdateResult> UpdateWith(const rest::Strategy& strategy, const Context& ctx,
                                        std::string_view name, const rest::UpdateRequest& request,
                                        runtime::SchemaPart checked) override {
    return inner_->UpdateWith(strategy, ctx, name, request, checked);
  }

 private:
  const std::shared_ptr<registry::Store> inner_;
};

}  // namespace apiserver::inline v0::groups::rbac
