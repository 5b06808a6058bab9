// What Go's types write, byte for byte: tests/testdata/golden/README.md and
// tests/testdata/api-v1.35/README.md, tests/testdata/api-v1.36/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/groups/admissionregistration.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/groups/rbac.h"

namespace {

using apiserver::Result;
using apiserver::codec::MediaType;
using apiserver::runtime::KindPtr;

const std::string kGolden = std::string(APISERVER_TESTDATA) + "/golden/";

// The folder of the published objects of a group.
std::string Published(const std::string& group) {
  const char* const version = group == "admissionregistration.k8s.io" ? "1.36/" : "1.35/";
  return std::string(APISERVER_TESTDATA) + "/api-v" + version;
}

std::vector<KindPtr> AllKinds() {
  std::vector<KindPtr> all;
  for (const auto& kinds :
       {apiserver::groups::core::Kinds(), apiserver::groups::apps::Kinds(),
        apiserver::groups::authorization::Kinds(), apiserver::groups::coordination::Kinds(),
        apiserver::groups::discovery::Kinds(), apiserver::groups::rbac::Kinds(),
        apiserver::groups::admissionregistration::PolicyKinds()}) {
    INFO(kinds.status().ToString());
    REQUIRE(kinds.ok());
    all.insert(all.end(), kinds->begin(), kinds->end());
  }
  return all;
}

std::string GroupName(const KindPtr& kind) {
  return kind->group().empty() ? "core" : kind->group();
}

std::optional<std::string> ReadIfThere(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Read(const std::string& path) {
  const std::optional<std::string> text = ReadIfThere(path);
  INFO(path);
  REQUIRE(text.has_value());
  return *text;
}

struct Encodings {
  std::string json;
  std::string yaml;
  std::string protobuf;
};

Encodings ReadAll(const std::string& stem) {
  return {.json = Read(stem + "json"), .yaml = Read(stem + "yaml"), .protobuf = Read(stem + "pb")};
}

Encodings Transcode(const KindPtr& kind, MediaType type, const std::string& body,
                    const std::string& version = "v1") {
  auto decoded = apiserver::codec::DecodeObject(type, std::make_shared<const std::string>(body),
                                                {.kind = kind, .version = version});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  CHECK(decoded->strict_errors.empty());
  // It asks a write to forget all owners, and is kept until then: meta/managed_fields.h.
  if (body.find(R"("managedFields":[])") != std::string::npos) {
    decoded->object->Erase("metadata", "managedFields");
  }
  const apiserver::runtime::ObjectPtr object = std::move(decoded->object);
  Encodings result;
  const auto json = apiserver::codec::EncodingOf(apiserver::Context::Background(), *object, version,
                                                 apiserver::runtime::Format::kJson);
  const auto protobuf =
      apiserver::codec::EncodeProtobuf(apiserver::Context::Background(), *object, version);
  INFO(protobuf.status().ToString());
  REQUIRE(json.ok());
  REQUIRE(protobuf.ok());
  result.json = std::string(kind->JsonPrefix(version)) + (*json)->ToString() + "\n";
  result.protobuf = *protobuf;
  apiserver::runtime::Arena arena;
  const auto value = apiserver::codec::ParseJson(result.json, arena);
  REQUIRE(value.ok());
  apiserver::codec::AppendYaml(*value, result.yaml);
  return result;
}

// Empty: none. Whole objects are too much to look at.
std::string Difference(const std::string& ours, const std::string& golden) {
  if (ours == golden) return "";
  const auto at = static_cast<std::size_t>(
      std::mismatch(ours.begin(), ours.end(), golden.begin(), golden.end()).first - ours.begin());
  const std::size_t from = at < 120 ? 0 : at - 120;
  const auto around = [&](const std::string& text) {
    return from < text.size() ? text.substr(from, 240) : "";
  };
  return "at byte " + std::to_string(at) + "\nours:   " + around(ours) +
         "\ngolden: " + around(golden);
}

void CheckSame(const Encodings& ours, const Encodings& golden) {
  CHECK(Difference(ours.json, golden.json) == "");
  CHECK(Difference(ours.yaml, golden.yaml) == "");
  CHECK(Difference(ours.protobuf, golden.protobuf) == "");
}

const char* const kCases[] = {"empty", "null",      "null-deep",  "zero",
                              "full",  "zero-deep", "zero-object"};

TEST_CASE("groups: what a Go server makes of an input is what we make of it", "[groups]") {
  for (const KindPtr& kind : AllKinds()) {
    for (const std::string name : kCases) {
      const std::string stem = kGolden + GroupName(kind) + "_v1_" + kind->kind() + "." + name + ".";
      INFO(stem);
      const bool protobuf = name == "zero-object";
      const std::string input = Read(stem + (protobuf ? "in.pb" : "in.json"));

      CheckSame(Transcode(kind, protobuf ? MediaType::kProtobuf : MediaType::kJson, input),
                ReadAll(stem));
    }
  }
}

TEST_CASE("groups: a Go server's protobuf is read as a Go server reads it", "[groups]") {
  for (const KindPtr& kind : AllKinds()) {
    for (const std::string name : kCases) {
      const std::string stem = kGolden + GroupName(kind) + "_v1_" + kind->kind() + "." + name + ".";
      INFO(stem);
      Encodings expected = ReadAll(stem);
      const std::string input = expected.protobuf;
      // Only what differs has a file of its own.
      expected.json = ReadIfThere(stem + "from-pb.json").value_or(expected.json);
      expected.yaml = ReadIfThere(stem + "from-pb.yaml").value_or(expected.yaml);
      expected.protobuf = ReadIfThere(stem + "from-pb.pb").value_or(expected.protobuf);

      CheckSame(Transcode(kind, MediaType::kProtobuf, input), expected);
    }
  }
}

// Passes the published object of one version from each encoding into each.
void CheckPublished(const KindPtr& kind, const std::string& version) {
  const std::string stem =
      Published(kind->group()) + GroupName(kind) + "." + version + "." + kind->kind() + ".";
  INFO(stem);
  Encodings golden = ReadAll(stem);
  const Encodings bodies = golden;
  apiserver::runtime::Arena arena;
  // The published text is indented.
  const auto value = apiserver::codec::ParseJson(golden.json, arena);
  REQUIRE(value.ok());
  golden.json.clear();
  apiserver::codec::AppendJson(*value, golden.json);
  golden.json += '\n';

  CheckSame(Transcode(kind, MediaType::kJson, bodies.json, version), golden);
  CheckSame(Transcode(kind, MediaType::kYaml, bodies.yaml, version), golden);
  CheckSame(Transcode(kind, MediaType::kProtobuf, bodies.protobuf, version), golden);
}

TEST_CASE("groups: published objects pass from each encoding into each", "[groups]") {
  for (const KindPtr& kind : AllKinds()) {
    for (const auto& version : kind->versions()) CheckPublished(kind, version.version);
  }
}

TEST_CASE("groups: every golden file belongs to a kind that is tested", "[groups]") {
  std::vector<std::string> names;
  for (const KindPtr& kind : AllKinds()) names.push_back(GroupName(kind) + "_v1_" + kind->kind());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
    const std::string file = entry.path().filename().string();
    if (file == "README.md") continue;
    ++files;
    INFO(file);
    CHECK(std::ranges::any_of(
        names, [&](const std::string& name) { return file.starts_with(name + "."); }));
  }
  CHECK(files >= names.size() * std::size(kCases) * 4);
}

}  // namespace
