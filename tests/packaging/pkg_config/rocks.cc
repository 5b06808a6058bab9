// A program that keeps a store in a new folder: pkg_config FOLDER.
#include <cstdio>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/storage/rocks/engine.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto engine = apiserver::storage::rocks::Open({.path = argv[1]});
  if (!engine.ok()) {
    std::puts(std::string(engine.status().message()).c_str());
    return 1;
  }
  return (*engine)->CurrentRevision(apiserver::Context::Background()).ok() ? 0 : 1;
}
