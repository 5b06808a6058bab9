#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/headers.h"

// Header blocks of SPDY/3: names and values with their lengths, compressed in one stream of zlib a
// direction for the life of a session. A block that is lost or broken ends the session.
namespace apiserver::inline v0::proxy {

// Limits of a header block that a peer sends. Upstream allows a thousand headers of a MiB each.
struct SpdyHeaderLimits {
  std::size_t block_bytes = std::size_t{64} << 10;  // Decompressed.
  std::size_t headers = 100;
};

// Compresses the blocks of one direction. Used by one thread at a time.
class SpdyHeaderCompressor {
 public:
  SpdyHeaderCompressor();
  ~SpdyHeaderCompressor();
  // Appends the compressed block to `out`. Names are sent in lower case, the values of one name as
  // one, with NUL between them. False: there was no memory.
  bool Append(const http::Headers& headers, std::string& out);

 private:
  struct Deflater;
  std::unique_ptr<Deflater> deflater_;
};

// Decompresses the blocks of one direction. Used by one thread at a time.
class SpdyHeaderDecompressor {
 public:
  explicit SpdyHeaderDecompressor(SpdyHeaderLimits limits);
  ~SpdyHeaderDecompressor();
  // Returns the headers of one whole block, a field for each value. kInvalid: it is no zlib, is too
  // large, is cut, has a name twice, in upper case, or one of those that HTTP keeps for a
  // connection.
  Result<http::Headers> Read(std::string_view block);

 private:
  struct Inflater;
  Result<std::string> Inflate(std::string_view block);

  const SpdyHeaderLimits limits_;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace apiserver::inline v0::proxy
