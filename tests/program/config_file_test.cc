// --config: flags in a file.
#include "program/config_file.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "program/command_line.h"

namespace apiserver::inline v0::program {
namespace {

using Texts = std::vector<std::string>;

const std::string kHead = "apiVersion: libapiserver.dev/v1alpha1\nkind: ServerConfiguration\n";

// A file with this text, which goes when the test does.
class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    std::string folder = (std::filesystem::temp_directory_path() / "config-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    std::ofstream(path()) << text;
  }
  ~TextFile() { std::filesystem::remove_all(folder_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  std::string path() const { return folder_ + "/f.yaml"; }

 private:
  std::string folder_;
};

std::string Joined(const Result<Texts>& read) {
  if (!read.ok()) return "error: " + std::string(read.status().message());
  std::string text;
  for (const std::string& word : *read) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string ReadFlags(const std::string& flags, const Texts& given = {}) {
  const Texts known = {"--port", "--storage", "--server", "--quick", "--config", "--ratio"};
  const TextFile file(kHead + flags);
  return Joined(ReadConfigFile(RealFileSystem(), file.path(), known, given));
}

TEST_CASE("program: a file's flags are read as the command line's would be", "[program]") {
  CHECK(ReadFlags("flags:\n  port: 6443\n  storage: memory\n  quick: true\n  ratio: 0.5\n") ==
        "--port=6443 --storage=memory --quick=true --ratio=0.500000");
  CHECK(ReadFlags("flags:\n  server: [a, b]\n  port: \"1\"\n") == "--server=a --server=b --port=1");
  CHECK(ReadFlags("") == "");
  CHECK(ReadFlags("flags: {storage: \"\"}\n") == "--storage=");
  // A list of the command line takes the place of the file's, and does not grow it.
  CHECK(ReadFlags("flags:\n  server: [a, b]\n  port: 1\n", {"--server"}) == "--port=1");
}

TEST_CASE("program: each fault of a file of flags is named with its line", "[program]") {
  CHECK_THAT(ReadFlags("flags:\n  port: 1\n  storag: memory\n"),
             Catch::Contains("f.yaml: ") && Catch::Contains("line 5") &&
                 Catch::Contains("there is no flag --storag; did you mean --storage?"));
  CHECK_THAT(ReadFlags("flags:\n  port: {a: b}\n  quick: null\n"),
             Catch::Contains("line 4") && Catch::Contains("line 5") &&
                 Catch::Contains("must be a text, a number, true or false"));
  CHECK_THAT(ReadFlags("flags:\n  server: [[a]]\n"), Catch::Contains("must be a text"));
  CHECK_THAT(ReadFlags("flags:\n  config: other.yaml\n"),
             Catch::Contains("is for the command line alone"));
  CHECK_THAT(ReadFlags("flag:\n  port: 1\n"), Catch::Contains("flag"));
  CHECK_THAT(ReadFlags("flags: 3\n"),
             (Catch::StartsWith("error: ") && Catch::Contains("f.yaml: ")));
  CHECK_THAT(ReadFlags("flags:\n port: 1\n  quick: true\n"),
             (Catch::StartsWith("error: ") && Catch::Contains("f.yaml: ")));
  const TextFile pod("kind: Pod\napiVersion: v1\n");
  CHECK_THAT(Joined(ReadConfigFile(RealFileSystem(), pod.path(), {}, {})),
             Catch::Contains("ServerConfiguration"));
  CHECK_THAT(Joined(ReadConfigFile(RealFileSystem(), "/nope.yaml", {}, {})),
             Catch::Contains("/nope.yaml"));
}

TEST_CASE("program: flags of the command line take the place of the file's", "[program]") {
  const TextFile text(
      kHead + "flags:\n  secure-port: 1234\n  storage: memory\n  cors-allowed-origins: [a, b]\n");
  const std::string path = text.path();
  const Program program{.name = "sample", .install = [](auto&, const auto&) { return Status(); }};
  const auto read = [&](const std::vector<std::string>& words) {
    std::vector<const char*> argv{"sample"};
    for (const std::string& each : words) argv.push_back(each.c_str());
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), program);
  };

  const CommandLine file = read({"--config", path});
  CHECK(file.reading.text.empty());
  CHECK(file.values.storage == "memory");
  CHECK(file.values.recommended.secure_serving.secure_port == 1234);

  const CommandLine both = read({"--secure-port=9", "--config=" + path});
  CHECK(both.values.recommended.secure_serving.secure_port == 9);
  CHECK(both.values.storage == "memory");

  CHECK_THAT(read({"--config=/nope"}).reading.text,
             Catch::StartsWith("error: --config: ") && Catch::Contains("/nope"));
  CHECK(read({"--config=/nope"}).reading.exit_code == kExitFailure);
}

}  // namespace
}  // namespace apiserver::inline v0::program
