// The HTTP/2 session: frames, header blocks, flow control, from whatever a peer may send after the
// connection preface, which is put in front so that the fuzzer need not find it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "http_feed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(1, static_cast<char>(data[0]));
  bytes += "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  bytes.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)apiserver_fuzz::Feed(apiserver::http::NewHttp2Server,
                             reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 0;
}
