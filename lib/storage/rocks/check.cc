#include "apiserver/storage/rocks/check.h"

#include "base/status_macros.h"
#include "storage/rocks/database.h"
#include "storage/rocks/floor.h"
#include "storage/rocks/log_tail.h"
#include "storage/rocks/recovery.h"

namespace apiserver::v0::storage::rocks {

Status Check(const std::string& path) {
  rocksdb::Env& env = *rocksdb::Env::Default();
  if (env.FileExists(path).IsNotFound()) {
    return {Reason::kNotFound, "there is no store in " + path};
  }
  const Options options{.path = path};
  ASSIGN_OR_RETURN(const NewestLogFile log, ReadNewestLog(env, path));
  // RocksDB cannot read past the torn write, which only Open() may cut off.
  if (log.torn_at) return {};
  ASSIGN_OR_RETURN(const auto database, Database::OpenReadOnly(options, env));
  if (!database) return {};
  ASSIGN_OR_RETURN(const std::uint64_t format, database->Number(kFormatKey, 0));
  // The first opening was interrupted before it wrote the format; the next one does.
  if (database->fresh() && format == 0) return {};
  ProgressReporter silent(nullptr, options.clock, OpeningJob(options));
  ASSIGN_OR_RETURN(const Recovered found, Recover(options, *database, silent));
  return CheckFloor(env, path, found.state.revision);
}

}  // namespace apiserver::v0::storage::rocks
