#include "apiserver/base/file_system.h"

#include <sys/stat.h>

#include <algorithm>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace apiserver::inline v0 {
namespace {

// A folder of its own that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "apiserver-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs `check(files, folder)` on the machine's file system and on one in memory.
template <class Check>
void OnBoth(Check check) {
  SECTION("on the machine") {
    const TemporaryFolder folder;
    check(RealFileSystem(), folder.path());
  }
  SECTION("in memory") {
    const auto files = NewMemoryFileSystem();
    REQUIRE(files->MakeDirectories("/folder", 0755).ok());
    check(*files, "/folder");
  }
}

TEST_CASE("base: what is written is read, byte for byte", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    const std::string bytes = std::string("a\0b\n", 4) + std::string(100'000, 'x');

    REQUIRE(files.WriteAtomically(folder + "/f", bytes, 0600).ok());

    CHECK(files.Read(folder + "/f").value() == bytes);
    CHECK(files.Exists(folder + "/f"));
  });
}

TEST_CASE("base: a write replaces the whole file", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    REQUIRE(files.WriteAtomically(folder + "/f", "longer than before", 0600).ok());

    REQUIRE(files.WriteAtomically(folder + "/f", "short", 0600).ok());

    CHECK(files.Read(folder + "/f").value() == "short");
  });
}

TEST_CASE("base: reading a file that is not there is kNotFound and names it", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    const Status status = files.Read(folder + "/none").status();

    CHECK(status ==
          Status(Reason::kNotFound, "open " + folder + "/none: No such file or directory"));
  });
}

TEST_CASE("base: a file needs its directory", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    CHECK(files.WriteAtomically(folder + "/no/f", "x", 0600).reason() == Reason::kNotFound);

    REQUIRE(files.MakeDirectories(folder + "/no/deeper", 0700).ok());

    CHECK(files.WriteAtomically(folder + "/no/f", "x", 0600).ok());
    CHECK(files.WriteAtomically(folder + "/no/deeper/f", "x", 0600).ok());
  });
}

TEST_CASE("base: making directories that exist is no error, through a file it is", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    REQUIRE(files.MakeDirectories(folder + "/a/b", 0700).ok());
    CHECK(files.MakeDirectories(folder + "/a/b", 0700).ok());

    REQUIRE(files.WriteAtomically(folder + "/file", "x", 0600).ok());

    CHECK(files.MakeDirectories(folder + "/file/a", 0700).reason() == Reason::kInternalError);
  });
}

TEST_CASE("base: a removed file is gone, and cannot be removed twice", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    REQUIRE(files.WriteAtomically(folder + "/f", "x", 0600).ok());

    REQUIRE(files.Remove(folder + "/f").ok());

    CHECK_FALSE(files.Exists(folder + "/f"));
    CHECK(files.Remove(folder + "/f").reason() == Reason::kNotFound);
  });
}

TEST_CASE("base: a directory is removed only when it is empty", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    REQUIRE(files.MakeDirectories(folder + "/d", 0700).ok());
    REQUIRE(files.WriteAtomically(folder + "/d/f", "x", 0600).ok());

    CHECK(files.Remove(folder + "/d").reason() == Reason::kInternalError);
    REQUIRE(files.Remove(folder + "/d/f").ok());
    CHECK(files.Remove(folder + "/d").ok());
    CHECK_FALSE(files.Exists(folder + "/d"));
  });
}

TEST_CASE("base: a write refuses to replace a directory", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    REQUIRE(files.MakeDirectories(folder + "/d", 0700).ok());

    CHECK(files.WriteAtomically(folder + "/d", "x", 0600).reason() == Reason::kInternalError);
  });
}

TEST_CASE("base: a written file has exactly its mode, whatever the umask and the old file",
          "[base]") {
  const TemporaryFolder folder;
  const mode_t before = umask(0077);
  REQUIRE(RealFileSystem().WriteAtomically(folder / "f", "x", 0600).ok());

  REQUIRE(RealFileSystem().WriteAtomically(folder / "f", "x", 0644).ok());
  umask(before);

  struct stat found {};
  REQUIRE(stat((folder / "f").c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0644);
}

TEST_CASE("base: no temporary file is left, whether a write succeeds or fails", "[base]") {
  const TemporaryFolder folder;
  REQUIRE(RealFileSystem().MakeDirectories(folder / "taken", 0700).ok());

  REQUIRE(RealFileSystem().WriteAtomically(folder / "f", "x", 0600).ok());
  REQUIRE_FALSE(RealFileSystem().WriteAtomically(folder / "taken", "x", 0600).ok());

  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"f", "taken"});
}

TEST_CASE("base: whoever has the old file open goes on reading it", "[base]") {
  const TemporaryFolder folder;
  REQUIRE(RealFileSystem().WriteAtomically(folder / "f", "old", 0600).ok());
  std::filesystem::create_hard_link(folder / "f", folder / "kept");

  REQUIRE(RealFileSystem().WriteAtomically(folder / "f", "new", 0600).ok());

  CHECK(RealFileSystem().Read(folder / "kept").value() == "old");
}

TEST_CASE("base: file systems in memory do not see each other", "[base]") {
  const auto one = NewMemoryFileSystem();
  const auto two = NewMemoryFileSystem();

  REQUIRE(one->WriteAtomically("f", "x", 0600).ok());

  CHECK(one->Exists("f"));
  CHECK_FALSE(two->Exists("f"));
}

TEST_CASE("base: a file that is appended to grows, and is made with its mode", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    {
      auto file = files.OpenAppend(folder + "/log", 0600);
      REQUIRE(file.ok());
      CHECK((*file)->size() == 0);
      REQUIRE((*file)->Append("one\n").ok());
      CHECK((*file)->size() == 4);
    }
    auto again = files.OpenAppend(folder + "/log", 0600);
    REQUIRE(again.ok());
    CHECK((*again)->size() == 4);
    REQUIRE((*again)->Append("two\n").ok());
    CHECK(files.Read(folder + "/log").value() == "one\ntwo\n");
    CHECK(files.ReadRange(folder + "/log", 2, 4).value() == "e\ntw");
    CHECK(files.ReadRange(folder + "/log", 6, 100).value() == "o\n");
    CHECK(files.ReadRange(folder + "/log", 100, 1).value().empty());
    CHECK(files.OpenAppend(folder + "/missing/log", 0600).status().reason() == Reason::kNotFound);
  });
}

TEST_CASE("base: a renamed file has its new name alone", "[base]") {
  OnBoth([](FileSystem& files, const std::string& folder) {
    REQUIRE(files.WriteAtomically(folder + "/b", "1", 0600).ok());
    REQUIRE(files.WriteAtomically(folder + "/a", "2", 0600).ok());
    CHECK(files.List(folder).value() == std::vector<std::string>{"a", "b"});
    REQUIRE(files.Rename(folder + "/b", folder + "/c").ok());
    CHECK(files.List(folder).value() == std::vector<std::string>{"a", "c"});
    CHECK(files.Read(folder + "/c").value() == "1");
    CHECK(files.Rename(folder + "/b", folder + "/c").reason() == Reason::kNotFound);
    CHECK(files.List(folder + "/none").status().reason() == Reason::kNotFound);
  });
}

}  // namespace
}  // namespace apiserver::inline v0
