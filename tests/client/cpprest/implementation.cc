#include "apiserver/client/cpprest/http_client.h"
#include "client/http_client/raw_server.h"

namespace http_client_test {

const Tested& Implementation() {
  static const Tested tested = {
      .factory = NewCpprestHttpClientFactory(),
      .key_mismatch = "tls: private key does not match the client certificate",
      .head =
          [](const std::string& host) {
            return "POST /x "
                   "HTTP/1.1\r\nContent-Length:2\r\nContent-Type:application/json\r\nHost:" +
                   host + "\r\nUser-Agent:test\r\nX-A:b\r\nConnection: Keep-Alive\r\n\r\n";
          },
      .refused = "connection refused or no route to host",
      .reset = "Failed to read HTTP status line: connection reset by peer",
  };
  return tested;
}

}  // namespace http_client_test
