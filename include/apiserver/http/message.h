#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/http/headers.h"

namespace apiserver::inline v0::http {

// The client certificates of a TLS handshake, requested but not verified: authn does that. Shared
// by all requests of a connection.
struct PeerCertificates {
  std::vector<std::string> der;  // The chain, leaf first.
};

// A request's head. Immutable once the Exchange exists, except for headers that filters strip.
struct Request {
  std::string method;  // "GET".
  std::string target;  // The target as it was sent: "/apis/x?watch=1".
  std::string path;    // Percent-decoded, without the query: "/apis/x".
  std::string query;   // Raw, without '?'.
  Headers headers;     // HTTP/2 pseudo headers are not in here; :authority is `host`.
  std::string host;
  std::string remote_address;  // "127.0.0.1:40000"; empty in process.
  int http_major = 1;          // 1 or 2.
  bool tls = false;
  std::shared_ptr<const PeerCertificates> peer;  // Null: none was sent.

  // Returns whether this is HTTP/1.1 with Connection: Upgrade and an Upgrade header.
  bool IsUpgrade() const;
};

// A response's head. A server's transport writes Content-Length, Date, Transfer-Encoding and
// Connection itself; a client is told them as they came.
struct ResponseHead {
  int code = 200;
  Headers headers = {};
  // Closes the connection after the answer: HTTP/1.1 with "Connection: close", HTTP/2 with a
  // graceful GOAWAY.
  bool close_connection = false;
  // Sends the headers of ResponseWriter::Upgrade exactly as they are, in their order and case.
  // Nothing is added, neither by the transport nor by filters.
  bool verbatim = false;
  // The text behind the code in HTTP/1.1's status line, as a server has sent it or is to send it;
  // HTTP/2 has none. Empty: a server sends the usual one, "OK". Line ends in it are sent as spaces.
  std::string reason_phrase = {};
};

// The bytes of an answer, as pieces in order that are shared and not copied.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::string owned);                              // NOLINT: implicit
  Bytes(const char* text) : Bytes(std::string(text)) {}  // NOLINT: implicit
  // A piece of memory that `owner` keeps alive.
  Bytes(std::shared_ptr<const void> owner, std::string_view piece);

  void Append(std::string owned);  // Appends a piece as the constructors take it, unless empty.
  void Append(std::shared_ptr<const void> owner, std::string_view piece);

  std::size_t size() const { return size_; }
  // Returns how many of the bytes were handed over and are shared with no other object.
  std::size_t own_bytes() const { return own_bytes_; }
  // One piece, with the owner that keeps its text alive.
  struct Piece {
    std::shared_ptr<const void> owner;
    std::string_view text;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  // Returns all pieces and leaves the object empty.
  std::vector<Piece> TakePieces() {
    size_ = own_bytes_ = 0;
    return std::move(pieces_);
  }
  // Returns a copy of all pieces as one text.
  std::string ToString() const;

 private:
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
  std::size_t own_bytes_ = 0;
};

// Query parameters, decoded, in order. A key may repeat. Follows Go's url.ParseQuery.
class Query {
 public:
  static Query Parse(std::string_view raw);  // Drops pairs that are malformed, or have a ';'.
  // Returns the first value of `key`. Empty: it is absent, or its value is empty.
  std::string_view Get(std::string_view key) const;
  bool Has(std::string_view key) const;
  std::vector<std::string_view> GetAll(std::string_view key) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Decodes percent-encoding. nullopt: it is malformed. `plus_is_space` is for query strings.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);
// Encodes everything but RFC 3986's unreserved characters.
std::string PercentEncode(std::string_view text);

}  // namespace apiserver::inline v0::http
