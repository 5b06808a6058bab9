#include "apiextensions/convert/ca_bundle.h"

#include <string>

#include "apiserver/client/webhook_config.h"
#include "text/base64.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

bool WasEstablished(const Value& definition) {
  for (const Value& condition : definition["status"]["conditions"].items()) {
    if (condition["type"].AsString() == "Established") {
      return condition["status"].AsString() == "True";
    }
  }
  return false;
}

}  // namespace

// Follows the sync of upstream's EstablishingController. A value that is no base64 is invalid, too;
// the API refuses it before.
bool HasInvalidCABundle(const Value& conversion) {
  const Value value = conversion["webhook"]["clientConfig"]["caBundle"];
  std::string bundle(value.AsString());
  if (value.is_string()) bundle = text::DecodeBase64(bundle).value_or("malformed");
  return !client::ValidateCABundle(field::Path("caBundle"), bundle).empty();
}

// Follows allowInvalidCABundle of upstream's validation.
bool MayHaveInvalidCABundle(const Value& old_definition) {
  return !WasEstablished(old_definition) ||
         HasInvalidCABundle(old_definition["spec"]["conversion"]);
}

}  // namespace apiserver::v0::apiextensions
