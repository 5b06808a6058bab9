#include "apiserver/storage/kms/provider.h"

#include <catch2/catch.hpp>

#include "base/manual.h"
#include "storage/kms/fake_plugin.h"
#include "storage/kms/transformer.h"
#include "storage/value/golden.h"

namespace apiserver::inline v0 {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::FakePlugin;
using testing::kPath;
using testing::kText;
namespace kms = storage::kms;
namespace value = storage::value;

struct Fixture {
  kms::Options options() { return {.executor = &executor, .clock = &clock}; }
  value::KmsProvider New() { return kms::NewProvider("plugin", plugin, options()); }
  // Time passes, for whoever asks and for timers.
  void Advance(std::chrono::nanoseconds by) {
    clock.Advance(by);
    executor.Advance(by);
  }

  testing::ManualClock clock;
  testing::ManualExecutor executor;
  std::shared_ptr<FakePlugin> plugin = std::make_shared<FakePlugin>();
};

std::string Written(const value::KmsProvider& provider) {
  const auto stored = provider.transformer->TransformToStorage(kText, kPath);
  INFO(stored.status().ToString());
  REQUIRE(stored.ok());
  return *stored;
}

kms::EncryptedObject ObjectOf(const std::string& stored) {
  kms::EncryptedObject object;
  REQUIRE(kms::Decode(stored, object).ok());
  return object;
}

TEST_CASE("storage.kms: the envelope of a Go server is read and written alike", "[storage.kms]") {
  const std::string golden =
      testing::GoldenValues().at("kms-v2").substr(std::string("k8s:enc:kms:v2:plugin:").size());

  const kms::EncryptedObject object = ObjectOf(golden);

  CHECK(object.key_id == "key-1");
  CHECK(object.encrypted_dek_source == "sealed seed");
  CHECK(object.annotations == kms::Annotations{{"plugin.example.com", "v"}});
  CHECK(object.source_type == 1);
  CHECK(kms::Encode(object) == golden);
  const auto seed = value::NewExtendedNonceGcm(testing::KeyOf(32));
  CHECK((*seed)->TransformFromStorage(object.encrypted_data, kPath)->bytes == kText);
}

TEST_CASE("storage.kms: what is written is read without asking the plugin", "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();

  const auto read = provider.transformer->TransformFromStorage(Written(provider), kPath);

  REQUIRE(read.ok());
  CHECK(read->bytes == kText);
  CHECK_FALSE(read->stale);
  auto plugin = fixture.plugin->Lock();
  CHECK(plugin->statuses == 1);
  CHECK(plugin->encrypts == 1);
  CHECK(plugin->decrypts == 0);
  CHECK(plugin->uid.size() == 36);
}

TEST_CASE("storage.kms: all values of one key share a seed, each with bytes of its own",
          "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();

  const auto first = ObjectOf(Written(provider));
  const auto second = ObjectOf(Written(provider));

  CHECK(first.encrypted_dek_source == second.encrypted_dek_source);
  CHECK(first.encrypted_data.substr(0, 32) != second.encrypted_data.substr(0, 32));
  CHECK(first.source_type == 1);
}

TEST_CASE("storage.kms: another server asks the plugin for a seed once", "[storage.kms]") {
  Fixture fixture;
  const auto writer = fixture.New();
  const std::string first = Written(writer);
  const std::string second = Written(writer);
  const auto reader = fixture.New();

  CHECK(reader.transformer->TransformFromStorage(first, kPath)->bytes == kText);
  CHECK(reader.transformer->TransformFromStorage(second, kPath)->bytes == kText);

  CHECK(fixture.plugin->Lock()->decrypts == 1);
}

TEST_CASE("storage.kms: a seed is forgotten a day after it was last needed", "[storage.kms]") {
  Fixture fixture;
  const auto writer = fixture.New();
  const std::string stored = Written(writer);
  const auto reader = fixture.New();
  REQUIRE(reader.transformer->TransformFromStorage(stored, kPath).ok());
  fixture.clock.Advance(hours(24) + seconds(1));
  fixture.executor.Advance(minutes(1));
  // What a write puts into the cache sweeps it.
  (void)Written(reader);

  REQUIRE(reader.transformer->TransformFromStorage(stored, kPath).ok());

  CHECK(fixture.plugin->Lock()->decrypts == 2);
}

TEST_CASE("storage.kms: a new key of the plugin makes old values stale", "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  const std::string old = Written(provider);
  fixture.plugin->Lock()->key_id = "key-2";

  fixture.Advance(minutes(1));

  CHECK(ObjectOf(Written(provider)).key_id == "key-2");
  const auto read = provider.transformer->TransformFromStorage(old, kPath);
  REQUIRE(read.ok());
  CHECK(read->stale);
  CHECK(fixture.plugin->Lock()->encrypts == 2);
}

TEST_CASE("storage.kms: the status is asked for every minute, every ten seconds in trouble",
          "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  const auto asked = [&] { return fixture.plugin->Lock()->statuses; };
  fixture.Advance(seconds(59));
  CHECK(asked() == 1);
  fixture.Advance(seconds(1));
  CHECK(asked() == 2);

  fixture.plugin->Lock()->healthz = "no";
  fixture.Advance(seconds(60));
  CHECK(asked() == 3);
  fixture.Advance(seconds(10));
  CHECK(asked() == 4);
  fixture.plugin->Lock()->healthz = "ok";
  fixture.Advance(seconds(10));
  CHECK(asked() == 5);
  fixture.Advance(seconds(59));
  CHECK(asked() == 5);
}

TEST_CASE("storage.kms: writes fail three minutes after the plugin was last healthy, reads do not",
          "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  const std::string stored = Written(provider);
  fixture.plugin->Lock()->down = Status(Reason::kInternalError, "gone");

  fixture.Advance(minutes(3));
  CHECK(provider.transformer->TransformToStorage(kText, kPath).ok());
  fixture.Advance(seconds(1));

  CHECK(provider.transformer->TransformToStorage(kText, kPath).status().message() ==
        "encryptedDEKSource with keyID hash "
        "\"sha256:be2974546978e3739e6d6da85c4be9f334ce32df2b9fd4b6ff1b55c0d57e9d44\" expired: the "
        "KMS plugin has not been healthy for 3 minutes");
  CHECK(provider.transformer->TransformFromStorage(stored, kPath).ok());
  fixture.plugin->Lock()->down = Status();
  fixture.Advance(seconds(10));
  CHECK(provider.transformer->TransformToStorage(kText, kPath).ok());
  CHECK(fixture.plugin->Lock()->encrypts == 1);
}

TEST_CASE("storage.kms: health is told without waiting and found out anew after 20 seconds",
          "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  fixture.plugin->Lock()->healthz = "no";
  fixture.Advance(seconds(19));
  CHECK(provider.health().ok());
  fixture.executor.Drain();
  CHECK(fixture.plugin->Lock()->statuses == 1);

  fixture.Advance(seconds(1));
  CHECK(provider.health().ok());
  fixture.executor.Drain();

  CHECK(provider.health().message() ==
        "kmsv2 Provider plugin is not healthy, error: got unexpected healthz status: no");
  CHECK(fixture.plugin->Lock()->statuses == 2);
}

TEST_CASE("storage.kms: a plugin may come up after the server", "[storage.kms]") {
  Fixture fixture;
  fixture.plugin->Lock()->down = Status(Reason::kInternalError, "gone");
  const auto provider = fixture.New();
  CHECK(provider.transformer->TransformToStorage(kText, kPath).status().message() ==
        "got unexpected nil transformer");
  CHECK(provider.check().message() ==
        "failed to perform status section of the healthz check for KMS Provider plugin, error: "
        "gone");

  fixture.plugin->Lock()->down = Status();
  fixture.Advance(seconds(10));

  CHECK(provider.transformer->TransformToStorage(kText, kPath).ok());
  CHECK(provider.check().ok());
}

TEST_CASE("storage.kms: the health check says what the plugin does wrong", "[storage.kms]") {
  const auto complaint = [](const std::function<void(FakePlugin::State&)>& change) {
    Fixture fixture;
    change(*fixture.plugin->Lock());
    return std::string(fixture.New().check().message());
  };
  const std::string begin = "kmsv2 Provider plugin is not healthy, error: ";

  CHECK(complaint([](auto& state) { state.healthz = "no"; }) ==
        begin + "got unexpected healthz status: no");
  CHECK(complaint([](auto& state) { state.version = "v1"; }) ==
        begin + "expected KMSv2 API version v2, got v1");
  CHECK(complaint([](auto& state) { state.key_id = ""; }) ==
        begin + "got invalid KMSv2 KeyID hash \"\": keyID is empty");
  CHECK(complaint([](auto& state) {
          state.key_id = std::string(1025, 'k');
        }).ends_with("keyID is 1025 bytes, which exceeds the max size of 1024"));
  const auto rotation = [&](const std::function<void(FakePlugin::State&)>& change) {
    const std::string text = complaint(change);
    CHECK(text.starts_with(begin + "failed to rotate DEK uid="));
    return text;
  };
  CHECK(rotation([](auto& state) {
          state.sealed = std::string(1025, 'x');
        }).find("encrypted DEK source is 1025 bytes, which exceeds the max size of 1024") !=
        std::string::npos);
  CHECK(rotation([](auto& state) {
          state.annotations = {{"short", "x"}};
        }).find("should be a domain with at least two segments separated by dots") !=
        std::string::npos);
  CHECK(rotation([](auto& state) {
          state.annotations = {{"a.example.com", std::string(32 * 1024, 'x')}};
        }).find("total size of annotations is 32781, which exceeds the max size of 32768") !=
        std::string::npos);
  CHECK(rotation([](auto& state) { state.sealed_key_id = "other"; }).find("errGen=<nil>") !=
        std::string::npos);
}

TEST_CASE("storage.kms: a seed that the new key cannot seal leaves the old one in use",
          "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  {
    auto plugin = fixture.plugin->Lock();
    plugin->key_id = "key-2";
    plugin->sealed_key_id = "key-3";
  }

  fixture.Advance(minutes(1));

  CHECK_FALSE(provider.check().ok());
  CHECK(ObjectOf(Written(provider)).key_id == "key-1");
}

TEST_CASE("storage.kms: tampered, cut and moved values are refused", "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  const std::string stored = Written(provider);
  CHECK(provider.transformer->TransformFromStorage(stored, "/registry/other").status().message() ==
        "cipher: message authentication failed");

  for (std::size_t i = 0; i < stored.size(); ++i) {
    REQUIRE_FALSE(provider.transformer->TransformFromStorage(stored.substr(0, i), kPath).ok());
    std::string tampered = stored;
    tampered[i] = static_cast<char>(tampered[i] ^ 1);
    REQUIRE_FALSE(provider.transformer->TransformFromStorage(tampered, kPath).ok());
  }
}

TEST_CASE("storage.kms: a value under a plain key, as older servers wrote, is read and stale",
          "[storage.kms]") {
  Fixture fixture;
  const auto provider = fixture.New();
  const std::string key(32, 'k');
  kms::EncryptedObject object;
  object.key_id = "key-1";
  object.encrypted_dek_source = "key-1|" + key;
  object.encrypted_data = *(*value::NewAesGcm(key))->TransformToStorage(kText, kPath);

  const auto read = provider.transformer->TransformFromStorage(kms::Encode(object), kPath);

  REQUIRE(read.ok());
  CHECK(read->bytes == kText);
  CHECK(read->stale);
}

TEST_CASE("storage.kms: polling ends with the provider", "[storage.kms]") {
  Fixture fixture;
  { const auto provider = fixture.New(); }

  fixture.Advance(minutes(5));

  CHECK(fixture.plugin->Lock()->statuses == 1);
}

TEST_CASE("storage.kms: endpoints are unix sockets", "[storage.kms]") {
  CHECK(*kms::TargetOf("unix:///run/kms.sock") == "unix:/run/kms.sock");
  CHECK(*kms::TargetOf("unix:///@name") == "unix-abstract:name");
  CHECK(kms::TargetOf("unix://name").status().message() ==
        "invalid endpoint \"unix://name\" for remote KMS provider");
  CHECK_FALSE(kms::TargetOf("http:///run/kms.sock").ok());
  CHECK_FALSE(kms::TargetOf("unix:relative").ok());
}

}  // namespace
}  // namespace apiserver::inline v0
