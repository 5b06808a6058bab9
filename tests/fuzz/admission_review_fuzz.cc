#include <cstddef>
#include <cstdint>
#include <string_view>

#include "admission/webhook/review.h"
#include "require.h"

// The answer of an admission webhook: whatever it is, it is an answer that can be believed or an
// error with words; a refusal is never a success, and a patch has a type.
namespace {

namespace admission = apiserver::admission;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto decoded = admission::DecodeReview(body);
  if (!decoded.ok()) {
    // The message of a Status that a webhook sent may be empty; what is said of others is not.
    Require(!decoded.status().ok());
    return 0;
  }
  for (const char* version : {"v1", "v1beta1"}) {
    for (const bool mutating : {false, true}) {
      admission::ReviewAnswer answer = *decoded;
      const auto verified =
          admission::VerifyReview({.uid = "123", .version = version}, mutating, answer);
      if (!verified.ok()) {
        Require(!verified.message().empty());
        continue;
      }
      Require(answer.has_response);
      Require(answer.patch.empty() || answer.patch_type.has_value());
      Require(mutating || answer.patch.empty());
      const auto refusal = admission::RefusalOf("a.b.c", answer);
      Require(refusal.code() >= 400);
      Require(refusal.message().starts_with("admission webhook \"a.b.c\" denied the request"));
    }
  }
  return 0;
}
