// A program that asks a server of its own for its version.
#include <cstdio>
#include <string>

#include "apiserver/testing/server/test_server.h"

int main() {
  const auto server = apiserver::testing::StartTestServer({});
  if (!server.ok()) {
    std::puts(std::string(server.status().message()).c_str());
    return 1;
  }
  const auto response = (*server)->Call("GET", "/version");
  std::printf("%d\n", response.code);
  return response.code == 200 ? 0 : 1;
}
