#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/http/headers.h"

namespace apiserver::inline v0::http {

// A client certificate as it came in the TLS handshake: requested, not verified (authn does that).
// Chain in DER, leaf first. Shared by all requests of a connection.
struct PeerCertificates {
  std::vector<std::string> der;
};

// A request's head. Immutable once the Exchange exists, but for headers that filters strip.
struct Request {
  std::string method;  // "GET".
  std::string target;  // As sent: "/apis/x?watch=1".
  std::string path;    // Percent-decoded, without the query: "/apis/x".
  std::string query;   // Raw, without '?'.
  Headers headers;     // HTTP/2 pseudo headers are not in here; :authority is `host`.
  std::string host;
  std::string remote_address;  // "127.0.0.1:40000"; empty in process.
  int http_major = 1;          // 1 or 2.
  bool tls = false;
  std::shared_ptr<const PeerCertificates> peer;  // Null: none was sent.

  bool IsUpgrade() const;  // HTTP/1.1 with Connection: Upgrade and an Upgrade header.
};

// A response's head. Content-Length, Date, Transfer-Encoding and Connection belong to the
// transport.
struct ResponseHead {
  int code = 200;
  Headers headers = {};
  // HTTP/1.1: "Connection: close" and close after the answer. HTTP/2: GOAWAY, graceful.
  bool close_connection = false;
  // For ResponseWriter::Upgrade: the headers are sent exactly as they are, in their order and case.
  // Nothing is added, neither by the transport nor by filters.
  bool verbatim = false;
};

// The bytes of an answer: pieces that are shared, not copied, in order.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::string owned);                              // NOLINT: implicit
  Bytes(const char* text) : Bytes(std::string(text)) {}  // NOLINT: implicit
  // A piece of something that `owner` keeps alive.
  Bytes(std::shared_ptr<const void> owner, std::string_view piece);

  void Append(std::string owned);
  void Append(std::shared_ptr<const void> owner, std::string_view piece);

  std::size_t size() const { return size_; }
  // Of them, those that were handed over, and are nobody else's.
  std::size_t own_bytes() const { return own_bytes_; }
  struct Piece {
    std::shared_ptr<const void> owner;
    std::string_view text;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  // Leaves it empty.
  std::vector<Piece> TakePieces() {
    size_ = own_bytes_ = 0;
    return std::move(pieces_);
  }
  std::string ToString() const;

 private:
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
  std::size_t own_bytes_ = 0;
};

// Query parameters, decoded, in order; a key may repeat. As Go's url.ParseQuery.
class Query {
 public:
  static Query Parse(std::string_view raw);
  // The first value; empty when absent.
  std::string_view Get(std::string_view key) const;
  bool Has(std::string_view key) const;
  std::vector<std::string_view> GetAll(std::string_view key) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Percent-decoding; nullopt when malformed. `plus_is_space` for query strings.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);
std::string PercentEncode(std::string_view text);

}  // namespace apiserver::inline v0::http
