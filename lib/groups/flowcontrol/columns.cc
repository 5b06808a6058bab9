#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groups/flowcontrol/names.h"
#include "groups/flowcontrol/strategy.h"
#include "registry/human_duration.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

using runtime::Value;

std::string NumberOr(const Value& value, const char* otherwise) {
  return value.is_null() ? otherwise : std::to_string(value.AsInt());
}

std::vector<meta::TableColumnDefinition> SchemaColumns() {
  return {{"Name", "string", "name", "The schema's name.", 0},
          {"PriorityLevel", "string", "", "The level its requests belong to.", 0},
          {"MatchingPrecedence", "string", "", "The lowest is tried first.", 0},
          {"DistinguisherMethod", "string", "", "How its requests are told apart.", 0},
          {"Age", "string", "", "How long ago it was created.", 0},
          {"MissingPL", "string", "", "Whether its level is missing.", 0}};
}

std::vector<std::string> SchemaCells(const runtime::Object& schema, const Clock& clock) {
  const Value spec = schema["spec"];
  const Value method = spec["distinguisherMethod"];
  // The condition is unknown until the server has looked at the schema.
  std::string missing = "?";
  for (const Value& condition : schema["status"]["conditions"].items()) {
    // Set by the server that follows the configuration, if the level does not exist.
    if (condition["type"].AsString() == "Dangling") missing = condition["status"].AsString();
  }
  return {std::string(schema.name()),
          std::string(spec["priorityLevelConfiguration"]["name"].AsString()),
          std::to_string(spec["matchingPrecedence"].AsInt()),
          method.is_null() ? "<none>" : std::string(method["type"].AsString()),
          registry::AgeOf(schema, clock),
          missing};
}

std::vector<meta::TableColumnDefinition> LevelColumns() {
  return {{"Name", "string", "name", "The level's name.", 0},
          {"Type", "string", "", "Limited or Exempt.", 0},
          {"NominalConcurrencyShares", "string", "", "Its share of the seats.", 0},
          {"Queues", "string", "", "How many queues it has.", 0},
          {"HandSize", "string", "", "How many of them a flow is dealt.", 0},
          {"QueueLengthLimit", "string", "", "How many requests may wait in one.", 0},
          {"Age", "string", "", "How long ago it was created.", 0}};
}

std::vector<std::string> LevelCells(const runtime::Object& level, const Clock& clock) {
  const Value limited = level["spec"]["limited"];
  const Value queuing = limited["limitResponse"]["queuing"];
  constexpr char kNone[] = "<none>";
  // An exempt level, and one that rejects, have no queues.
  return {std::string(level.name()),
          std::string(level["spec"]["type"].AsString()),
          NumberOr(limited["nominalConcurrencyShares"], kNone),
          NumberOr(queuing["queues"], kNone),
          NumberOr(queuing["handSize"], kNone),
          NumberOr(queuing["queueLengthLimit"], kNone),
          registry::AgeOf(level, clock)};
}

// All cells are strings, also the numbers, since some show "<none>".
class Columns final : public rest::TableConvertor {
 public:
  Columns(bool schemas, const Clock& clock) : schemas_(schemas), clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) table.columns = schemas_ ? SchemaColumns() : LevelColumns();
    for (const runtime::ObjectPtr& item : items) {
      meta::TableRow row;
      for (const std::string& cell :
           schemas_ ? SchemaCells(*item, clock_) : LevelCells(*item, clock_)) {
        row.cells.push_back(Value::String(table.arena.Copy(cell)));
      }
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  const bool schemas_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewColumns(const runtime::KindPtr& kind,
                                                       const Clock& clock) {
  return std::make_shared<Columns>(kind->plural() == kFlowSchemas, clock);
}

}  // namespace apiserver::v0::groups::flowcontrol
