// The HTTP/2 client: frames, header blocks and resets, from whatever a server may answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "http_client_feed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > 1) bytes[1] = static_cast<char>(bytes[1] & ~1);  // HTTP/2 has no upgrade.
  apiserver_fuzz::FeedClient(apiserver::http::NewHttp2Client,
                             reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 0;
}
