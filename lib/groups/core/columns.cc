#include "groups/columns.h"

#include <cstdint>

#include "groups/core/strategy.h"

namespace apiserver::v0::groups::core {

std::shared_ptr<const rest::TableConvertor> NewSecretColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("Type", "What it is for."), TextColumn("Data", "How many values."),
       AgeColumn()},
      [](const runtime::Object& secret, Cells& cells) {
        cells.Text(secret.name())
            .Text(secret["type"].AsString())
            .Number(static_cast<std::int64_t>(secret["data"].size()))
            .Age(secret);
      },
      clock);
}

std::shared_ptr<const rest::TableConvertor> NewServiceAccountColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), AgeColumn()},
      [](const runtime::Object& account, Cells& cells) { cells.Text(account.name()).Age(account); },
      clock);
}

}  // namespace apiserver::v0::groups::core
