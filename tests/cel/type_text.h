#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/cel/type.h"

namespace cel_test {

// Reads a type as CEL prints it: "list(map(string, dyn))". kInvalid: there is no such type.
apiserver::Result<apiserver::cel::Type> TypeOfText(std::string_view text);

}  // namespace cel_test
