#include "apiserver/storage/value/encryption.h"

#include <catch2/catch.hpp>

#include "base/manual.h"
#include "storage/value/golden.h"

namespace apiserver::inline v0 {
namespace {

using runtime::GroupResource;
using testing::kPath;
using testing::kText;
namespace value = storage::value;

const std::string kFile = "encryption.yaml";
const std::string kSecret = "c2VjcmV0IGlzIHNlY3VyZQ==";

// An entry of a configuration, in YAML's flow style.
std::string Entry(const std::string& resources, const std::string& providers) {
  return "{resources: " + resources + ", providers: " + providers + "}";
}
std::string Aes(const std::string& kind, const std::string& key) {
  return "{" + kind + ": {keys: [{name: " + key + ", secret: '" + kSecret + "'}]}}";
}

// What becomes of a health check in a test's hands.
struct FakeKms {
  Status health;
  Status known;  // Without waiting.
  int made = 0;
  value::NewKmsProvider Factory() {
    return [this](const value::KmsConfiguration& config) -> Result<value::KmsProvider> {
      ++made;
      if (config.name == "bad") return Status(Reason::kInvalid, "no such plugin");
      return value::KmsProvider{*value::NewAesGcm(std::string(32, config.name.front())),
                                [this] { return health; }, [this] { return known; }};
    };
  }
};

struct Fixture {
  void Write(std::initializer_list<std::string> entries) {
    std::string list;
    for (const std::string& entry : entries) list += (list.empty() ? "" : ", ") + entry;
    WriteText(
        "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources: [" +
        list + "]\n");
  }
  void WriteText(const std::string& text) {
    REQUIRE(files->WriteAtomically(kFile, text, 0600).ok());
  }
  Result<std::unique_ptr<value::Encryption>> Load(bool reload = false) {
    value::EncryptionOptions options;
    options.path = kFile;
    options.reload = reload;
    options.files = files.get();
    options.executor = &executor;
    options.clock = &clock;
    options.on_change = on_change;
    if (with_kms) options.new_kms_provider = kms.Factory();
    return value::LoadEncryption(std::move(options));
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  testing::ManualExecutor executor;
  testing::ManualClock clock;
  FakeKms kms;
  bool with_kms = true;
  std::function<void()> on_change;
};

// "k8s:enc:aesgcm:v1:one:": what stands before a value that is written now.
std::string PrefixOf(const value::TransformerPtr& transformer) {
  const auto stored = transformer->TransformToStorage(kText, kPath);
  REQUIRE(stored.ok());
  if (*stored == kText) return "plain";
  std::size_t end = 0;
  for (int colons = 0; colons < 5; ++colons) end = stored->find(':', end) + 1;
  return stored->substr(0, end);
}

TEST_CASE("storage.value: a resource is stored as the first entry that names it says",
          "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[events]", "[{identity: {}}]"),
                 Entry("[secrets, flunders.wardle.example.com]", "[" + Aes("aesgcm", "one") + "]"),
                 Entry("['*.apps']", "[" + Aes("aescbc", "two") + "]"),
                 Entry("['*.']", "[" + Aes("aesgcm", "three") + "]")});
  const auto encryption = fixture.Load();
  REQUIRE(encryption.ok());
  const auto prefix = [&](const GroupResource& resource) {
    return PrefixOf((*encryption)->TransformerFor(resource));
  };

  CHECK(prefix({"", "events"}) == "plain");
  CHECK(prefix({"", "secrets"}) == "k8s:enc:aesgcm:v1:one:");
  CHECK(prefix({"wardle.example.com", "flunders"}) == "k8s:enc:aesgcm:v1:one:");
  CHECK(prefix({"apps", "deployments"}) == "k8s:enc:aescbc:v1:two:");
  CHECK(prefix({"", "pods"}) == "k8s:enc:aesgcm:v1:three:");
  CHECK(prefix({"batch", "jobs"}) == "plain");
}

TEST_CASE("storage.value: *.* encrypts every resource that is not named before",
          "[storage.value]") {
  Fixture fixture;
  fixture.Write(
      {Entry("[events]", "[{identity: {}}]"), Entry("['*.*']", "[" + Aes("aesgcm", "all") + "]")});
  const auto encryption = fixture.Load();
  REQUIRE(encryption.ok());

  CHECK(PrefixOf((*encryption)->TransformerFor({"", "events"})) == "plain");
  CHECK(PrefixOf((*encryption)->TransformerFor({"batch", "jobs"})) == "k8s:enc:aesgcm:v1:all:");
}

TEST_CASE("storage.value: the resources that a configuration names can be asked for",
          "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]", "[{identity: {}}]"), Entry("['*.apps']", "[{identity: {}}]")});
  auto encryption = fixture.Load(true);
  REQUIRE(encryption.ok());
  const auto names = (*encryption)->Naming();
  CHECK(names({"", "secrets"}));
  CHECK(names({"apps", "deployments"}));
  CHECK_FALSE(names({"", "pods"}));
  CHECK_FALSE(names({"batch", "jobs"}));

  fixture.Write({Entry("['*.*']", "[{identity: {}}]")});
  REQUIRE((*encryption)->CheckFile().ok());
  CHECK(names({"batch", "jobs"}));
  encryption->reset();
  CHECK(names({"", "pods"}));
}

TEST_CASE("storage.value: a change is told once it is in use", "[storage.value]") {
  Fixture fixture;
  int changes = 0;
  fixture.on_change = [&changes] { ++changes; };
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "one") + "]")});
  const auto encryption = fixture.Load(true);
  REQUIRE(encryption.ok());
  REQUIRE((*encryption)->CheckFile().ok());
  CHECK(changes == 0);

  fixture.kms.health = Status(Reason::kInternalError, "down");
  fixture.Write({Entry("[secrets]", "[{kms: {apiVersion: v2, name: k, endpoint: 'unix:///k'}}]")});
  fixture.executor.Advance(std::chrono::minutes(1));
  CHECK(changes == 0);
  fixture.kms.health = Status();
  fixture.executor.Advance(std::chrono::minutes(2));
  CHECK(changes == 1);
}

TEST_CASE("storage.value: an entry that an earlier one hides is refused", "[storage.value]") {
  Fixture fixture;
  const auto message = [&](const std::string& first, const std::string& second) {
    fixture.Write({Entry(first, "[{identity: {}}]"), Entry(second, "[{identity: {}}]")});
    const auto loaded = fixture.Load();
    REQUIRE_FALSE(loaded.ok());
    return std::string(loaded.status().message());
  };
  const std::string building = "error while building transformers: ";

  CHECK(message("['*.']", "[secrets]") ==
        building + "resource \"secrets\" is masked by earlier rule \"*.\"");
  CHECK(message("['*.*']", "['*.']") ==
        building + "resource \"*.\" is masked by earlier rule \"*.*\"");
  CHECK(message("['*.apps']", "[deployments.apps]") ==
        building + "resource \"deployments.apps\" is masked by earlier rule \"*.apps\"");
}

TEST_CASE("storage.value: a resource in two entries is read with the providers of both",
          "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "old") + "]")});
  const std::string stored =
      *(*fixture.Load())->TransformerFor({"", "secrets"})->TransformToStorage(kText, kPath);
  fixture.Write({Entry("[secrets]", "[" + Aes("aescbc", "new") + "]"),
                 Entry("[secrets]", "[" + Aes("aesgcm", "old") + "]")});
  const auto now = (*fixture.Load())->TransformerFor({"", "secrets"});

  CHECK(PrefixOf(now) == "k8s:enc:aescbc:v1:new:");
  CHECK(now->TransformFromStorage(stored, kPath)->stale);
}

TEST_CASE("storage.value: a file that is missing, empty or wrong starts nothing",
          "[storage.value]") {
  Fixture fixture;
  CHECK(fixture.Load().status().reason() == Reason::kNotFound);
  fixture.WriteText("");
  CHECK(fixture.Load().status().message() ==
        "error while parsing file: error while loading file: encryption provider configuration "
        "file \"encryption.yaml\" is empty");
  fixture.WriteText("kind: Other\napiVersion: v1\n");
  CHECK(fixture.Load().status().message() ==
        "error while parsing file: error decoding encryption provider configuration file "
        "\"encryption.yaml\": no kind \"Other\" is registered for version \"v1\"");
  fixture.Write({});
  CHECK(fixture.Load().status().message() ==
        "error while parsing file: resources: Required value: at least one resources is required");
}

TEST_CASE("storage.value: a KMS provider needs somebody who makes it", "[storage.value]") {
  const auto kms = [](const std::string& version, const std::string& name) {
    return Entry("[secrets]", "[{kms: {apiVersion: " + version + ", name: " + name +
                                  ", endpoint: 'unix:///s'}}]");
  };
  Fixture fixture;
  fixture.Write({kms("v2", "plugin")});
  const auto loaded = fixture.Load();
  REQUIRE(loaded.ok());
  CHECK((*loaded)->uses_kms());
  CHECK(PrefixOf((*loaded)->TransformerFor({"", "secrets"})) == "k8s:enc:kms:v2:plugin:");

  fixture.with_kms = false;
  CHECK(fixture.Load().status().message() ==
        "error while building transformers: could not configure KMSv2-Plugin \"plugin\": this "
        "server is built without KMS providers");
  fixture.with_kms = true;
  fixture.Write({kms("v2", "bad")});
  CHECK(fixture.Load().status().message() ==
        "error while building transformers: could not configure KMSv2-Plugin's probe \"bad\", "
        "error: no such plugin");
  fixture.Write({kms("v1", "old")});
  CHECK(fixture.Load().status().message() ==
        "error while building transformers: KMS provider \"old\": KMSv1 is deprecated and not "
        "supported. Use KMSv2 instead: apiVersion: v2");
}

TEST_CASE("storage.value: the health check names the provider that fails", "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]",
                       "[{kms: {apiVersion: v2, name: a, endpoint: 'unix:///s'}}, {kms: "
                       "{apiVersion: v2, name: b, endpoint: 'unix:///s'}}]")});
  const auto loaded = fixture.Load();
  REQUIRE(loaded.ok());
  CHECK((*loaded)->Check().ok());

  fixture.kms.health = Status(Reason::kInternalError, "down");

  CHECK((*loaded)->Check().message() == "[kms-provider-0: down, kms-provider-1: down]");
  CHECK((*loaded)->Health().ok());
  fixture.kms.known = fixture.kms.health;
  CHECK((*loaded)->Health().message() == "[kms-provider-0: down, kms-provider-1: down]");
}

TEST_CASE("storage.value: a changed file is used within a minute, by transformers at hand too",
          "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "one") + "]")});
  const auto encryption = fixture.Load(true);
  REQUIRE(encryption.ok());
  const auto transformer = (*encryption)->TransformerFor({"", "secrets"});
  CHECK(PrefixOf(transformer) == "k8s:enc:aesgcm:v1:one:");
  const std::string stored = *transformer->TransformToStorage(kText, kPath);

  fixture.Write(
      {Entry("[secrets]", "[" + Aes("aesgcm", "two") + ", " + Aes("aesgcm", "one") + "]")});
  fixture.executor.Advance(std::chrono::seconds(59));
  CHECK(PrefixOf(transformer) == "k8s:enc:aesgcm:v1:one:");
  fixture.executor.Advance(std::chrono::seconds(1));

  CHECK(PrefixOf(transformer) == "k8s:enc:aesgcm:v1:two:");
  CHECK(transformer->TransformFromStorage(stored, kPath)->stale);
}

TEST_CASE("storage.value: a changed file that is wrong is not used", "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "one") + "]")});
  const auto encryption = fixture.Load(true);
  REQUIRE(encryption.ok());
  const auto transformer = (*encryption)->TransformerFor({"", "secrets"});

  fixture.WriteText("kind: Other\napiVersion: v1\n");
  fixture.executor.Advance(std::chrono::minutes(1));

  CHECK(PrefixOf(transformer) == "k8s:enc:aesgcm:v1:one:");
  CHECK((*encryption)->CheckFile().reason() == Reason::kInvalid);
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "two") + "]")});
  fixture.executor.Advance(std::chrono::minutes(1));
  CHECK(PrefixOf(transformer) == "k8s:enc:aesgcm:v1:two:");
}

TEST_CASE("storage.value: a changed file waits until its KMS plugins are healthy",
          "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "one") + "]")});
  const auto encryption = fixture.Load(true);
  REQUIRE(encryption.ok());
  const auto transformer = (*encryption)->TransformerFor({"", "secrets"});
  fixture.kms.health = Status(Reason::kInternalError, "down");
  fixture.Write(
      {Entry("[secrets]", "[{kms: {apiVersion: v2, name: plugin, endpoint: 'unix:///s'}}]")});

  fixture.executor.Advance(std::chrono::minutes(1));
  CHECK(PrefixOf(transformer) == "k8s:enc:aesgcm:v1:one:");
  fixture.kms.health = Status();
  fixture.executor.Advance(std::chrono::minutes(1));

  CHECK(PrefixOf(transformer) == "k8s:enc:kms:v2:plugin:");
  CHECK(fixture.kms.made == 1);
}

TEST_CASE("storage.value: without reload a changed file changes nothing", "[storage.value]") {
  Fixture fixture;
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "one") + "]")});
  const auto encryption = fixture.Load();
  REQUIRE(encryption.ok());
  fixture.Write({Entry("[secrets]", "[" + Aes("aesgcm", "two") + "]")});

  CHECK(fixture.executor.timers() == 0);
  CHECK((*encryption)->CheckFile().ok());
  CHECK(PrefixOf((*encryption)->TransformerFor({"", "secrets"})) == "k8s:enc:aesgcm:v1:one:");
}

}  // namespace
}  // namespace apiserver::inline v0
