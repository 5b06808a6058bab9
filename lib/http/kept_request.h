#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/http/message.h"

namespace apiserver::inline v0::http {

// The head of a request, with its query once that is parsed.
struct Asked {
  Request request;
  Query query;
};

// The head of the request of one exchange. While a stream is sent nobody may look at it for hours,
// with thousands beside it: it can be packed, and is whole again when it is asked for. Used by one
// thread at a time.
class KeptRequest {
 public:
  // Parses the query.
  explicit KeptRequest(std::unique_ptr<Asked> asked);

  Request& request() const { return Whole().request; }
  const Query& query() const { return Whole().query; }
  // Ends all references into the request and the query, but not views of the path's text. Does
  // nothing if that text is so short that it would move.
  void Pack();
  bool packed() const { return packed_ != nullptr; }

 private:
  struct Packed {
    std::string path;               // Not copied.
    std::unique_ptr<char[]> texts;  // All others, each behind its length.
    std::shared_ptr<const PeerCertificates> peer;
    std::uint32_t headers;
    std::int32_t query_in_target;  // The length of the query at the target's end; -1: not there.
    int http_major;
    bool tls;
    bool path_begins_target;
  };

  Asked& Whole() const {
    if (packed_) Unpack();
    return *asked_;
  }
  void Unpack() const;

  // One of them is null.
  mutable std::unique_ptr<Asked> asked_;
  mutable std::unique_ptr<Packed> packed_;
};

}  // namespace apiserver::inline v0::http
