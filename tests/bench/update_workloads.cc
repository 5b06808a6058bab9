#include "bench/update_workloads.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Status;
using apiserver::http::ClientRequest;
using apiserver::http::Headers;

// Corpus B: 64 annotations of a quarter KiB. No object is asked for twice at once.
constexpr std::size_t kBoards = 320;
constexpr std::size_t kAnnotations = 64;
constexpr std::size_t kAnnotationBytes = 240;
constexpr std::size_t kWriters = 4;
constexpr std::size_t kStreams = 8;
constexpr std::size_t kUpdates = 8'000;
static_assert(kBoards % (kWriters * kStreams) == 0, "a slot asks only for objects of its own");

std::string NameOf(std::size_t n) { return "b-" + std::to_string(n % kBoards); }
std::string PathOf(std::size_t n) {
  return CollectionOf(NamespaceOf(n % kBoards)) + "/" + NameOf(n);
}

// The annotations from `first` to `last`; that of `first` says `changing`.
std::string Annotations(std::size_t first, std::size_t last, std::string_view changing) {
  std::string json = "{";
  std::uint64_t random = 0x9E3779B97F4A7C15U;
  for (std::size_t i = 0; i < last; ++i) {
    std::string value;
    while (value.size() < kAnnotationBytes) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      value += static_cast<char>('a' + (random >> 33U) % 26);
    }
    if (i < first) continue;
    if (i > first) json += ',';
    json += R"("example.com/a-)" + std::to_string(i) + R"(":")" +
            (i == first ? std::string(changing) : "") + value + R"(")";
  }
  return json + "}";
}

std::string Object(std::size_t n, const std::string& metadata, const std::string& annotations) {
  return R"({"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1","metadata":{"name":")" +
         NameOf(n) + R"(")" + metadata + R"(,"annotations":)" + annotations +
         R"(},"spec":{"reference":"other"}})";
}

// The resourceVersion of every object, as its last answer said.
class Versions {
 public:
  void Learn(std::size_t n, std::string_view body) {
    constexpr std::string_view kKey = "\"resourceVersion\":\"";
    const std::size_t found = body.find(kKey);
    if (found == std::string_view::npos) return;  // An error.
    const std::size_t begin = found + kKey.size();
    versions_[n % kBoards] = body.substr(begin, body.find('"', begin) - begin);
  }
  const std::string& Of(std::size_t n) const { return versions_[n % kBoards]; }

 private:
  std::vector<std::string> versions_ = std::vector<std::string>(kBoards);
};

struct Variant {
  std::string name;
  int expected_code = 200;
  std::function<ClientRequest(std::size_t n, const std::string& unique)> request;
};

Status Populate(const Connections& connections, Versions& versions) {
  BENCH_ASSIGN(
      done,
      RunClosedLoop(connections,
                    {.streams = kStreams,
                     .operations = kBoards,
                     .expected_code = 201,
                     .request =
                         [](std::size_t n) {
                           return ClientRequest{
                               .method = "POST",
                               .target = CollectionOf(NamespaceOf(n)),
                               .headers = {{"Content-Type", "application/json"}},
                               .body = Object(n, "", Annotations(0, kAnnotations, ""))};
                         },
                     .answered = [&versions](std::size_t n,
                                             std::string_view body) { versions.Learn(n, body); }}));
  (void)done;
  return {};
}

ClientRequest Patch(std::size_t n, const char* type, std::string body) {
  return {.method = "PATCH",
          .target = PathOf(n),
          .headers = {{"Content-Type", std::string("application/") + type}},
          .body = std::move(body)};
}

// Each of two managers has half of the annotations.
ClientRequest Apply(std::size_t n, bool second, std::string_view changing) {
  const std::size_t half = kAnnotations / 2;
  ClientRequest request = Patch(
      n, "apply-patch+yaml",
      Object(n, "",
             second ? Annotations(half, kAnnotations, changing) : Annotations(0, half, changing)));
  request.target += second ? "?fieldManager=second&force=true" : "?fieldManager=first&force=true";
  return request;
}

std::vector<Variant> Variants(const Versions& versions) {
  return {
      {.name = "W9/put",
       .request =
           [&versions](std::size_t n, const std::string& unique) {
             return ClientRequest{
                 .method = "PUT",
                 .target = PathOf(n),
                 .headers = {{"Content-Type", "application/json"}},
                 .body = Object(n, R"(,"resourceVersion":")" + versions.Of(n) + R"(")",
                                Annotations(0, kAnnotations, unique))};
           }},
      {.name = "W9/json-patch",
       .request =
           [](std::size_t n, const std::string& unique) {
             return Patch(n, "json-patch+json",
                          R"([{"op":"replace","path":"/metadata/annotations/example.com~1a-0",)"
                          R"("value":")" +
                              unique + R"("}])");
           }},
      {.name = "W9/merge-patch",
       .request =
           [](std::size_t n, const std::string& unique) {
             return Patch(
                 n, "merge-patch+json",
                 R"({"metadata":{"annotations":{"example.com/a-0":")" + unique + R"("}}})");
           }},
      {.name = "W9/apply",
       .request =
           [](std::size_t n, const std::string& unique) {
             return Apply(n, (n / kBoards) % 2 == 1, unique);
           }},
      {.name = "W9/apply-same",
       .request = [](std::size_t n,
                     const std::string&) { return Apply(n, (n / kBoards) % 2 == 1, "same"); }},
      {.name = "W9/apply-conflict",
       .expected_code = 409,
       .request =
           [](std::size_t n, const std::string& unique) {
             ClientRequest request = Apply(n, /*second=*/false, unique);
             request.target = PathOf(n) + "?fieldManager=third";
             return request;
           }},
  };
}

}  // namespace

Status RunW9(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), kWriters));
  Versions versions;
  if (Status filled = Populate(connections, versions); !filled.ok()) return filled;
  for (const Variant& variant : Variants(versions)) {
    Series series(variant.name, server);
    const Status ran = series.Run(connections, [&](int run) {
      return LoopOptions{
          .streams = kStreams,
          .operations = kUpdates,
          .expected_code = variant.expected_code,
          .strides = true,
          .request =
              [&variant, run](std::size_t n) {
                return variant.request(n, std::to_string(run) + "-" + std::to_string(n));
              },
          .answered = [&versions](std::size_t n,
                                  std::string_view body) { versions.Learn(n, body); }};
    });
    if (!ran.ok()) return ran;
    series.AddTo(report);
  }
  return {};
}

}  // namespace bench
