#include "apiserver/admission/admission.h"

#include "base/status_macros.h"

namespace apiserver::inline v0::admission {

Status Chain::Admit(const Context& ctx, Attributes& attributes) const {
  for (const auto& plugin : plugins_) {
    if (plugin->Handles(attributes.operation)) RETURN_IF_ERROR(plugin->Admit(ctx, attributes));
  }
  return {};
}

Status Chain::Validate(const Context& ctx, const Attributes& attributes) const {
  for (const auto& plugin : plugins_) {
    if (plugin->Handles(attributes.operation)) RETURN_IF_ERROR(plugin->Validate(ctx, attributes));
  }
  return {};
}

}  // namespace apiserver::inline v0::admission
