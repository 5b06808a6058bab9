#include "faults/disk.h"

#include <algorithm>

namespace apiserver::inline v0::faults {
namespace {

constexpr std::size_t kPage = 4096;

std::string ParentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

std::string Left(const Disk::Inode& file, Loss loss, Random& random) {
  if (loss == Loss::kAny) loss = static_cast<Loss>(random.Below(4));
  const std::size_t unsynced = file.content.size() - file.synced;
  if (loss == Loss::kNone || unsynced == 0) return file.content;
  if (loss == Loss::kAll) return file.content.substr(0, file.synced);
  std::string left = file.content.substr(0, file.synced + random.Below(unsynced + 1));
  if (loss == Loss::kTail) return left;
  for (std::size_t at = file.synced; at < left.size();) {
    const std::size_t end = std::min(left.size(), (at / kPage + 1) * kPage);
    if (random.Below(2) == 0) std::fill(left.begin() + at, left.begin() + end, '\0');
    at = end;
  }
  return left;
}

}  // namespace

std::string_view Name(Operation operation) {
  switch (operation) {
    case Operation::kOpen:
      return "open";
    case Operation::kAppend:
      return "append";
    case Operation::kSync:
      return "sync";
    case Operation::kClose:
      return "close";
    case Operation::kRename:
      return "rename";
    case Operation::kDelete:
      return "delete";
    case Operation::kRead:
      return "read";
  }
  return "";
}

Disk::Disk(const Files& files) {
  auto state = state_.Lock();
  for (const auto& [path, content] : files) {
    for (std::string up = ParentOf(path); state->directories.insert(up).second;) up = ParentOf(up);
    // A directory by itself ends in a slash.
    if (path.back() == '/') continue;
    state->files[path] = std::make_shared<Inode>(Inode{content, content.size(), false});
  }
  state->durable_files = state->files;
}

Error Disk::Ask(State& state, Operation operation) {
  if (state.off) return Error::kOff;
  if (operation != Operation::kRead && operation != Operation::kClose) {
    if (state.read_only) return Error::kReadOnly;
    ++state.changes;
    if (state.off_after > 0 && --state.off_after == 0) {
      state.off = true;
      return Error::kOff;
    }
  }
  if (!state.fault || state.fault->operation != operation) return Error::kNone;
  ++state.seen;
  const bool fails =
      state.fault->forever ? state.seen >= state.fault->nth : state.seen == state.fault->nth;
  return fails ? state.fault->error : Error::kNone;
}

void Disk::Apply(const NameChange& change, std::map<std::string, InodeRef>& files) {
  if (!change.removed.empty()) files.erase(change.removed);
  if (change.file != nullptr) files[change.added] = change.file;
}

Error Disk::Create(const std::string& path, InodeRef& file) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kOpen);
  if (error != Error::kNone) return error;
  if (state->directories.count(ParentOf(path)) == 0) return Error::kNotFound;
  file = std::make_shared<Inode>();
  state->files[path] = file;
  state->pending.push_back({ParentOf(path), path, file, ""});
  return Error::kNone;
}

Error Disk::Open(const std::string& path, InodeRef& file) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kRead);
  if (error != Error::kNone) return error;
  const auto found = state->files.find(path);
  if (found == state->files.end()) return Error::kNotFound;
  file = found->second;
  return Error::kNone;
}

Error Disk::Append(Inode& file, std::string_view bytes) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kAppend);
  // What fails, fails in the middle.
  if (error == Error::kIo || error == Error::kNoSpace) bytes = bytes.substr(0, bytes.size() / 2);
  if (error != Error::kOff && error != Error::kReadOnly) file.content += bytes;
  return error;
}

Error Disk::Sync(Inode& file) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kSync);
  // As Linux does: pages that could not be written count as clean, and the next sync succeeds.
  if (error == Error::kIo || error == Error::kNoSpace) file.damaged = true;
  if (error == Error::kNone && !file.damaged && !state->lying) file.synced = file.content.size();
  return error;
}

Error Disk::Truncate(Inode& file, std::size_t size) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kAppend);
  if (error != Error::kNone) return error;
  file.content.resize(size);
  file.synced = std::min(file.synced, size);
  return Error::kNone;
}

Error Disk::Read(const Inode& file, std::uint64_t offset, std::size_t size, std::string& bytes) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kRead);
  if (error != Error::kNone) return error;
  bytes = offset < file.content.size() ? file.content.substr(offset, size) : "";
  return Error::kNone;
}

Error Disk::Close() {
  auto state = state_.Lock();
  return Ask(*state, Operation::kClose);
}

Error Disk::Rename(const std::string& from, const std::string& to) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kRename);
  if (error != Error::kNone) return error;
  const auto found = state->files.find(from);
  if (found == state->files.end()) return Error::kNotFound;
  state->pending.push_back({ParentOf(to), to, found->second, from});
  state->files[to] = found->second;
  state->files.erase(from);
  return Error::kNone;
}

Error Disk::Delete(const std::string& path) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kDelete);
  if (error != Error::kNone) return error;
  if (state->files.erase(path) == 0) return Error::kNotFound;
  state->pending.push_back({ParentOf(path), "", nullptr, path});
  return Error::kNone;
}

Error Disk::SyncDirectory(const std::string& path) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kSync);
  if (error != Error::kNone || state->lying) return error;
  std::vector<NameChange> rest;
  for (NameChange& change : state->pending) {
    if (change.directory == path) {
      Apply(change, state->durable_files);
    } else {
      rest.push_back(std::move(change));
    }
  }
  state->pending = std::move(rest);
  return Error::kNone;
}

Error Disk::CreateDirectory(const std::string& path) {
  auto state = state_.Lock();
  const Error error = Ask(*state, Operation::kOpen);
  if (error != Error::kNone) return error;
  if (state->directories.insert(path).second) {
    state->pending.push_back({ParentOf(path), path, nullptr, ""});
  }
  return Error::kNone;
}

bool Disk::Exists(const std::string& path) const {
  auto state = state_.Lock();
  return state->files.count(path) > 0 || state->directories.count(path) > 0;
}

bool Disk::IsDirectory(const std::string& path) const {
  return state_.Lock()->directories.count(path) > 0;
}

std::vector<std::string> Disk::Children(const std::string& path) const {
  auto state = state_.Lock();
  std::vector<std::string> children;
  for (const auto& [name, file] : state->files) {
    if (ParentOf(name) == path) children.push_back(name.substr(path.size() + 1));
  }
  return children;
}

std::optional<std::size_t> Disk::Size(const std::string& path) const {
  auto state = state_.Lock();
  const auto found = state->files.find(path);
  if (found == state->files.end()) return std::nullopt;
  return found->second->content.size();
}

void Disk::Set(std::optional<Fault> fault) {
  auto state = state_.Lock();
  state->fault = fault;
  state->seen = 0;
}

bool Disk::reached() const {
  auto state = state_.Lock();
  return state->fault && state->seen >= state->fault->nth;
}

Disk::Files Disk::AfterCut(Loss loss, Random& random) const {
  auto state = state_.Lock();
  std::map<std::string, InodeRef> files = state->durable_files;
  // Changes of names reach the disk in their order, as with a journal.
  std::size_t kept = loss == Loss::kAll ? 0 : state->pending.size();
  if (kept > 0 && loss != Loss::kNone) kept = random.Below(kept + 1);
  std::set<std::string> lost;
  for (std::size_t i = 0; i < state->pending.size(); ++i) {
    const NameChange& change = state->pending[i];
    if (i < kept) {
      Apply(change, files);
    } else if (change.file == nullptr && !change.added.empty()) {
      lost.insert(change.added);
    }
  }
  Files left;
  const auto gone = [&lost](std::string path) {
    for (; path != "/"; path = ParentOf(path)) {
      if (lost.count(path) > 0) return true;
    }
    return false;
  };
  for (const std::string& directory : state->directories) {
    if (!gone(directory)) left[directory == "/" ? "/" : directory + "/"];
  }
  for (const auto& [path, file] : files) {
    if (!gone(path)) left[path] = Left(*file, loss, random);
  }
  return left;
}

Disk::Files Disk::Now() const {
  auto state = state_.Lock();
  Files now;
  for (const auto& [path, file] : state->files) now[path] = file->content;
  return now;
}

}  // namespace apiserver::inline v0::faults
