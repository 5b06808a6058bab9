#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups {

// Returns kinds with the version v1 alone, whose schemas are the messages of their names in
// `package`. `descriptors` is the text that apiserver_add_api embedded. A kind may bring a version,
// whose other fields are kept.
Result<std::vector<runtime::KindPtr>> KindsOfV1(std::string_view descriptors,
                                                std::string_view package,
                                                std::vector<runtime::KindOptions> kinds);

}  // namespace apiserver::inline v0::groups
