#include "authn/client_certificates.h"

#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/free_with.h"
#include "base/status_macros.h"
#include "http/asn1_time.h"
#include "text/hex.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using auth::UserInfo;
using http::PeerCertificates;

// X509_free for each element: sk_X509_free alone would leak the certificates.
void FreeStack(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }

using CertificatePtr = std::unique_ptr<X509, FreeWith<X509_free>>;
using StorePtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;
using StackPtr = std::unique_ptr<STACK_OF(X509), FreeWith<FreeStack>>;
using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free>>;

// The attribute of a subject that holds a uid; registered for Kubernetes, as in Go's request/x509.
constexpr std::string_view kUidOid = "1.3.6.1.4.1.57683.2";
// How long a refusal is kept: the certificate may become valid while the connection lives.
constexpr std::chrono::seconds kRefusalTime(10);

Status NotVerified(const std::string& why) {
  return Status(Reason::kUnauthorized, "verifying certificate failed: " + why);
}

// Returns null for bytes that are no certificate.
CertificatePtr Decode(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  CertificatePtr certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
  ERR_clear_error();
  return certificate;
}

// Refuses a bundle with a malformed block as a whole: its other authorities alone may be too few.
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

// Returns nullopt if it is no text.
std::optional<std::string> TextOf(const X509_NAME_ENTRY* entry) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
  ERR_clear_error();
  if (size < 0) return std::nullopt;
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  return text;
}

// The attribute has no NID in OpenSSL, so it is compared by its dotted form.
bool IsUid(const ASN1_OBJECT* type) {
  std::array<char, 64> oid{};
  const int size = OBJ_obj2txt(oid.data(), static_cast<int>(oid.size()), type, 1);
  return size > 0 && std::string_view(oid.data()) == kUidOid;
}

// The value of authentication.kubernetes.io/credential-id, as Go's CommonNameUserConversion sets
// it.
std::string CredentialId(const std::string& der) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(der.data()), der.size(), digest.data());
  std::string id = "X509SHA256=";
  text::AppendHex(digest, id);
  return id;
}

// The attributes of a subject that are used; values that are no text are skipped, as in Go.
struct Subject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::optional<std::string>> uids;
};

Subject ReadSubject(X509* certificate) {
  Subject subject;
  const X509_NAME* name = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const ASN1_OBJECT* type = X509_NAME_ENTRY_get_object(entry);
    const int nid = OBJ_obj2nid(type);
    if (nid == NID_commonName) {
      if (auto text = TextOf(entry)) subject.common_name = *std::move(text);
    } else if (nid == NID_organizationName) {
      if (auto text = TextOf(entry)) subject.organizations.push_back(*std::move(text));
    } else if (IsUid(type)) {
      subject.uids.push_back(TextOf(entry));
    }
  }
  return subject;
}

// A certificate without a uid is accepted, one with a malformed uid is refused.
Result<std::string> UidOf(const Subject& subject) {
  if (subject.uids.empty()) return std::string();
  for (const auto& uid : subject.uids) {
    if (!uid) return Status(Reason::kUnauthorized, "unable to parse UID into a string");
  }
  if (subject.uids.size() > 1) {
    return Status(Reason::kUnauthorized, "expected 1 UID, but found multiple");
  }
  if (subject.uids.front()->empty()) {
    return Status(Reason::kUnauthorized, "UID cannot be an empty string");
  }
  return *subject.uids.front();
}

// nullopt: the certificate has no user.
Result<std::optional<AuthenticateResponse>> UserOf(const Subject& subject, const std::string& der) {
  if (subject.common_name.empty()) return std::optional<AuthenticateResponse>();
  ASSIGN_OR_RETURN(std::string uid, UidOf(subject));
  UserInfo user{.name = subject.common_name, .uid = std::move(uid)};
  user.groups = subject.organizations;
  user.extra[std::string(auth::kCredentialIDKey)] = {CredentialId(der)};
  return std::optional(AuthenticateResponse{std::make_shared<const UserInfo>(std::move(user))});
}

// Checks as Go that every certificate of the chain that restricts its use allows clients. OpenSSL's
// own purpose check also looks at key usage, and does not know anyExtendedKeyUsage.
bool AllowsClients(STACK_OF(X509) * chain) {
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const std::uint32_t usage = X509_get_extended_key_usage(sk_X509_value(chain, i));
    if (usage == UINT32_MAX) continue;  // No restriction.
    if ((usage & (XKU_SSL_CLIENT | XKU_ANYEKU)) == 0) return false;
  }
  return true;
}

// Returns the earliest end of the certificates in the chain.
Clock::Wall EndOf(STACK_OF(X509) * chain) {
  Clock::Wall end = Clock::Wall::max();
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    end = std::min(end, http::WallOf(X509_get0_notAfter(sk_X509_value(chain, i))));
  }
  return end;
}

// The peer sends its own certificate first (RFC 8446 §4.4.2); the rest may help to build a chain.
StackPtr DecodeIntermediates(const PeerCertificates& peer) {
  StackPtr intermediates(sk_X509_new_null());
  for (std::size_t i = 1; i < peer.der.size(); ++i) {
    CertificatePtr certificate = Decode(peer.der[i]);
    // A malformed one is left out: the chain may be complete without it.
    if (certificate != nullptr) sk_X509_push(intermediates.get(), certificate.release());
  }
  return intermediates;
}

// Bounds the work before the first byte is parsed: the peer is not yet authenticated.
bool TooLarge(const PeerCertificates& peer) {
  return peer.der.size() > kChainCertificatesMax ||
         std::ranges::any_of(
             peer.der, [](const std::string& der) { return der.size() > kCertificateBytesMax; });
}

void Configure(X509_STORE_CTX* context, Clock::Wall now) {
  // RSA from 1024 bits, no signature by MD5 or SHA-1, as Go.
  constexpr int kSecurityLevel = 1;
  X509_VERIFY_PARAM* const param = X509_STORE_CTX_get0_param(context);
  // As Go: every certificate of the bundle is trusted, whether it is a root or not.
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_auth_level(param, kSecurityLevel);
  X509_VERIFY_PARAM_set_depth(param, static_cast<int>(kChainCertificatesMax));
  X509_VERIFY_PARAM_set_time(param, std::chrono::system_clock::to_time_t(now));
}

}  // namespace

struct Authorities {
  StorePtr store;  // OpenSSL locks it itself.
};

struct ClientCertificates::Finding {
  std::shared_ptr<const Authorities> authorities;  // The authorities that verified it.
  Result<std::shared_ptr<const ClientCertificate>> result;
  Clock::Wall until;                     // The finding holds no longer.
  Clock::Wall end = Clock::Wall::max();  // The end of the certificate; max: it cannot be read.
};

namespace {

struct Verified {
  Result<std::shared_ptr<const ClientCertificate>> result;
  Clock::Wall until;
  Clock::Wall end = Clock::Wall::max();
};

// Sets `until` on success.
Result<std::shared_ptr<const ClientCertificate>> VerifyLeaf(X509* leaf,
                                                            const PeerCertificates& peer,
                                                            const Authorities& authorities,
                                                            Clock::Wall now, Clock::Wall& until) {
  const StackPtr intermediates = DecodeIntermediates(peer);
  const StoreContextPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), authorities.store.get(), leaf, intermediates.get());
  Configure(context.get(), now);
  const bool verified = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (!verified) {
    return NotVerified(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get())));
  }
  STACK_OF(X509)* const chain = X509_STORE_CTX_get0_chain(context.get());
  if (!AllowsClients(chain)) return NotVerified("it must not be used by clients");
  until = EndOf(chain);
  const Subject subject = ReadSubject(leaf);
  return std::make_shared<const ClientCertificate>(
      ClientCertificate{subject.common_name, UserOf(subject, peer.der.front())});
}

// Sets a short `until` first, which every refusal keeps; VerifyLeaf overwrites it on success.
Verified VerifyPeer(const PeerCertificates& peer, const Authorities& authorities, Clock::Wall now) {
  Verified verified{NotVerified("it or its chain is too large"), now + kRefusalTime};
  if (TooLarge(peer)) return verified;
  const CertificatePtr leaf = Decode(peer.der.front());
  if (leaf == nullptr) {
    verified.result = NotVerified("it is malformed");
    return verified;
  }
  verified.end = http::WallOf(X509_get0_notAfter(leaf.get()));
  verified.result = VerifyLeaf(leaf.get(), peer, authorities, now, verified.until);
  return verified;
}

}  // namespace

ClientCertificates::ClientCertificates(Options options)
    : options_(std::move(options)), findings_(options_.connections_max) {
  // Reads the current bundle, so that it counts even if no request comes before it changes.
  (void)Current();
}
ClientCertificates::~ClientCertificates() = default;

std::shared_ptr<const Authorities> ClientCertificates::Current() const {
  std::shared_ptr<const std::string> pem = options_.ca->Get();
  const auto parsed = parsed_.Lock();
  // Compares pointers: a source hands out a new object for each new content.
  if (parsed->pem == pem) return parsed->authorities;
  parsed->pem = std::move(pem);
  if (parsed->pem->empty()) {
    parsed->authorities = nullptr;
    return nullptr;
  }
  // A bundle that cannot be read changes nothing: the previous one stays in use.
  Result<StorePtr> store = ReadAuthorities(*parsed->pem);
  if (store.ok()) {
    parsed->authorities = std::make_shared<const Authorities>(Authorities{*std::move(store)});
  }
  return parsed->authorities;
}

std::shared_ptr<const ClientCertificates::Finding> ClientCertificates::Find(
    const std::shared_ptr<const PeerCertificates>& peer,
    std::shared_ptr<const Authorities> authorities, Clock::Wall now) const {
  // The result depends on the bundle and on the time, so it is reused only while both still hold.
  if (auto found = findings_.Find(peer);
      found && (*found)->authorities == authorities && now < (*found)->until) {
    return *std::move(found);
  }
  Verified verified = VerifyPeer(*peer, *authorities, now);
  auto finding = std::make_shared<const Finding>(
      Finding{std::move(authorities), std::move(verified.result), verified.until, verified.end});
  findings_.Store(peer, finding);
  return finding;
}

Result<std::shared_ptr<const ClientCertificate>> ClientCertificates::Verify(
    const http::Request& request) const {
  if (request.peer == nullptr || request.peer->der.empty()) return nullptr;
  std::shared_ptr<const Authorities> authorities = Current();
  if (authorities == nullptr) return nullptr;
  const Clock::Wall now = options_.clock->CoarseWallNow();
  const auto finding = Find(request.peer, std::move(authorities), now);
  if (options_.expiration && finding->end != Clock::Wall::max()) {
    options_.expiration->Observe(std::chrono::duration<double>(finding->end - now).count());
  }
  return finding->result;
}

Status CheckBundle(const std::string& pem) { return ReadAuthorities(pem).status(); }

}  // namespace apiserver::v0::authn
