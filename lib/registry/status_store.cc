#include <utility>

#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

// The main store's objects through another strategy.
class StatusStore final : public rest::Storage,
                          public rest::Scoper,
                          public rest::Getter,
                          public rest::Updater,
                          public rest::AsyncUpdater,
                          public rest::TableConvertor,
                          public rest::ResetFieldsProvider,
                          public rest::InlineReader,
                          public rest::InlineWriter {
 public:
  StatusStore(std::shared_ptr<Store> main, std::shared_ptr<const rest::Strategy> strategy)
      : main_(std::move(main)), strategy_(std::move(strategy)) {}

  std::unique_ptr<runtime::Object> New() const override { return main_->New(); }
  bool NamespaceScoped() const override { return main_->NamespaceScoped(); }
  bool AnswersInline() const override { return main_->AnswersInline(); }
  bool WritesInline() const override { return main_->WritesInline() && strategy_->RunsInline(); }
  rest::ResetFields GetResetFields() const override { return strategy_->GetResetFields(); }
  void WhenFresh(const Context& ctx, FreshDone done) override {
    main_->WhenFresh(ctx, std::move(done));
  }

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions& options) override {
    return main_->Get(ctx, name, options);
  }
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    return main_->UpdateWith(*strategy_, ctx, name, OnlyUpdate(request),
                             runtime::SchemaPart::kStatus);
  }
  void UpdateAsync(const Context& ctx, std::string_view name, const rest::UpdateRequest& request,
                   UpdateDone done) override {
    main_->UpdateWithAsync({*strategy_, runtime::SchemaPart::kStatus}, ctx, name,
                           OnlyUpdate(request), std::move(done));
  }
  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    return main_->ConvertToTable(ctx, items, options);
  }

 private:
  // A status never comes without its object.
  static rest::UpdateRequest OnlyUpdate(const rest::UpdateRequest& request) {
    return {request.info, request.validate_create, request.validate_update, false, request.options};
  }

  std::shared_ptr<Store> main_;
  std::shared_ptr<const rest::Strategy> strategy_;
};

}  // namespace

Result<std::shared_ptr<rest::Storage>> NewStatusStore(
    std::shared_ptr<Store> main, std::shared_ptr<const rest::Strategy> strategy) {
  if (main == nullptr || strategy == nullptr) {
    return Status(Reason::kInvalid, "registry status store: main and strategy are required");
  }
  return std::make_shared<StatusStore>(std::move(main), std::move(strategy));
}

}  // namespace apiserver::v0::registry
