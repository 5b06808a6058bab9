#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cel/declare/function.h"

// A function as an Environment has it.
namespace apiserver::inline v0::cel {

// A function of an Environment: the rows of one name merged.
struct FunctionEntry {
  std::string_view name;
  std::vector<const Overload*> overloads;  // In declaration order.
  std::vector<const Function*> rows;
  // The row that runs an overload: rows[row_of[i]] has overloads[i].
  std::vector<std::uint8_t> row_of;
};

}  // namespace apiserver::inline v0::cel
