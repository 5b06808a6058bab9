#include "storage/rocks/floor.h"

#include <memory>

#include "storage/rocks/database.h"

namespace apiserver::v0::storage::rocks {
namespace {

std::string FileIn(const std::string& path) { return path + "/REVISION"; }

// Returns the file's text: the revision twice, so that damage shows.
std::string TextOf(kv::Revision revision) {
  const std::string number = std::to_string(revision);
  return number + " " + number + "\n";
}

}  // namespace

Status CheckFloor(rocksdb::Env& env, const std::string& path, kv::Revision revision) {
  const std::string file = FileIn(path);
  if (env.FileExists(file).IsNotFound()) return Status::Ok();
  std::string text;
  const rocksdb::Status read = rocksdb::ReadFileToString(&env, file, &text);
  if (!read.ok()) return FromRocks(read, "read " + file);
  // A text too long for a number is damage as well.
  kv::Revision floor = 0;
  for (const char digit : text.substr(0, std::min<std::size_t>(text.find(' '), 18))) {
    floor = floor * 10 + (digit - '0');
  }
  if (text != TextOf(floor)) {
    return NewCorruptError(file + " cannot be read; if the store is otherwise right, delete it");
  }
  if (revision >= floor) return Status::Ok();
  return NewCorruptError("it holds revision " + std::to_string(revision) +
                         " and has been at revision " + std::to_string(floor) +
                         "; check its disk and restore it from a backup");
}

Status RaiseFloor(rocksdb::Env& env, const std::string& path, kv::Revision revision) {
  const std::string file = FileIn(path);
  const std::string text = TextOf(revision);
  std::string before;
  if (rocksdb::ReadFileToString(&env, file, &before).ok() && before == text) return Status::Ok();
  // Written beside the file and renamed: after a crash it holds the old number or the new one.
  rocksdb::Status status = rocksdb::WriteStringToFile(&env, text, file + ".new", true);
  if (status.ok()) status = env.RenameFile(file + ".new", file);
  std::unique_ptr<rocksdb::Directory> directory;
  if (status.ok()) status = env.NewDirectory(path, &directory);
  if (status.ok()) status = directory->Fsync();
  return status.ok() ? Status::Ok() : FromRocks(status, "write " + file);
}

}  // namespace apiserver::v0::storage::rocks
