#include "apiserver/storage/value/config.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0 {
namespace {

using storage::value::EncryptionConfiguration;
using storage::value::ParseEncryptionConfiguration;
using storage::value::ValidateEncryptionConfiguration;

const std::string kHead =
    "kind: EncryptionConfiguration\n"
    "apiVersion: apiserver.config.k8s.io/v1\n";

Result<EncryptionConfiguration> Parsed(const std::string& resources) {
  return ParseEncryptionConfiguration(kHead + resources);
}

// What is wrong with an entry of these resources and providers, in YAML's flow style.
std::string ComplaintsAbout(const std::string& resources, const std::string& providers,
                            bool reload = false) {
  const auto config =
      Parsed("resources: [{resources: " + resources + ", providers: " + providers + "}]\n");
  INFO(config.status().ToString());
  REQUIRE(config.ok());
  return ValidateEncryptionConfiguration(*config, reload).Aggregate();
}

TEST_CASE("storage.value: a configuration of every provider is read", "[storage.value]") {
  const auto config = Parsed(R"(
resources:
  - resources:
      - secrets
      - configmaps
    providers:
      - aesgcm:
          keys:
            - name: key1
              secret: c2VjcmV0IGlzIHNlY3VyZQ==
      - aescbc:
          keys:
            - name: key2
              secret: dGhpcyBpcyBwYXNzd29yZA==
      - secretbox:
          keys:
            - name: key3
              secret: YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=
      - kms:
          apiVersion: v2
          name: plugin
          endpoint: unix:///run/plugin.sock
          timeout: 15s
      - identity: {}
)");

  REQUIRE(config.ok());
  REQUIRE(config->resources.size() == 1);
  CHECK(config->resources[0].resources == std::vector<std::string>{"secrets", "configmaps"});
  const auto& providers = config->resources[0].providers;
  REQUIRE(providers.size() == 5);
  CHECK(providers[0].aesgcm->at(0).name == "key1");
  CHECK(providers[1].aescbc->at(0).secret == "dGhpcyBpcyBwYXNzd29yZA==");
  CHECK(providers[2].secretbox->size() == 1);
  CHECK(providers[3].kms->name == "plugin");
  CHECK(providers[3].kms->api_version == "v2");
  CHECK(providers[3].kms->timeout == std::chrono::seconds(15));
  CHECK(providers[4].identity);
  CHECK(ValidateEncryptionConfiguration(*config, true).empty());
}

TEST_CASE("storage.value: a configuration may be JSON", "[storage.value]") {
  const auto config = ParseEncryptionConfiguration(
      R"({"kind":"EncryptionConfiguration","apiVersion":"apiserver.config.k8s.io/v1",
          "resources":[{"resources":["*.*"],"providers":[{"identity":{}}]}]})");

  REQUIRE(config.ok());
  CHECK(config->resources[0].providers[0].identity);
}

TEST_CASE("storage.value: a KMS provider waits three seconds and is v1 unless it says otherwise",
          "[storage.value]") {
  const auto config = Parsed("resources: [{resources: [a], providers: [{kms: {name: p}}]}]");

  REQUIRE(config.ok());
  CHECK(config->resources[0].providers[0].kms->timeout == std::chrono::seconds(3));
  CHECK(config->resources[0].providers[0].kms->api_version == "v1");
}

TEST_CASE("storage.value: a file that is no such configuration is refused", "[storage.value]") {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"[]", "the file does not hold an object"},
      {"kinds: EncryptionConfiguration\n", "Object 'Kind' is missing"},
      {"kind: EncryptionConfiguration\n", "Object 'apiVersion' is missing"},
      {"kind: Other\napiVersion: v1\n", "no kind \"Other\" is registered for version \"v1\""},
      {kHead + "pandas: 1\n", "strict decoding error: unknown field \"pandas\""},
      {kHead + "resources: []\nresources: []\n",
       "strict decoding error: yaml: line 4: key \"resources\" already set in map"},
      {R"({"kind":"EncryptionConfiguration","apiVersion":"apiserver.config.k8s.io/v1",
           "resources":[],"resources":[]})",
       "strict decoding error: duplicate field \"resources\""},
      {kHead + "resources: [{providers: [{kms: {pandas: best}}]}]\n",
       "strict decoding error: unknown field \"resources[0].providers[0].kms.pandas\""},
      {kHead + "resources: [{resources: secrets}]\n", "resources[0].resources: must be a list"},
      {kHead + "resources: [{resources: [1]}]\n", "resources[0].resources[0]: must be a string"},
      {kHead + "resources: [{providers: [{aescbc: {keys: [{secret: 5}]}}]}]\n",
       "resources[0].providers[0].aescbc.keys[0].secret: must be a string"},
      {kHead + "resources: [{providers: [{kms: {timeout: 15}}]}]\n",
       "resources[0].providers[0].kms.timeout: must be a string"},
  };
  for (const Case& each : cases) {
    INFO(each.text);
    const auto config = ParseEncryptionConfiguration(each.text);
    REQUIRE_FALSE(config.ok());
    CHECK(config.status().reason() == Reason::kInvalid);
    CHECK(config.status().message().substr(0, each.message.size()) == each.message);
  }
}

TEST_CASE("storage.value: an entry needs resources and providers", "[storage.value]") {
  CHECK(ValidateEncryptionConfiguration({}, false).Aggregate() ==
        "resources: Required value: at least one resources is required");
  CHECK(ComplaintsAbout("[]", "[]") ==
        "[resources[0].resources: Required value: at least one resources[0].resources is required, "
        "resources[0].providers: Required value: at least one resources[0].providers is required]");
}

TEST_CASE("storage.value: names that mean nothing, or something else, are refused in Go's words",
          "[storage.value]") {
  struct Case {
    std::string resources;
    std::string complaint;  // Empty: none.
  };
  const std::string path = "resources[0].resources[0]: Invalid value: ";
  const std::string list = "resources[0].resources: Invalid value: ";
  const std::string overlap =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not "
      "allowed as they will be masked";
  const Case cases[] = {
      {"[secrets, configmaps, flunders.wardle.example.com]", ""},
      {"['*.apps', '*.', secrets.other]", ""},
      {"['*.*']", ""},
      {"[Secrets]", path + "\"Secrets\": resource name should not contain capital letters"},
      {"['*']", path + "\"*\": use '*.' to encrypt all the resources from core API group or *.* to "
                       "encrypt all resources"},
      {"[apiserveripinfo]",
       path + "\"apiserveripinfo\": resources which do not have REST API/s cannot be encrypted"},
      {"['*.events.k8s.io']",
       path +
           "\"*.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' API group "
           "in etcd. Use 'events' instead in the config file"},
      {"['*.extensions']",
       path + "\"*.extensions\": 'extensions' group has been removed and cannot be used for "
              "encryption"},
      {"['secrets.*']",
       path + "\"secrets.*\": encrypting the same resource across groups is not supported"},
      {"[secrets, secrets]", list +
                                 "[\"secrets\",\"secrets\"]: the same resource cannot be specified "
                                 "multiple times"},
      {"[secrets, '*.']", list + "[\"secrets\",\"*.\"]: " + overlap},
      {"['*.apps', deployments.apps]", list + "[\"*.apps\",\"deployments.apps\"]: " + overlap},
      {"[secrets, '*.*']", list + "[\"secrets\",\"*.*\"]: " + overlap},
  };
  for (const Case& each : cases) {
    INFO(each.resources);
    CHECK(ComplaintsAbout(each.resources, "[{identity: {}}]") == each.complaint);
  }
}

TEST_CASE("storage.value: keys without name or secret, or of another size, are refused",
          "[storage.value]") {
  const std::string at = "resources[0].providers[0].aescbc.keys[0].";
  CHECK(ComplaintsAbout("[a]", "[{aescbc: {keys: []}}]") ==
        "resources[0].providers[0].aescbc.keys: Required value: at least one keys is required");
  CHECK(ComplaintsAbout("[a]", "[{aescbc: {keys: [{}]}}]") ==
        "[" + at + "name: Required value: name is a mandatory field for a key, " + at +
            "secret: Required value: secret is a mandatory field for a key]");
  CHECK(ComplaintsAbout("[a]", "[{aescbc: {keys: [{name: k, secret: '&'}]}}]") ==
        at + "secret: Invalid value: \"REDACTED\": secrets must be base64 encoded");
  CHECK(ComplaintsAbout("[a]", "[{aescbc: {keys: [{name: k, secret: YWJj}]}}]") ==
        at + "secret: Invalid value: \"REDACTED\": secret is not of the expected length, got 3, "
             "expected one of [16 24 32]");
  CHECK(ComplaintsAbout("[a]", "[{secretbox: {keys: [{name: k, secret: YWJj}]}}]") ==
        "resources[0].providers[0].secretbox.keys[0].secret: Invalid value: \"REDACTED\": secret "
        "is not of the expected length, got 3, expected one of [32]");
}

TEST_CASE("storage.value: an element names exactly one provider", "[storage.value]") {
  CHECK(ComplaintsAbout("[a]", "[{}]") ==
        "resources[0].providers[0]: Invalid value: "
        "{\"AESGCM\":null,\"AESCBC\":null,\"Secretbox\":null,\"Identity\":null,\"KMS\":null}: "
        "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, "
        "Identity");
  CHECK(ComplaintsAbout(
            "[a]",
            "[{identity: {}, aesgcm: {keys: [{name: k, secret: c2VjcmV0IGlzIHNlY3VyZQ==}]}}]") ==
        "resources[0].providers[0]: Invalid value: \"REDACTED\": more than one provider specified "
        "in a single element, should split into different list elements");
}

TEST_CASE("storage.value: KMS providers are checked in Go's words", "[storage.value]") {
  const std::string at = "resources[0].providers[0].kms.";
  const auto complaints = [](const std::string& kms, bool reload = false) {
    return ComplaintsAbout("[a]", "[{kms: " + kms + "}]", reload);
  };
  const std::string fine = "apiVersion: v2, name: p, endpoint: 'unix:///s'";

  CHECK(complaints("{" + fine + "}").empty());
  CHECK(complaints("{apiVersion: v2, endpoint: 'unix:///s'}") ==
        at + "name: Required value: name is a mandatory field for a provider");
  CHECK(complaints("{apiVersion: v2, name: 'a:b', endpoint: 'unix:///s'}") ==
        at + "name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'");
  CHECK(complaints("{apiVersion: v2, name: p}") ==
        at + "endpoint: Invalid value: \"\": endpoint is a mandatory field for a kms");
  CHECK(complaints("{apiVersion: v2, name: p, endpoint: 'http://host'}") ==
        at + "endpoint: Invalid value: \"http://host\": unsupported scheme \"http\" for KMS "
             "provider, only unix is supported");
  CHECK(complaints("{" + fine + ", timeout: 0s}") ==
        at + "timeout: Invalid value: \"0s\": timeout should be a positive value");
  CHECK(complaints("{" + fine + ", cachesize: 5}") ==
        at + "cachesize: Invalid value: 5: cachesize is not supported in v2");
  CHECK(complaints("{apiVersion: v3, name: p, endpoint: 'unix:///s'}") ==
        at + "apiVersion: Invalid value: \"v3\": unsupported apiVersion apiVersion for KMS "
             "provider, only v1 and v2 are supported");
  CHECK(ComplaintsAbout("[a]", "[{kms: {" + fine + "}}, {kms: {" + fine + "}}]") ==
        "resources[0].providers[1].kms.name: Invalid value: \"p\": duplicate KMS provider name p, "
        "names must be unique");
}

TEST_CASE("storage.value: no message quotes a secret", "[storage.value]") {
  const std::string secret = "c2VjcmV0IGlzIHNlY3VyZQ==";
  const std::string texts[] = {
      kHead + "resources: [{providers: [{aescbc: {keys: [{name: 1, secret: " + secret + "}]}}]}]",
      kHead + "resources: [{providers: [{aescbc: {keys: " + secret + "}}]}]",
      "secret: " + secret,
  };
  for (const std::string& text : texts) {
    const auto config = ParseEncryptionConfiguration(text);
    REQUIRE_FALSE(config.ok());
    CHECK(config.status().message().find(secret) == std::string::npos);
  }
}

}  // namespace
}  // namespace apiserver::inline v0
