// The least a host can do with the library: something to compile, to link and to run.
#include <cstdio>

#include "apiserver/base/status.h"

int main() {
  const apiserver::Status status;
  std::printf("%s\n", status.ok() ? "ok" : "not ok");
  return status.ok() ? 0 : 1;
}
