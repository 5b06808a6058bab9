#pragma once

#include <string>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::audit {

// Replaces `from` by `to`, a gzip file of the same bytes, piece by piece. `from` stays if anything
// fails.
Status GzipFile(FileSystem& files, const std::string& from, const std::string& to, unsigned mode);

}  // namespace apiserver::inline v0::audit
