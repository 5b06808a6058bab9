#include <algorithm>
#include <utility>

#include "admission/metrics.h"
#include "apiserver/admission/admission.h"
#include "apiserver/audit/context.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

// Adds the plugins' annotations to the request's event, as far as its level keeps them.
void TellAudit(const Context& ctx, const Attributes& attributes) {
  const audit::Level level = audit::LevelOf(ctx);
  if (level == audit::Level::kNone) return;
  for (const Annotation& annotation : attributes.annotations->All()) {
    if (annotation.level <= level) audit::AddAnnotation(ctx, annotation.key, annotation.value);
  }
}

}  // namespace

Chain::Chain(std::vector<std::shared_ptr<const Plugin>> plugins, metrics::Registry& registry,
             const Clock& clock)
    : plugins_(std::move(plugins)),
      metrics_(std::make_shared<Metrics>(registry, clock, plugins_.size())) {}

// False: the caller need not make Attributes.
bool Chain::Handles(Operation operation) const {
  return std::ranges::any_of(plugins_,
                             [&](const auto& plugin) { return plugin->Handles(operation); });
}

bool Chain::RunsInline(Operation operation, std::string_view space) const {
  return std::ranges::all_of(plugins_, [&](const auto& plugin) {
    return !plugin->Handles(operation) || plugin->RunsInline(operation, space);
  });
}

// Each request gets its own state; a caller may bring it to keep it over several phases.
void Chain::Prepare(Attributes& attributes) const {
  attributes.metrics = metrics_.get();
  if (!attributes.annotations) attributes.annotations = std::make_shared<Annotations>();
  if (!attributes.reinvocation) attributes.reinvocation = std::make_shared<Reinvocation>();
}

Status Chain::AdmitOnce(const Context& ctx, Attributes& attributes) const {
  for (std::size_t i = 0; i < plugins_.size(); ++i) {
    const auto& plugin = plugins_[i];
    if (!plugin->mutates() || !plugin->Handles(attributes.operation)) continue;
    const PluginTimer timer(metrics_.get(), {i, plugin->name()}, Step::kAdmit);
    Status status = plugin->Admit(ctx, attributes);
    timer.Observe(attributes.operation, !status.ok());
    // After each plugin, and before its error: the event of a refused request has the annotations
    // too.
    TellAudit(ctx, attributes);
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status Chain::Admit(const Context& ctx, Attributes& attributes) const {
  Prepare(attributes);
  const PluginTimer timer(metrics_.get(), Step::kAdmit);
  Status status = AdmitOnce(ctx, attributes);
  // One more round at most, so that two plugins which undo each other's changes cannot loop.
  if (status.ok() && attributes.reinvocation->should_reinvoke()) {
    attributes.reinvocation->SetIsReinvoke();
    status = AdmitOnce(ctx, attributes);
  }
  timer.Observe(attributes.operation, !status.ok());
  return status;
}

// Takes a copy of `attributes`, since it changes them; objects are shared.
Status Chain::Validate(const Context& ctx, Attributes attributes) const {
  Prepare(attributes);
  // Takes away the object that a plugin could change.
  attributes.editable = nullptr;
  const PluginTimer timer(metrics_.get(), Step::kValidate);
  Status status;
  for (std::size_t i = 0; i < plugins_.size(); ++i) {
    const auto& plugin = plugins_[i];
    if (!plugin->validates() || !plugin->Handles(attributes.operation)) continue;
    const PluginTimer own(metrics_.get(), {i, plugin->name()}, Step::kValidate);
    status = plugin->Validate(ctx, attributes);
    own.Observe(attributes.operation, !status.ok());
    TellAudit(ctx, attributes);
    if (!status.ok()) break;
  }
  timer.Observe(attributes.operation, !status.ok());
  return status;
}

}  // namespace apiserver::v0::admission
