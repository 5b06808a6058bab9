#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "bench/temporary_folder.h"

namespace bench {

// A temporary folder with the audit policy and the audit log of one run: everything is recorded at
// Metadata.
class AuditFolder {
 public:
  static apiserver::Result<std::unique_ptr<AuditFolder>> New();

  // The server's flags for it. The log keeps one old file beside it, of 100 MB each.
  std::vector<std::string> Flags() const;
  // Returns whether the log's end holds `text`.
  bool Recorded(std::string_view text) const;

 private:
  std::string File(const char* name) const { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
};

}  // namespace bench
