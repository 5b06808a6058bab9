#include "apiserver/authn/x509.h"

#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "authn/identity_cache.h"
#include "base/status_macros.h"

namespace apiserver::inline v0::authn {
namespace {

using auth::AuthenticateResponse;
using auth::UserInfo;
using http::PeerCertificates;

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
void FreeStack(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }

using CertificatePtr = std::unique_ptr<X509, Free<X509_free>>;
using StorePtr = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;
using StackPtr = std::unique_ptr<STACK_OF(X509), Free<FreeStack>>;
using BioPtr = std::unique_ptr<BIO, Free<BIO_free>>;

constexpr std::string_view kUidOid = "1.3.6.1.4.1.57683.2";
// How long a refusal is remembered: the certificate may become valid while the connection lives.
constexpr std::chrono::seconds kRefusalTime(10);

Status Refused(const std::string& why) {
  return Status(Reason::kUnauthorized, "verifying certificate failed: " + why);
}

CertificatePtr Decode(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  CertificatePtr certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
  ERR_clear_error();
  return certificate;
}

Result<StorePtr> ReadAuthorities(const std::string& pem) {
  StorePtr store(X509_STORE_new());
  if (pem.size() > INT_MAX) return Status(Reason::kInvalid, "the client CA bundle is too large");
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::size_t count = 0;
  while (
      const CertificatePtr certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    X509_STORE_add_cert(store.get(), certificate.get());
    ++count;
  }
  const bool complete = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (count == 0) return Status(Reason::kInvalid, "the client CA bundle holds no certificate");
  if (!complete) {
    return Status(Reason::kInvalid, "the client CA bundle holds a certificate that is malformed");
  }
  return store;
}

std::string TextOf(const X509_NAME_ENTRY* entry) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
  if (size < 0) return "";
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  return text;
}

bool IsUid(const ASN1_OBJECT* type) {
  std::array<char, 64> oid{};
  const int size = OBJ_obj2txt(oid.data(), static_cast<int>(oid.size()), type, 1);
  return size > 0 && std::string_view(oid.data()) == kUidOid;
}

std::string CredentialId(const std::string& der) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(der.data()), der.size(), digest.data());
  std::string id = "X509SHA256=";
  for (const unsigned char byte : digest) {
    id += kHex[byte >> 4];
    id += kHex[byte & 0xF];
  }
  return id;
}

// nullopt: the certificate names nobody.
Result<std::optional<AuthenticateResponse>> UserOf(X509* certificate, const std::string& der) {
  UserInfo user;
  std::vector<std::string> uids;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
    const ASN1_OBJECT* type = X509_NAME_ENTRY_get_object(entry);
    const int nid = OBJ_obj2nid(type);
    if (nid == NID_commonName) {
      user.name = TextOf(entry);  // The last one counts, as in Go.
    } else if (nid == NID_organizationName) {
      user.groups.push_back(TextOf(entry));
    } else if (IsUid(type)) {
      uids.push_back(TextOf(entry));
    }
  }
  if (user.name.empty()) return std::optional<AuthenticateResponse>();
  if (uids.size() > 1) {
    return Status(Reason::kUnauthorized, "expected 1 UID, but found multiple");
  }
  if (!uids.empty() && uids.front().empty()) {
    return Status(Reason::kUnauthorized, "UID cannot be an empty string");
  }
  if (!uids.empty()) user.uid = uids.front();
  user.extra[std::string(auth::kCredentialIDKey)] = {CredentialId(der)};
  return std::optional(AuthenticateResponse{std::make_shared<const UserInfo>(std::move(user))});
}

// As Go: every certificate of the chain that restricts its use must allow clients. OpenSSL's own
// purpose check also looks at key usage, and does not know anyExtendedKeyUsage.
bool AllowsClients(STACK_OF(X509) * chain) {
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const std::uint32_t usage = X509_get_extended_key_usage(sk_X509_value(chain, i));
    if (usage == UINT32_MAX) continue;  // No restriction.
    if ((usage & (XKU_SSL_CLIENT | XKU_ANYEKU)) == 0) return false;
  }
  return true;
}

Clock::Wall ToWall(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return Clock::Wall::min();
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

// When the first certificate of the chain ends.
Clock::Wall EndOf(STACK_OF(X509) * chain) {
  Clock::Wall end = Clock::Wall::max();
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    end = std::min(end, ToWall(X509_get0_notAfter(sk_X509_value(chain, i))));
  }
  return end;
}

struct Finding {
  Result<std::optional<AuthenticateResponse>> result;
  Clock::Wall until;
};

class X509Authenticator final : public auth::Authenticator {
 public:
  X509Authenticator(const X509Options& options, StorePtr authorities)
      : clock_(*options.clock),
        authorities_(std::move(authorities)),
        findings_(options.connections_max) {}

  Result<std::optional<AuthenticateResponse>> Authenticate(
      const Context&, const http::Request& request) const override {
    if (request.peer == nullptr || request.peer->der.empty()) {
      return std::optional<AuthenticateResponse>();
    }
    const Clock::Wall now = clock_.WallNow();
    if (const auto found = findings_.Find(request.peer); found && now < found->until) {
      return found->result;
    }
    Finding finding = Verify(*request.peer, now);
    findings_.Store(request.peer, finding);
    return std::move(finding.result);
  }

 private:
  Finding Verify(const PeerCertificates& peer, Clock::Wall now) const {
    Clock::Wall until = now + kRefusalTime;
    auto result = VerifyChain(peer, now, until);
    return {std::move(result), until};
  }

  // Sets `until` on success.
  Result<std::optional<AuthenticateResponse>> VerifyChain(const PeerCertificates& peer,
                                                          Clock::Wall now,
                                                          Clock::Wall& until) const {
    const CertificatePtr leaf = Decode(peer.der.front());
    if (leaf == nullptr) return Refused("it is malformed");
    const StackPtr intermediates(sk_X509_new_null());
    for (std::size_t i = 1; i < peer.der.size(); ++i) {
      CertificatePtr certificate = Decode(peer.der[i]);
      if (certificate != nullptr) sk_X509_push(intermediates.get(), certificate.release());
    }
    const StoreContextPtr context(X509_STORE_CTX_new());
    X509_STORE_CTX_init(context.get(), authorities_.get(), leaf.get(), intermediates.get());
    X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(context.get());
    // As Go: whatever stands in the bundle is trusted, be it a root or not.
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
    X509_VERIFY_PARAM_set_time(param, std::chrono::system_clock::to_time_t(now));
    const bool verified = X509_verify_cert(context.get()) == 1;
    ERR_clear_error();
    if (!verified) {
      return Refused(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get())));
    }
    STACK_OF(X509)* const chain = X509_STORE_CTX_get0_chain(context.get());
    if (!AllowsClients(chain)) return Refused("it must not be used by clients");
    ASSIGN_OR_RETURN(auto response, UserOf(leaf.get(), peer.der.front()));
    until = EndOf(chain);
    return response;
  }

  const Clock& clock_;
  const StorePtr authorities_;  // OpenSSL locks it where it must.
  mutable IdentityCache<PeerCertificates, Finding> findings_;
};

}  // namespace

Result<std::unique_ptr<auth::Authenticator>> NewX509(const X509Options& options) {
  ASSIGN_OR_RETURN(StorePtr authorities, ReadAuthorities(options.ca_pem));
  return std::make_unique<X509Authenticator>(options, std::move(authorities));
}

}  // namespace apiserver::inline v0::authn
