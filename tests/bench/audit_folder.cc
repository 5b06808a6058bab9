#include "bench/audit_folder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apiserver/base/file_system.h"
#include "bench/corpus.h"

namespace bench {

using apiserver::Result;
using apiserver::Status;

Result<std::unique_ptr<AuditFolder>> AuditFolder::New() {
  auto audit = std::make_unique<AuditFolder>();
  BENCH_ASSIGN(folder, TemporaryFolder::New());
  audit->folder_ = std::move(folder);
  const Status written = apiserver::RealFileSystem().WriteAtomically(
      audit->File("policy.yaml"),
      "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n", 0600);
  if (!written.ok()) return written;
  return audit;
}

std::vector<std::string> AuditFolder::Flags() const {
  return {"--audit-policy-file=" + File("policy.yaml"), "--audit-log-path=" + File("audit.log"),
          "--audit-log-maxbackup=1"};
}

bool AuditFolder::Recorded(std::string_view text) const {
  constexpr std::uint64_t kEndBytes = 1 << 20;
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(File("audit.log"), error);
  if (error) return false;
  const auto log = apiserver::RealFileSystem().ReadRange(
      File("audit.log"), size - std::min(size, kEndBytes), kEndBytes);
  return log.ok() && log->find(text) != std::string::npos;
}

}  // namespace bench
