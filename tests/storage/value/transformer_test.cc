#include "apiserver/storage/value/transformer.h"

#include <catch2/catch.hpp>

#include "storage/value/golden.h"

namespace apiserver::inline v0 {
namespace {

using storage::value::Prefixed;
using storage::value::TransformerPtr;
using testing::KeyOf;
using testing::kPath;
using testing::kText;
namespace value = storage::value;

struct Provider {
  std::string golden;
  std::string prefix;
  TransformerPtr transformer;
  TransformerPtr other_key;
  bool authenticates_value;
  bool authenticates_path;
};

TransformerPtr Made(Result<TransformerPtr> made) {
  REQUIRE(made.ok());
  return *made;
}

std::vector<Provider> Providers() {
  const std::string wrong = "wrong key wrong key wrong key 12";
  std::vector<Provider> all;
  for (const std::size_t bytes : {16, 24, 32}) {
    const std::string bits = std::to_string(bytes * 8);
    const std::string key = "key" + std::to_string(bytes) + ":";
    all.push_back({"aescbc-" + bits, "k8s:enc:aescbc:v1:" + key,
                   Made(value::NewAesCbc(KeyOf(bytes))),
                   Made(value::NewAesCbc(wrong.substr(0, bytes))), false, false});
    all.push_back({"aesgcm-" + bits, "k8s:enc:aesgcm:v1:" + key,
                   Made(value::NewAesGcm(KeyOf(bytes))),
                   Made(value::NewAesGcm(wrong.substr(0, bytes))), true, true});
  }
  all.push_back({"secretbox", "k8s:enc:secretbox:v1:key32:", Made(value::NewSecretbox(KeyOf(32))),
                 Made(value::NewSecretbox(wrong)), true, false});
  all.push_back({"extended-nonce", "xnonce:", Made(value::NewExtendedNonceGcm(KeyOf(32))),
                 Made(value::NewExtendedNonceGcm(wrong)), true, true});
  return all;
}

std::string MessageOf(const Result<value::FromStorage>& read) {
  return read.ok() ? "read: " + read->bytes : std::string(read.status().message());
}

TEST_CASE("storage.value: what a Go server has written is read", "[storage.value]") {
  const auto golden = testing::GoldenValues();
  for (const Provider& provider : Providers()) {
    INFO(provider.golden);
    const std::string& stored = golden.at(provider.golden);
    REQUIRE(stored.starts_with(provider.prefix));

    const auto read =
        provider.transformer->TransformFromStorage(stored.substr(provider.prefix.size()), kPath);

    REQUIRE(read.ok());
    CHECK(read->bytes == kText);
    CHECK_FALSE(read->stale);
  }
}

TEST_CASE("storage.value: what was written is read again, whatever its length", "[storage.value]") {
  for (const Provider& provider : Providers()) {
    for (const std::size_t bytes : {0, 1, 15, 16, 17, 31, 32, 33, 100'000}) {
      INFO(provider.golden << " " << bytes);
      const std::string plain(bytes, 'x');
      const auto stored = provider.transformer->TransformToStorage(plain, kPath);
      REQUIRE(stored.ok());

      const auto read = provider.transformer->TransformFromStorage(*stored, kPath);

      REQUIRE(read.ok());
      CHECK(read->bytes == plain);
    }
  }
}

TEST_CASE("storage.value: the same value is never stored in the same bytes", "[storage.value]") {
  for (const Provider& provider : Providers()) {
    INFO(provider.golden);
    const auto first = provider.transformer->TransformToStorage(kText, kPath);
    const auto second = provider.transformer->TransformToStorage(kText, kPath);

    REQUIRE((first.ok() && second.ok()));
    CHECK(*first != *second);
    CHECK(first->find("Flunder") == std::string::npos);
  }
}

TEST_CASE("storage.value: no changed byte of an authenticated value is accepted",
          "[storage.value]") {
  for (const Provider& provider : Providers()) {
    if (!provider.authenticates_value) continue;
    INFO(provider.golden);
    const auto stored = provider.transformer->TransformToStorage(kText, kPath);
    REQUIRE(stored.ok());
    for (std::size_t i = 0; i < stored->size(); ++i) {
      std::string tampered = *stored;
      tampered[i] = static_cast<char>(tampered[i] ^ 1);
      REQUIRE_FALSE(provider.transformer->TransformFromStorage(tampered, kPath).ok());
    }
  }
}

TEST_CASE("storage.value: a value under another key does not become this one", "[storage.value]") {
  for (const Provider& provider : Providers()) {
    INFO(provider.golden);
    const auto stored = provider.transformer->TransformToStorage(kText, kPath);
    REQUIRE(stored.ok());

    const auto read = provider.other_key->TransformFromStorage(*stored, kPath);

    // CBC may by chance find a padding; it cannot find the text.
    CHECK((!read.ok() || (!provider.authenticates_value && read->bytes != kText)));
  }
}

TEST_CASE("storage.value: a value that was moved to another key is refused by AES-GCM only",
          "[storage.value]") {
  for (const Provider& provider : Providers()) {
    INFO(provider.golden);
    const auto stored = provider.transformer->TransformToStorage(kText, kPath);
    REQUIRE(stored.ok());

    const auto read = provider.transformer->TransformFromStorage(*stored, "/registry/other");

    CHECK(read.ok() != provider.authenticates_path);
    if (!read.ok()) CHECK(read.status().message() == "cipher: message authentication failed");
  }
}

TEST_CASE("storage.value: every cut of a stored value is refused", "[storage.value]") {
  for (const Provider& provider : Providers()) {
    if (!provider.authenticates_value) continue;
    INFO(provider.golden);
    const auto stored = provider.transformer->TransformToStorage(kText, kPath);
    REQUIRE(stored.ok());
    for (std::size_t bytes = 0; bytes < stored->size(); ++bytes) {
      REQUIRE_FALSE(
          provider.transformer->TransformFromStorage(stored->substr(0, bytes), kPath).ok());
    }
    CHECK(MessageOf(provider.transformer->TransformFromStorage("short", kPath)) ==
          "the stored data was shorter than the required size");
  }
}

TEST_CASE("storage.value: AES-CBC says in Go's words what is wrong with a value",
          "[storage.value]") {
  const TransformerPtr cbc = Made(value::NewAesCbc(KeyOf(32)));
  const std::string stored = *cbc->TransformToStorage(std::string(32, 'x'), kPath);

  CHECK(MessageOf(cbc->TransformFromStorage(stored.substr(0, 15), kPath)) ==
        "the stored data was shorter than the required size");
  CHECK(MessageOf(cbc->TransformFromStorage(stored.substr(0, 16), kPath)) ==
        "invalid PKCS7 data (empty or not padded)");
  CHECK(MessageOf(cbc->TransformFromStorage(stored.substr(0, 40), kPath)) ==
        "the stored data is not a multiple of the block size");
  // 'x' is 120, more than there is.
  CHECK(MessageOf(cbc->TransformFromStorage(stored.substr(0, 48), kPath)) ==
        "invalid PKCS7 data (empty or not padded)");
  // The last byte of a block is what it was, changed as the block before it is.
  std::string odd = stored.substr(0, 48);
  odd[31] = static_cast<char>(odd[31] ^ 'x' ^ 2);
  CHECK(MessageOf(cbc->TransformFromStorage(odd, kPath)) == "invalid padding on input");
}

TEST_CASE("storage.value: keys of another size are refused", "[storage.value]") {
  CHECK(value::NewAesCbc("short").status().message() == "crypto/aes: invalid key size 5");
  CHECK(value::NewAesGcm(KeyOf(33)).status().reason() == Reason::kInvalid);
  CHECK(value::NewSecretbox(KeyOf(31)).status().message() ==
        "expected key size 32 for secretbox provider, got 31");
  CHECK(value::NewExtendedNonceGcm(KeyOf(31)).status().message() ==
        "invalid seed length 31 used for key generation");
}

TEST_CASE("storage.value: the identity refuses what looks encrypted", "[storage.value]") {
  const TransformerPtr identity = value::NewIdentity();

  CHECK(identity->TransformFromStorage("k8s:enc", kPath)->bytes == "k8s:enc");
  CHECK(MessageOf(identity->TransformFromStorage("k8s:enc:aescbc:v1:a:", kPath)) ==
        "identity transformer tried to read encrypted data");
  CHECK(*identity->TransformToStorage(kText, kPath) == kText);
}

TransformerPtr Keyed(std::vector<std::string> names) {
  std::vector<Prefixed> keys;
  for (const std::string& name : names) {
    keys.push_back({name + ":", Made(value::NewAesGcm(std::string(32, name.back())))});
  }
  return value::NewPrefixTransformers("no matching key", std::move(keys));
}

TEST_CASE("storage.value: the first of several writes, all read, the others' is stale",
          "[storage.value]") {
  const TransformerPtr old = Keyed({"a"});
  const TransformerPtr now = Keyed({"b", "a"});
  const std::string by_a = *old->TransformToStorage(kText, kPath);
  const std::string by_b = *now->TransformToStorage(kText, kPath);

  CHECK(by_a.starts_with("a:"));
  CHECK(by_b.starts_with("b:"));
  CHECK(now->TransformFromStorage(by_a, kPath)->bytes == kText);
  CHECK(now->TransformFromStorage(by_a, kPath)->stale);
  CHECK_FALSE(now->TransformFromStorage(by_b, kPath)->stale);
  CHECK(MessageOf(old->TransformFromStorage(by_b, kPath)) == "no matching key");
}

TEST_CASE("storage.value: a key's name that begins with another's is not taken for it",
          "[storage.value]") {
  const TransformerPtr both = Keyed({"k", "kk"});
  const std::string by_second = *Keyed({"kk"})->TransformToStorage(kText, kPath);

  CHECK(both->TransformFromStorage(by_second, kPath)->bytes == kText);
}

TEST_CASE("storage.value: of several with one prefix each is tried", "[storage.value]") {
  const auto gcm = [](char c) { return Made(value::NewAesGcm(std::string(32, c))); };
  const TransformerPtr two =
      value::NewPrefixTransformers("none", {{"p:", gcm('1')}, {"p:", gcm('2')}});
  const std::string by_second = "p:" + *gcm('2')->TransformToStorage(kText, kPath);

  CHECK(two->TransformFromStorage(by_second, kPath)->bytes == kText);
  CHECK(two->TransformFromStorage(by_second, kPath)->stale);
  CHECK(MessageOf(two->TransformFromStorage("p:" + std::string(40, 'x'), kPath)) ==
        "cipher: message authentication failed");
}

TEST_CASE("storage.value: an identity that stands first leaves encrypted values to the others",
          "[storage.value]") {
  const TransformerPtr gcm = Made(value::NewAesGcm(KeyOf(32)));
  const TransformerPtr all = value::NewPrefixTransformers(
      "no matching prefix found", {{"", value::NewIdentity()}, {"k8s:enc:aesgcm:v1:", gcm}});
  const std::string stored = "k8s:enc:aesgcm:v1:" + *gcm->TransformToStorage(kText, kPath);

  CHECK(all->TransformFromStorage(stored, kPath)->bytes == kText);
  CHECK(all->TransformFromStorage(stored, kPath)->stale);
  CHECK(*all->TransformToStorage(kText, kPath) == kText);
  CHECK(MessageOf(all->TransformFromStorage("k8s:enc:aescbc:v1:a:b", kPath)) ==
        "no matching prefix found");
}

}  // namespace
}  // namespace apiserver::inline v0
