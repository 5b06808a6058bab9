#include "bench/limit_workloads.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/hostile_workload.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Status;
using apiserver::http::ClientRequest;

constexpr std::size_t kOperations = 8;
// What fits into the 1.5 MiB that may be stored.
constexpr std::size_t kOwners = 10'000;

std::string PathOf(const std::string& name) { return CollectionOf(NamespaceOf(0)) + "/" + name; }

ClientRequest Patch(const char* type, const std::string& name, std::string body,
                    const std::string& query = "") {
  return {.method = "PATCH",
          .target = PathOf(name) + query,
          .headers = {{"Content-Type", std::string("application/") + type}},
          .body = std::move(body)};
}

std::string Uid(std::size_t n) { return "owner-" + std::to_string(100'000 + n); }

// ownerReferences is a list of type map; in a patch it is merged by uid.
std::string Owners(std::size_t first, std::size_t count) {
  std::string json = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    const std::string uid = Uid(first + i);
    json += R"({"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","name":"o-)" +
            std::to_string(i) + R"(","uid":")" + uid + R"(","controller":false})";
  }
  return json + "]";
}

// Another order than theirs, every time.
std::string OwnerOrder(std::size_t n) {
  std::string json = "[";
  for (std::size_t i = 0; i < kOwners; ++i) {
    if (i > 0) json += ',';
    json += R"({"uid":")" + Uid((i * 7'919 + n) % kOwners) + R"("})";
  }
  return json + "]";
}

// Ten thousand insertions at the front of a list, which then goes.
std::string Insertions() {
  std::string json = R"([{"op":"add","path":"/metadata/finalizers","value":[]})";
  for (int i = 0; i < 9'998; ++i) {
    json += R"(,{"op":"add","path":"/metadata/finalizers/0","value":"example.com/x"})";
  }
  return json + R"(,{"op":"remove","path":"/metadata/finalizers"}])";
}

// Each operation copies all that the ones before it made.
std::string Doublings() {
  std::string json = "[";
  for (int i = 0; i < 64; ++i) {
    if (i > 0) json += ',';
    json += R"({"op":"copy","from":"/metadata","path":"/metadata/x)" + std::to_string(i) + R"("})";
  }
  return json + "]";
}

std::string Nested(std::size_t depth) {
  std::string json = R"({"metadata":{"annotations":)";
  for (std::size_t i = 0; i < depth; ++i) json += R"({"a":)";
  return json + "1" + std::string(depth, '}') + "}}";
}

std::string Applied(const std::string& name, const std::string& metadata) {
  return R"({"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","metadata":{"name":")" +
         name + R"(",)" + metadata + "}}";
}

struct Limit {
  std::string name;
  int expected_code;
  std::function<ClientRequest(std::size_t n)> request;
};

std::vector<Limit> Limits() {
  const std::string owners = Owners(0, kOwners);
  return {
      {"json-patch", 200,
       [](std::size_t) { return Patch("json-patch+json", "o-0", Insertions()); }},
      {"json-patch-copies", 422,
       [](std::size_t) { return Patch("json-patch+json", "o-0", Doublings()); }},
      {"merge-patch-nested", 422,
       [](std::size_t) { return Patch("merge-patch+json", "o-0", Nested(9'000)); }},
      {"merge-patch-list", 200,
       [](std::size_t n) {
         return Patch("merge-patch+json", "o-50",
                      R"({"metadata":{"ownerReferences":)" + Owners(n, kOwners) + "}}");
       }},
      {"strategic-list", 200,
       [owners](std::size_t) {
         return Patch("strategic-merge-patch+json", "o-100",
                      R"({"metadata":{"ownerReferences":)" + owners + "}}");
       }},
      {"strategic-order", 200,
       [](std::size_t n) {
         return Patch("strategic-merge-patch+json", "o-100",
                      R"({"metadata":{"$setElementOrder/ownerReferences":)" + OwnerOrder(n) + "}}");
       }},
      {"apply-list", 200,
       [owners](std::size_t n) {
         return Patch("apply-patch+yaml", "o-150",
                      Applied("o-150", R"("annotations":{"n":")" + std::to_string(n) +
                                           R"("},"ownerReferences":)" + owners),
                      "?fieldManager=m");
       }},
      {"apply-nested", 400,
       [](std::size_t) {
         return Patch("apply-patch+yaml", "o-0", Nested(9'000), "?fieldManager=m");
       }},
  };
}

}  // namespace

Status RunLimits(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, 200); !filled.ok()) return filled;
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 1));
  for (const Limit& limit : Limits()) {
    Series series("limits/" + limit.name, server);
    const Status ran = series.Run(connections, [&limit](int run) {
      return LoopOptions{.operations = kOperations,
                         .expected_code = limit.expected_code,
                         .request = [&limit, run](std::size_t n) {
                           return limit.request(static_cast<std::size_t>(run) * kOperations + n);
                         }};
    });
    if (!ran.ok()) return ran;
    series.AddTo(report);
  }
  return RunHostile(server, report);
}

}  // namespace bench
