#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::program {

inline constexpr std::string_view kConfigApiVersion = "libapiserver.dev/v1alpha1";

// Reads a file of flags: YAML or JSON with `apiVersion`, `kind: ServerConfiguration` and `flags`, a
// map from the names of flags, without dashes, to their values; a list stands for a flag that is
// given several times.
//
// Returns arguments like "--secure-port=6443". Leaves out the flags in `given`, which the command
// line has. Both lists are names with their dashes. kInvalid: all faults of the file with their
// lines, e.g. a flag that is not `known`; any error of reading it.
Result<std::vector<std::string>> ReadConfigFile(const FileSystem& files, const std::string& path,
                                                const std::vector<std::string>& known,
                                                const std::vector<std::string>& given);

}  // namespace apiserver::inline v0::program
