#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"

// Comma-separated values as Go's encoding/csv reads them with its defaults.
namespace apiserver::inline v0::authn {

struct CsvRecord {
  std::size_t line = 0;  // The first line of the record, from 1.
  std::vector<std::string> fields;
};

// Empty lines are no records. kInvalid: Go's words, "parse error on line 2, column 5: …".
Result<std::vector<CsvRecord>> ReadCsv(std::string_view text);

}  // namespace apiserver::inline v0::authn
