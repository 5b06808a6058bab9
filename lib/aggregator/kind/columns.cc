#include <string>
#include <utility>
#include <vector>

#include "aggregator/kind/strategy.h"
#include "apiserver/aggregator/api_service.h"
#include "registry/human_duration.h"
#include "registry/table_convertor.h"

namespace apiserver::v0::aggregator {
namespace {

using runtime::Object;
using runtime::Value;

std::string ServiceCell(const Object& api_service) {
  const Value service = api_service["spec"]["service"];
  if (service.is_null()) return "Local";
  return std::string(service["namespace"].AsString()) + "/" +
         std::string(service["name"].AsString());
}

std::string AvailableCell(const Object& api_service) {
  const Value condition = FindCondition(api_service, kAvailable);
  if (condition.is_null()) return "Unknown";
  std::string cell(condition["status"].AsString());
  const std::string reason(condition["reason"].AsString());
  if (cell != "True" && !reason.empty()) cell += " (" + reason + ")";
  return cell;
}

// Follows ConvertToTable of pkg/registry/apiservice/etcd.
class Columns final : public rest::TableConvertor {
 public:
  explicit Columns(const Clock& clock) : clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) {
      table.columns = {
          {"Name", "string", "name", std::string(registry::kNameDescription), 0},
          {"Service", "string", "", "The reference to the service that hosts this API endpoint.",
           0},
          {"Available", "string", "", "Whether this service is available.", 0},
          {"Age", "string", "", std::string(registry::kCreationTimestampDescription), 0}};
    }
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row;
      for (const std::string& cell : {std::string(item->name()), ServiceCell(*item),
                                      AvailableCell(*item), registry::AgeOf(*item, clock_)}) {
        row.cells.push_back(Value::String(table.arena.Copy(cell)));
      }
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewAPIServiceColumns(const Clock& clock) {
  return std::make_shared<Columns>(clock);
}

}  // namespace apiserver::v0::aggregator
