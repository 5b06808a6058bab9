#include "aggregator/control/auto_register.h"

#include <algorithm>
#include <utility>

#include "aggregator/control/names_controller.h"
#include "apiserver/aggregator/api_service.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

constexpr int kRegistrationWorkers = 5;

client::Target TargetOf(const std::string& name) {
  return {.resource = {"apiregistration.k8s.io", "v1", "apiservices"}, .name = name};
}

Managed ManagedBy(const runtime::Object& api_service) {
  const std::string_view label = api_service.labels()[kManagedLabel].AsString();
  if (label == "onstart") return Managed::kOnStart;
  return label == "true" ? Managed::kAlways : Managed::kNot;
}

// Returns the spec of a local APIService.
runtime::Value SpecOf(const Wanted& wanted, runtime::Arena& arena) {
  runtime::MapBuilder spec(arena);
  if (!wanted.group.empty()) {
    spec.Add("group", runtime::Value::String(arena.Copy(wanted.group)));
  }
  spec.Add("version", runtime::Value::String(arena.Copy(wanted.version)));
  spec.Add("groupPriorityMinimum", runtime::Value::Int(wanted.group_priority));
  spec.Add("versionPriority", runtime::Value::Int(wanted.version_priority));
  return spec.Build();
}

// A change that has come in between is still to come as an event.
Status UnlessMeanwhile(const Status& status) {
  const Reason reason = status.reason();
  const bool meanwhile = reason == Reason::kNotFound || reason == Reason::kConflict ||
                         reason == Reason::kAlreadyExists;
  return meanwhile ? Status() : status;
}

}  // namespace

Action Decide(const std::optional<Present>& present, std::optional<Managed> wanted, bool synced) {
  if (!present && !wanted) return Action::kNothing;
  if (wanted == Managed::kOnStart && synced) return Action::kNothing;
  if (!present) return Action::kCreate;
  if (present->managed == Managed::kNot) return Action::kNothing;
  // Another server's, or what a user has made of one of ours.
  if (present->managed == Managed::kOnStart && (!present->at_start || synced)) {
    return Action::kNothing;
  }
  if (!wanted) return Action::kDelete;
  return present->as_wanted ? Action::kNothing : Action::kUpdate;
}

AutoRegister::AutoRegister(Needs needs)
    : needs_(std::move(needs)),
      ctx_(Context::Child(Context::Background())),
      controller_(
          StartNamesController({.name = "autoregister",
                                .pool = needs_.pool,
                                .workers = kRegistrationWorkers,
                                .metrics = needs_.metrics.get(),
                                .work = [this](const std::string& name) { return Sync(name); }})) {}

void AutoRegister::Start(std::set<std::string> at_start) {
  std::set<std::string> names = at_start;
  {
    const auto state = state_.Lock();
    state->started = true;
    state->at_start = std::move(at_start);
    for (const auto& [name, wanted] : state->wanted) names.insert(name);
  }
  for (const std::string& name : names) Add(name);
}

void AutoRegister::Want(const Wanted& wanted) {
  const std::string name = wanted.version + "." + wanted.group;
  state_.Lock()->wanted[name] = wanted;
  Add(name);
}

void AutoRegister::WantNot(const std::string& name) {
  state_.Lock()->wanted.erase(name);
  Add(name);
}

void AutoRegister::Stop() {
  ctx_.Cancel({Reason::kServiceUnavailable, "the server stops"});
  controller_->Stop();
}

Status AutoRegister::Sync(const std::string& name) {
  std::optional<Wanted> wanted;
  bool at_start = false;
  bool synced = false;
  {
    const auto state = state_.Lock();
    if (!state->started) return {};
    const auto found = state->wanted.find(name);
    if (found != state->wanted.end()) wanted = found->second;
    at_start = state->at_start.contains(name);
    synced = state->synced.contains(name);
  }
  const runtime::ObjectPtr object = needs_.find(name);
  std::optional<Present> present;
  if (object != nullptr) {
    runtime::Arena arena;
    present = {.managed = ManagedBy(*object),
               .at_start = at_start,
               .as_wanted = wanted && (*object)["spec"] == SpecOf(*wanted, arena)};
  }
  const auto managed = wanted ? std::optional(wanted->managed) : std::nullopt;
  RETURN_IF_ERROR(Do(Decide(present, managed, synced), name, object, wanted));
  state_.Lock()->synced.insert(name);
  return {};
}

Status AutoRegister::Do(Action action, const std::string& name, const runtime::ObjectPtr& present,
                        const std::optional<Wanted>& wanted) const {
  if (action == Action::kNothing) return {};
  if (action == Action::kDelete) {
    meta::DeleteOptions options;
    options.preconditions.uid = std::string(present->uid());
    return UnlessMeanwhile(needs_.client->Delete(ctx_, TargetOf(name), options).status());
  }
  if (action == Action::kUpdate) {
    const auto next = present->Clone();
    next->SetPath({"spec"}, SpecOf(*wanted, next->arena()));
    return UnlessMeanwhile(needs_.client->Update(ctx_, TargetOf(name), *next).status());
  }
  runtime::Object made(APIServiceKind(), "v1");
  made.Edit("metadata", "name") = name;
  made.Edit("metadata", "labels", std::string(kManagedLabel)) =
      wanted->managed == Managed::kOnStart ? "onstart" : "true";
  made.SetPath({"spec"}, SpecOf(*wanted, made.arena()));
  return UnlessMeanwhile(needs_.client->Create(ctx_, TargetOf(""), made).status());
}

}  // namespace apiserver::v0::aggregator
