// The HTTP/1.1 byte path: heads, bodies, pipelining, from whatever a peer may send.
#include <cstddef>
#include <cstdint>

#include "http_feed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)apiserver_fuzz::Feed(apiserver::http::NewHttp1Server, data, size);
  return 0;
}
