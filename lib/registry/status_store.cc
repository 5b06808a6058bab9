#include <utility>

#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

// The main store's objects through another strategy.
class StatusStore final : public rest::Storage,
                          public rest::Scoper,
                          public rest::Getter,
                          public rest::Updater,
                          public rest::TableConvertor,
                          public rest::ResetFieldsProvider,
                          public rest::InlineReader {
 public:
  StatusStore(std::shared_ptr<Store> main, std::shared_ptr<const rest::Strategy> strategy)
      : main_(std::move(main)), strategy_(std::move(strategy)) {}

  std::unique_ptr<runtime::Object> New() const override { return main_->New(); }
  bool NamespaceScoped() const override { return main_->NamespaceScoped(); }
  bool AnswersInline() const override { return main_->AnswersInline(); }
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
    // A status never comes without its object.
    rest::UpdateRequest only_update{request.info, request.validate_create, request.validate_update,
                                    false, request.options};
    return main_->UpdateWith(*strategy_, ctx, name, only_update, runtime::SchemaPart::kStatus);
  }
  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    return main_->ConvertToTable(ctx, items, options);
  }

 private:
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
