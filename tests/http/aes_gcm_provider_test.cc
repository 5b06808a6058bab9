// AES-GCM by libipsec-mb, as OpenSSL calls it, beside OpenSSL's own.
#include "http/aes_gcm_provider.h"

#include <openssl/evp.h>
#include <openssl/provider.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "http/ipsec_mb.h"

namespace http_test {
namespace {

using apiserver::http::FindIpsecMb;
using apiserver::http::StartAesGcmProvider;

// A library context that has these ciphers only.
struct GcmLibrary {
  GcmLibrary() {
    REQUIRE(OSSL_PROVIDER_add_builtin(context, "gcm", StartAesGcmProvider) == 1);
    provider = OSSL_PROVIDER_load(context, "gcm");
    starts = provider != nullptr;
    if (!starts) WARN("this CPU has no VAES: OpenSSL's own AES-GCM is used");
    CHECK(starts == (FindIpsecMb() != nullptr));
  }
  ~GcmLibrary() {
    if (starts) OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(context);
  }
  GcmLibrary(const GcmLibrary&) = delete;
  GcmLibrary& operator=(const GcmLibrary&) = delete;

  OSSL_LIB_CTX* context = OSSL_LIB_CTX_new();
  OSSL_PROVIDER* provider = nullptr;
  bool starts = false;
};

const unsigned char* BytesOf(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* BytesOf(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

using GcmContext = std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)>;
using GcmCipher = std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)>;

GcmCipher FetchGcm(OSSL_LIB_CTX* library, std::size_t key_bytes) {
  return {EVP_CIPHER_fetch(library, key_bytes == 16 ? "AES-128-GCM" : "id-aes256-GCM", nullptr),
          EVP_CIPHER_free};
}

GcmContext NewGcmContext() { return {EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free}; }

struct Sealed {
  std::string text, tag;
  bool operator==(const Sealed&) const = default;
};

// All that is encrypted or decrypted by one call of each function.
struct GcmJob {
  std::string key = std::string(16, 'k');
  std::string nonce = "twelve bytes";
  std::string head = "head";
  std::size_t piece = SIZE_MAX;  // The most that one call takes.

  Sealed Encrypt(OSSL_LIB_CTX* library, const std::string& text) const {
    const GcmContext context = NewGcmContext();
    int size = 0;
    Sealed sealed{std::string(text.size(), '\0'), std::string(16, '\0')};
    REQUIRE(EVP_EncryptInit_ex(context.get(), FetchGcm(library, key.size()).get(), nullptr,
                               BytesOf(key), BytesOf(nonce)) == 1);
    REQUIRE(Take(context.get(), text, sealed.text));
    REQUIRE(EVP_EncryptFinal_ex(context.get(), nullptr, &size) == 1);
    REQUIRE(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, sealed.tag.data()) == 1);
    return sealed;
  }
  std::optional<std::string> Decrypt(OSSL_LIB_CTX* library, Sealed sealed) const {
    const GcmContext context = NewGcmContext();
    int size = 0;
    std::string text(sealed.text.size(), '\0');
    REQUIRE(EVP_DecryptInit_ex(context.get(), FetchGcm(library, key.size()).get(), nullptr,
                               BytesOf(key), BytesOf(nonce)) == 1);
    REQUIRE(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, 16, sealed.tag.data()) == 1);
    REQUIRE(Take(context.get(), sealed.text, text));
    if (EVP_DecryptFinal_ex(context.get(), nullptr, &size) != 1) return std::nullopt;
    return text;
  }

 private:
  bool Take(EVP_CIPHER_CTX* context, const std::string& from, std::string& to) const {
    int size = 0;
    if (!head.empty() && EVP_CipherUpdate(context, nullptr, &size, BytesOf(head),
                                          static_cast<int>(head.size())) != 1) {
      return false;
    }
    for (std::size_t at = 0; at < from.size(); at += piece) {
      const std::size_t now = std::min(piece, from.size() - at);
      if (EVP_CipherUpdate(context, BytesOf(to) + at, &size, BytesOf(from) + at,
                           static_cast<int>(now)) != 1 ||
          size != static_cast<int>(now)) {
        return false;
      }
      if (piece >= from.size()) break;
    }
    return true;
  }
};

std::string RandomText(std::mt19937& random, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Test case 3 of McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B.
TEST_CASE("http: AES-GCM has a published tag", "[http]") {
  const GcmLibrary gcm;
  if (!gcm.starts) return;
  const GcmJob job{.key = "\xfe\xff\xe9\x92\x86\x65\x73\x1c\x6d\x6a\x8f\x94\x67\x30\x83\x08",
                   .nonce = "\xca\xfe\xba\xbe\xfa\xce\xdb\xad\xde\xca\xf8\x88",
                   .head = ""};
  const std::string text =
      "\xd9\x31\x32\x25\xf8\x84\x06\xe5\xa5\x59\x09\xc5\xaf\xf5\x26\x9a"
      "\x86\xa7\xa9\x53\x15\x34\xf7\xda\x2e\x4c\x30\x3d\x8a\x31\x8a\x72"
      "\x1c\x3c\x0c\x95\x95\x68\x09\x53\x2f\xcf\x0e\x24\x49\xa6\xb5\x25"
      "\xb1\x6a\xed\xf5\xaa\x0d\xe6\x57\xba\x63\x7b\x39\x1a\xaf\xd2\x55";

  CHECK(job.Encrypt(gcm.context, text).tag ==
        "\x4d\x5c\x2a\xf3\x27\xcd\x64\xa6\x2c\xf3\x5a\xbd\x2b\xa6\xfa\xb4");
}

TEST_CASE("http: AES-GCM of all sizes says what OpenSSL's own says", "[http]") {
  const GcmLibrary gcm;
  if (!gcm.starts) return;
  std::mt19937 random(21);
  std::vector<std::size_t> sizes{1000, 4096, 16384, 16401};
  for (std::size_t size = 0; size < 600; ++size) sizes.push_back(size);

  for (const std::size_t size : sizes) {
    CAPTURE(size);
    const GcmJob job{.key = RandomText(random, size % 2 == 0 ? 16 : 32),
                     .nonce = RandomText(random, 12),
                     .head = RandomText(random, size % 14),
                     .piece = size % 3 == 0 ? SIZE_MAX : 1 + random() % (size + 1)};
    const std::string text = RandomText(random, size);
    const Sealed sealed = job.Encrypt(gcm.context, text);
    CHECK(sealed == job.Encrypt(nullptr, text));
    CHECK(job.Decrypt(gcm.context, sealed) == text);
  }
}

TEST_CASE("http: AES-GCM refuses what was changed", "[http]") {
  const GcmLibrary gcm;
  if (!gcm.starts) return;
  const GcmJob job;
  const Sealed sealed = job.Encrypt(gcm.context, std::string(100, 't'));
  GcmJob other_head = job;
  other_head.head = "Head";

  CHECK_FALSE(other_head.Decrypt(gcm.context, sealed));
  for (std::size_t bit = 0; bit < sealed.text.size() * 8; bit += 7) {
    Sealed changed = sealed;
    changed.text[bit / 8] = static_cast<char>(changed.text[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(job.Decrypt(gcm.context, changed));
  }
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Sealed changed = sealed;
    changed.tag[bit / 8] = static_cast<char>(changed.tag[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(job.Decrypt(gcm.context, changed));
  }
}

}  // namespace
}  // namespace http_test
