// Opens the store in argv[1] and writes with eight threads until it is killed. After each answer it
// writes a line to its standard output, in one system call: "revision key value", value "-" for a
// deletion. The reader of the pipe thus knows what was acknowledged, and what was not does not
// matter.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/rocks/engine.h"

namespace {

using namespace apiserver;  // NOLINT: a program of its own.

void WriteFor(storage::kv::Engine& engine, int writer) {
  const Context ctx = Context::Background();
  // Ten keys for each, created, updated and deleted in turn.
  std::vector<storage::kv::Revision> held(10, 0);
  for (int n = 0;; ++n) {
    const std::size_t slot = static_cast<std::size_t>(n) % held.size();
    storage::kv::TxnRequest request;
    request.key = "/k/" + std::to_string(writer) + "/" + std::to_string(slot);
    const bool erase = held[slot] != 0 && n % 7 == 0;
    const std::string value = std::to_string(writer) + "." + std::to_string(n);
    if (!erase) request.value = std::make_shared<const std::string>(value);
    // What an earlier life left is taken over by the first failed comparison.
    request.expected_mod_revision = held[slot];
    auto response = engine.Txn(ctx, request);
    if (!response.ok()) return;
    if (!response->succeeded) {
      held[slot] = response->kv.mod_revision;
      continue;
    }
    held[slot] = erase ? 0 : response->revision;
    const std::string line =
        std::to_string(response->revision) + " " + request.key + " " + (erase ? "-" : value) + "\n";
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto engine = storage::rocks::Open({.path = argv[1],
                                      .history = {.window = {}, .events_max = 0, .bytes_max = 0},
                                      .write_buffer_bytes = 64 << 10});
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  std::vector<Thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back("writer", [&engine, i] { WriteFor(**engine, i); });
  }
  for (Thread& thread : threads) thread.Join();
  return 0;
}
