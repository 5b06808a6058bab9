// The HTTP/1.1 client: heads, bodies and upgrades, from whatever a server may answer.
#include <cstddef>
#include <cstdint>

#include "http_client_feed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  apiserver_fuzz::FeedClient(apiserver::http::NewHttp1Client, data, size);
  return 0;
}
