#include "generator/project.h"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::generator {

namespace {

ProjectOptions Zoo() {
  return {.name = "zoo-apiserver", .group = "zoo.example.com", .kind = "Pet"};
}

std::string TextOf(const std::vector<ProjectFile>& files, std::string_view path) {
  for (const ProjectFile& file : files) {
    if (file.path == path) return file.text;
  }
  return "no file " + std::string(path);
}

std::string MessageOf(const ProjectOptions& options) {
  const auto made = NewProject(options);
  return made.ok() ? "ok" : std::string(made.status().message());
}

}  // namespace

TEST_CASE("generator: the plural of a kind is what Kubernetes guesses", "[generator]") {
  CHECK(PluralOf("Pet") == "pets");
  CHECK(PluralOf("NetworkPolicy") == "networkpolicies");
  CHECK(PluralOf("Ingress") == "ingresses");
  CHECK(PluralOf("Y") == "ies");
}

TEST_CASE("generator: a project has its files by the names of its kind", "[generator]") {
  const auto files = NewProject(Zoo()).value();

  std::vector<std::string> paths;
  for (const ProjectFile& file : files) {
    paths.push_back(file.path);
    CHECK(file.text.ends_with("\n"));
    CHECK(file.text.find('@') == std::string::npos);
  }
  CHECK(paths == std::vector<std::string>{"CMakeLists.txt", "main.cc", "pets.h", "pets.cc",
                                          "pets_test.cc", "pet.yaml", "README.md", ".gitignore"});
  CHECK(TextOf(files, "pets.h").find("namespace zoo_apiserver {") != std::string::npos);
  CHECK(TextOf(files, "main.cc").find(R"({{"zoo.example.com", "v1"}})") != std::string::npos);
  CHECK(TextOf(files, "pet.yaml").starts_with("apiVersion: zoo.example.com/v1\nkind: Pet\n"));
}

TEST_CASE("generator: names that C++ or the project has already are told apart", "[generator]") {
  ProjectOptions options = Zoo();
  options.name = "apiserver";
  options.kind = "Ma-in";
  options.plural = "main";
  const auto files = NewProject(options).value();

  CHECK(TextOf(files, "main_kind.h").find("namespace apiserver_2 {") != std::string::npos);
  CHECK(TextOf(files, "main.cc").find("apiserver_2::InstallMa_in(") != std::string::npos);
  options.name = "class";
  CHECK(TextOf(NewProject(options).value(), "main_kind.h").find("namespace class_ {") !=
        std::string::npos);
}

TEST_CASE("generator: a project without proper names is refused in Kubernetes' words",
          "[generator]") {
  const auto with = [](auto change) {
    ProjectOptions options = Zoo();
    change(options);
    return MessageOf(options);
  };
  CHECK_THAT(with([](auto& o) { o.name = "9zoo"; }),
             Catch::StartsWith("NAME: \"9zoo\": a DNS-1035 label must consist of"));
  CHECK_THAT(with([](auto& o) { o.name = std::string(64, 'a'); }),
             Catch::EndsWith("must be no more than 63 characters"));
  CHECK(with([](auto& o) { o.name = "test"; }) ==
        "NAME: \"test\": CMake has a target of its own with this name");
  CHECK_THAT(with([](auto& o) { o.group = "zoo_example.com"; }),
             Catch::StartsWith("--group: \"zoo_example.com\": a lowercase RFC 1123 subdomain"));
  CHECK(with([](auto& o) { o.group = "zoo"; }) ==
        "--group: \"zoo\": should be a domain with at least one dot");
  CHECK(with([](auto& o) { o.kind = "pet"; }) ==
        "--kind: \"pet\": must begin with a capital letter");
  CHECK_THAT(with([](auto& o) { o.kind = "Pet_"; }),
             Catch::StartsWith("--kind: \"Pet_\": a DNS-1035 label"));
  CHECK_THAT(with([](auto& o) { o.version = "V1"; }),
             Catch::StartsWith("--version: \"V1\": a DNS-1035 label"));
  CHECK_THAT(with([](auto& o) { o.plural = "../pets"; }),
             Catch::StartsWith("--plural: \"../pets\": a DNS-1035 label"));
  CHECK(with([](auto& o) { o.kind = ""; }) == "--kind: \"\": must begin with a capital letter");
}

TEST_CASE("generator: a project is not written over files that exist, unless it is forced",
          "[generator]") {
  const auto files_of = NewMemoryFileSystem();
  const auto files = NewProject(Zoo()).value();
  REQUIRE(WriteProject(*files_of, "work/zoo", files, /*force=*/false).ok());
  CHECK(files_of->Read("work/zoo/main.cc").value() == TextOf(files, "main.cc"));
  REQUIRE(files_of->WriteAtomically("work/zoo/main.cc", "mine", 0644).ok());
  REQUIRE(files_of->Remove("work/zoo/pets.h").ok());

  const Status refused = WriteProject(*files_of, "work/zoo", files, /*force=*/false);

  CHECK(refused.reason() == Reason::kAlreadyExists);
  CHECK_THAT(std::string(refused.message()),
             Catch::StartsWith("there is already work/zoo/CMakeLists.txt, work/zoo/main.cc, "));
  CHECK_THAT(std::string(refused.message()), Catch::EndsWith("; --force writes over it"));
  CHECK(files_of->Read("work/zoo/main.cc").value() == "mine");
  CHECK_FALSE(files_of->Exists("work/zoo/pets.h"));
  REQUIRE(WriteProject(*files_of, "work/zoo", files, /*force=*/true).ok());
  CHECK(files_of->Read("work/zoo/main.cc").value() == TextOf(files, "main.cc"));
}

}  // namespace apiserver::inline v0::generator
