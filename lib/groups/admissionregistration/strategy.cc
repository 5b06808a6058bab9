#include "groups/admissionregistration/strategy.h"

#include <string>
#include <utility>
#include <vector>

#include "groups/admissionregistration/validation.h"
#include "registry/human_duration.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using runtime::Value;

// Follows pkg/registry/admissionregistration/{mutating,validating}webhookconfiguration/strategy.go.
class ConfigurationStrategy final : public rest::Strategy {
 public:
  explicit ConfigurationStrategy(admission::policy::NewExpressionChecker new_checker)
      : new_checker_(std::move(new_checker)) {}

  bool NamespaceScoped() const override { return false; }
  void PrepareForCreate(const Context& /*ctx*/, runtime::Object& object) const override {
    // A client cannot choose the generation.
    object.Edit("metadata", "generation") = 1;
  }
  void PrepareForUpdate(const Context& /*ctx*/, runtime::Object& object,
                        const runtime::Object& old) const override {
    // Metadata is no part of the generation.
    const bool changed = !(object["webhooks"] == old["webhooks"]);
    object.Edit("metadata", "generation") = old.generation() + (changed ? 1 : 0);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return ValidateConfiguration(object, *new_checker_());
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const runtime::Object& object,
                                  const runtime::Object& old) const override {
    return ValidateConfigurationUpdate(object, old, *new_checker_());
  }

 private:
  const admission::policy::NewExpressionChecker new_checker_;
};

// Follows pkg/printers/internalversion: printMutatingWebhook, printValidatingWebhook.
class ConfigurationColumns final : public rest::TableConvertor {
 public:
  explicit ConfigurationColumns(const Clock& clock) : clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) {
      table.columns = {{"Name", "string", "name", "The configuration's name.", 0},
                       {"Webhooks", "integer", "", "How many webhooks it registers.", 0},
                       {"Age", "string", "", "How long ago it was created.", 0}};
    }
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row;
      row.cells.push_back(Value::String(table.arena.Copy(item->name())));
      row.cells.push_back(Value::Int(static_cast<std::int64_t>((*item)["webhooks"].size())));
      row.cells.push_back(Value::String(table.arena.Copy(registry::AgeOf(*item, clock_))));
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewConfigurationStrategy(
    admission::policy::NewExpressionChecker new_checker) {
  return std::make_shared<ConfigurationStrategy>(std::move(new_checker));
}

std::shared_ptr<const rest::TableConvertor> NewConfigurationColumns(const Clock& clock) {
  return std::make_shared<ConfigurationColumns>(clock);
}

}  // namespace apiserver::v0::groups::admissionregistration
