#include "bench/corpus.h"

#include <cstdint>

#include "bench/closed_loop.h"

namespace bench {

namespace {

using apiserver::Status;
using apiserver::http::ClientRequest;

constexpr std::size_t kNamespaces = 50;
constexpr std::size_t kObjectBytes = 1024;

// Corpus A: about a KiB once stored.
std::string ObjectJson(const std::string& name, std::size_t n) {
  std::string json = R"({"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1","metadata":)"
                     R"({"name":")" +
                     name + R"(","labels":{"app":"app-)" + std::to_string(n % 100) +
                     R"(","tier":"tier-)" + std::to_string(n % 3) + R"("},"annotations":{"fill":")";
  // uid, timestamps and revision are added by the server.
  constexpr std::size_t kAdded = 200;
  const std::size_t fill = kObjectBytes - kAdded - json.size();
  std::uint64_t random = 0x9E3779B97F4A7C15u * (n + 1);
  for (std::size_t i = 0; i < fill; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    json += static_cast<char>('a' + (random >> 33) % 26);
  }
  return json + R"("}},"spec":{"reference":"other"}})";
}

}  // namespace

std::string NamespaceOf(std::size_t n) { return "ns-" + std::to_string(n % kNamespaces); }
std::string CollectionOf(const std::string& name_space) {
  return std::string(kGroup) + "/namespaces/" + name_space + "/flunders";
}

ClientRequest Post(const std::string& name, std::size_t n) {
  return {.method = "POST",
          .target = CollectionOf(NamespaceOf(n)),
          .headers = {{"Content-Type", "application/json"}},
          .body = ObjectJson(name, n)};
}

Status Populate(apiserver::http::Dialer& dialer, const ServerUnderTest& server, std::size_t objects,
                std::size_t first) {
  BENCH_ASSIGN(connections, DialMany(dialer, server.dial(), 4));
  BENCH_ASSIGN(done, RunClosedLoop(connections, {.streams = 8,
                                                 .operations = objects - first,
                                                 .expected_code = 201,
                                                 .request = [first](std::size_t n) {
                                                   return Post("o-" + std::to_string(first + n),
                                                               first + n);
                                                 }}));
  (void)done;
  return {};
}

}  // namespace bench
