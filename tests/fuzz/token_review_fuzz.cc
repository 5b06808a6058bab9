#include <cstddef>
#include <cstdint>
#include <string_view>

#include "authn/token_review_messages.h"
#include "require.h"

// Whatever a webhook answers is an error with a reason, nobody, or somebody with a name.
namespace {

using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = apiserver::authn::ReadTokenReview(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!found.ok()) {
    Require(found.status().reason() == apiserver::Reason::kUnauthorized ||
            found.status().reason() == apiserver::Reason::kInternalError);
    Require(!found.status().message().empty());
    return 0;
  }
  if (found->has_value()) Require(!found->value().user->name.empty());
  return 0;
}
