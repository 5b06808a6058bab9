#include "apiserver/base/directory_lock.h"

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

using apiserver::LockDirectory;
using apiserver::Reason;

namespace {

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "lock.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace

TEST_CASE("base: a directory is locked by one, until that lets go", "[base]") {
  const Folder folder;
  auto first = LockDirectory(folder.path);
  REQUIRE(first.ok());

  const auto second = LockDirectory(folder.path);

  CHECK(second.status().reason() == Reason::kConflict);
  CHECK(second.status().message() == folder.path + " is used by another process");
  first->reset();
  CHECK(LockDirectory(folder.path).ok());
}

TEST_CASE("base: a process that is killed leaves no lock behind", "[base]") {
  const Folder folder;
  int locked[2];
  REQUIRE(pipe(locked) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = LockDirectory(folder.path);
    const char ok = lock.ok() ? 'y' : 'n';
    if (write(locked[1], &ok, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ok = 0;
  REQUIRE(read(locked[0], &ok, 1) == 1);
  REQUIRE(ok == 'y');
  CHECK(LockDirectory(folder.path).status().reason() == Reason::kConflict);

  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);

  CHECK(std::filesystem::exists(folder.path + "/lock"));
  CHECK(LockDirectory(folder.path).ok());
  close(locked[0]);
  close(locked[1]);
}

TEST_CASE("base: a directory that is not there cannot be locked", "[base]") {
  const Folder folder;

  const auto lock = LockDirectory(folder.path + "/missing");

  CHECK(lock.status().message() ==
        "open " + folder.path + "/missing/lock: No such file or directory");
}
