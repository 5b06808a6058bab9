// Documents of published CRDs against those that upstream's builder makes of them.

#include <openssl/sha.h>

#include <array>
#include <catch2/catch.hpp>
#include <map>

#include "apiextensions/documents/recorded.h"
#include "apiserver/codec/json.h"
#include "text/hex.h"

namespace {

using apiserver::runtime::Value;
using apiserver::testing::Canonical;
using apiserver::testing::Recorded;

constexpr const char* kProjects[] = {"cert-manager", "cluster-api",         "config-connector",
                                     "crossplane",   "external-secrets",    "gateway-api",
                                     "istio",        "prometheus-operator", "strimzi"};

// The published CRDs of all projects by name.
struct PublishedCrds {
  PublishedCrds() {
    for (const char* project : kProjects) {
      files.push_back(Recorded::Lines(std::string("crds/") + project + ".jsonl"));
      for (const Value& crd : files.back().values()) {
        by_name.emplace(crd["metadata"]["name"].AsString(), crd);
      }
    }
  }
  std::vector<Recorded> files;
  std::map<std::string, Value, std::less<>> by_name;
};

std::string Sha256Of(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  apiserver::text::AppendHex(digest, hex);
  return hex;
}

}  // namespace

TEST_CASE("documents: 176 versions of published CRDs are as upstream's builder has them",
          "[apiextensions][documents]") {
  const PublishedCrds published;
  const Recorded hashes = Recorded::Lines("crd-documents/hashes.jsonl");
  REQUIRE(hashes.values().size() == 176);

  for (const Value& row : hashes.values()) {
    const auto crd = published.by_name.find(row["name"].AsString());
    REQUIRE(crd != published.by_name.end());
    const std::string version(row["version"].AsString());
    INFO(crd->first << " " << version);

    CHECK(Sha256Of(Canonical(crd->second, version, /*v2=*/false)) == row["v3"].AsString());
    CHECK(Sha256Of(Canonical(crd->second, version, /*v2=*/true)) == row["v2"].AsString());
  }
}

// The same of a few, where a difference can be read.
TEST_CASE("documents: whole documents are equal to those of upstream's builder",
          "[apiextensions][documents]") {
  const PublishedCrds published;
  const Recorded whole = Recorded::Lines("crd-documents/whole.jsonl");
  REQUIRE(whole.values().size() == 5);

  for (const Value& row : whole.values()) {
    const auto crd = published.by_name.find(row["name"].AsString());
    REQUIRE(crd != published.by_name.end());
    for (const char* form : {"v2", "v3"}) {
      INFO(crd->first << " " << form);
      std::string wanted;
      apiserver::codec::AppendJson(row[form], wanted);

      CHECK(Canonical(crd->second, std::string(row["version"].AsString()),
                      /*v2=*/form == std::string("v2")) == wanted);
    }
  }
}
