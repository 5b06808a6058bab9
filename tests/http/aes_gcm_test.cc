// AES-GCM by libipsec-mb, called as only a mistake would call it, and as TLS 1.2 does.
#include "http/aes_gcm.h"

#include <catch2/catch.hpp>
#include <string>

namespace http_test {
namespace {

using apiserver::http::AesGcm;
using apiserver::http::FindIpsecMb;

const unsigned char* GcmBytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* GcmBytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// On other CPUs there is nothing to test.
bool HasAesGcm() {
  if (FindIpsecMb() == nullptr) WARN("this CPU has no VAES: OpenSSL's own AES-GCM is used");
  return FindIpsecMb() != nullptr;
}

struct DirectGcm {
  DirectGcm() { REQUIRE(cipher.Init(true, GcmBytes(key), 16, GcmBytes(nonce), 12)); }
  bool Update(std::string& text) {
    return cipher.Update(GcmBytes(text), &written, text.size(), GcmBytes(text), text.size());
  }

  std::string key = std::string(16, 'k'), nonce = std::string(12, 'n');
  AesGcm cipher{FindIpsecMb()->aes128, 16};
  std::size_t written = 0;
};

TEST_CASE("http: AES-GCM takes a nonce once, and no key or nonce of another size", "[http]") {
  if (!HasAesGcm()) return;
  DirectGcm direct;
  std::string text(40, 't');
  AesGcm without_key(FindIpsecMb()->aes128, 16);

  REQUIRE(direct.Update(text));
  REQUIRE(direct.cipher.Final());
  CHECK_FALSE(direct.Update(text));
  CHECK_FALSE(direct.cipher.Final());
  CHECK_FALSE(direct.cipher.Init(true, GcmBytes(text), 32, nullptr, 0));
  CHECK_FALSE(direct.cipher.Init(true, nullptr, 0, GcmBytes(text), 16));
  CHECK(direct.cipher.Init(true, nullptr, 0, GcmBytes(text), 12));
  CHECK(direct.Update(text));
  REQUIRE(without_key.Init(true, nullptr, 0, GcmBytes(text), 12));
  CHECK_FALSE(without_key.Final());
}

TEST_CASE("http: AES-GCM refuses calls in a wrong order or of wrong sizes", "[http]") {
  if (!HasAesGcm()) return;
  DirectGcm direct;
  std::string text(40, 't');
  AesGcm& cipher = direct.cipher;

  CHECK(cipher.tag() == nullptr);
  CHECK_FALSE(cipher.SetTag(GcmBytes(text), 16));
  CHECK_FALSE(cipher.Update(nullptr, &direct.written, 0, GcmBytes(text), 14));
  CHECK_FALSE(cipher.Update(GcmBytes(text), &direct.written, 39, GcmBytes(text), 40));
  REQUIRE(direct.Update(text));
  CHECK_FALSE(cipher.Update(nullptr, &direct.written, 0, GcmBytes(text), 4));
  REQUIRE(cipher.Init(false, nullptr, 0, GcmBytes(text), 12));
  CHECK_FALSE(cipher.SetTag(GcmBytes(text), 12));
  CHECK_FALSE(cipher.Final());
}

// A head of TLS 1.2 for a record of `size` bytes, nonce and tag included.
std::string HeadFor(std::size_t size) {
  return "sequence\x17\x03\x03" +
         std::string{static_cast<char>(size >> 8U), static_cast<char>(size)};
}

TEST_CASE("http: AES-GCM of TLS 1.2 sends other nonces, and what was changed is wiped", "[http]") {
  if (!HasAesGcm()) return;
  DirectGcm sender, receiver;
  const std::string head = HeadFor(40 + 8);
  const std::string received_head = HeadFor(40 + 8 + 16);
  REQUIRE(sender.cipher.SetFixedNonce(GcmBytes(sender.nonce), 4));
  REQUIRE(receiver.cipher.Init(false, nullptr, 0, nullptr, 0));
  REQUIRE(receiver.cipher.SetFixedNonce(GcmBytes(sender.nonce), 4));

  std::string first(64, 't'), second(64, 't');
  REQUIRE(sender.cipher.SetRecordHead(GcmBytes(head), 13));
  REQUIRE(sender.Update(first));
  CHECK(sender.written == 64);
  REQUIRE(sender.cipher.SetRecordHead(GcmBytes(head), 13));
  REQUIRE(sender.Update(second));
  CHECK(first.substr(0, 8) != second.substr(0, 8));

  REQUIRE(receiver.cipher.SetRecordHead(GcmBytes(received_head), 13));
  REQUIRE(receiver.Update(first));
  CHECK(receiver.written == 40);
  CHECK(first.substr(8, 40) == std::string(40, 't'));
  second[20] ^= 1;
  REQUIRE(receiver.cipher.SetRecordHead(GcmBytes(received_head), 13));
  CHECK_FALSE(receiver.Update(second));
  CHECK(receiver.written == 0);
  CHECK(second.substr(8, 40) == std::string(40, '\0'));
}

TEST_CASE("http: AES-GCM refuses records of TLS 1.2 that are too short", "[http]") {
  if (!HasAesGcm()) return;
  DirectGcm direct;
  std::string text(23, 't'), elsewhere(40, 'e');
  AesGcm& cipher = direct.cipher;

  CHECK_FALSE(cipher.SetFixedNonce(GcmBytes(text), 8));
  CHECK_FALSE(cipher.SetRecordHead(GcmBytes(HeadFor(24)), 13));
  REQUIRE(cipher.SetFixedNonce(GcmBytes(text), 4));
  CHECK_FALSE(cipher.SetRecordHead(GcmBytes(text), 12));
  CHECK_FALSE(cipher.SetRecordHead(GcmBytes(HeadFor(7)), 13));
  REQUIRE(cipher.SetRecordHead(GcmBytes(HeadFor(8)), 13));
  CHECK_FALSE(direct.Update(text));
  REQUIRE(cipher.SetRecordHead(GcmBytes(HeadFor(24)), 13));
  CHECK_FALSE(cipher.Update(GcmBytes(elsewhere), &direct.written, 40, GcmBytes(text), 23));
  REQUIRE(cipher.Init(false, nullptr, 0, nullptr, 0));
  CHECK_FALSE(cipher.SetRecordHead(GcmBytes(HeadFor(23)), 13));
}

}  // namespace
}  // namespace http_test
