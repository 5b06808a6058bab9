#include "flowcontrol/controller.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "flowcontrol/controller_state.h"
#include "flowcontrol/rule.h"

namespace apiserver::v0::flowcontrol {

namespace {

// False with one queue or none, where the hash of a flow is not needed.
bool TellsFlowsApart(const Schema& schema) {
  const auto& queuing = schema.level->config.queuing;
  return queuing && queuing->queues > 1;
}

std::string_view DistinguisherOf(const Schema& schema, const request::RequestInfo& info,
                                 const auth::UserInfo& user) {
  if (!TellsFlowsApart(schema)) return "";
  switch (schema.config.distinguisher) {
    case FlowSchema::Distinguisher::kNone:
      break;
    case FlowSchema::Distinguisher::kByUser:
      return user.name;
    case FlowSchema::Distinguisher::kByNamespace:
      return info.namespace_;
  }
  return "";
}

}  // namespace

Controller::Controller(const ControllerOptions& options)
    : options_(options),
      metrics_(options.metrics),
      hash_(*options.random),
      estimator_(options.estimator, options.stats_of),
      dropped_(*options.clock),
      state_(std::make_unique<State>(options.server_concurrency_limit)),
      classes_(std::make_shared<const Classes>()) {}

Controller::~Controller() = default;

std::shared_ptr<Controller> Controller::New(const ControllerOptions& options) {
  auto controller = std::make_shared<Controller>(options);
  // Requests are classified from the first moment, with the configuration of a server without
  // objects.
  controller->Configure(BuiltInConfiguration());
  return controller;
}

// Metrics outlive the level: a level with the name of a removed one goes on counting.
LevelState Controller::NewLevel(const std::string& name) {
  LevelState level;
  level.metrics = &metrics_.Of(name);
  // Posted, since the thread that made the level idle may hold the lock that Reap() takes.
  const auto on_idle = [weak = weak_from_this(), executor = options_.executor] {
    executor->Post([weak] {
      if (const auto self = weak.lock()) self->Reap();
    });
  };
  level.queues = std::make_shared<QueueSet>(QueueSetOptions{.clock = options_.clock,
                                                            .executor = options_.executor,
                                                            .metrics = level.metrics,
                                                            .on_idle = on_idle});
  return level;
}

// Called under the lock on the state, so that configurations are published in their order.
void Controller::Publish(State& state) {
  state.UpdateBorrowing(metrics_.seat_fair_frac(), *options_.log);
  auto classes = std::make_shared<Classes>();
  std::map<std::string_view, LevelPtr> levels;
  for (const auto& [name, level] : state.levels) {
    levels[name] = std::make_shared<const Level>(
        Level{.config = level.config, .queues = level.queues, .max_seats = level.max_seats});
  }
  for (const FlowSchema& schema : state.schemas) {
    if (schema.name == kCatchAll) classes->catch_all = classes->schemas.size();
    const auto level = levels.find(schema.priority_level);
    // A schema without its level has nowhere to put requests.
    if (level == levels.end()) continue;
    classes->schemas.push_back({.config = schema,
                                .level = level->second,
                                .metrics = &metrics_.Of(schema.priority_level, schema.name)});
  }
  // Swapped as a whole, so that a request sees one configuration from classification to dispatch.
  *classes_.Lock() = std::move(classes);
  if (!options_.watermarks) return;
  const double seats = state.nominal_limit_sum;
  options_.watermarks->SetLimits(
      {.waiting = state.places_in_queues, .executing_reads = seats, .executing_mutating = seats},
      options_.clock->Now());
}

void Controller::Configure(Configuration configuration) {
  auto state = state_.Lock();
  (*state)->Digest(
      std::move(configuration), [this](const std::string& name) { return NewLevel(name); },
      *options_.log);
  Publish(**state);
}

// Posted by levels that drained; another change may have kept the level meanwhile.
void Controller::Reap() {
  auto state = state_.Lock();
  if ((*state)->Reap()) Publish(**state);
}

void Controller::UpdateBorrowing() {
  auto state = state_.Lock();
  (*state)->UpdateBorrowing(metrics_.seat_fair_frac(), *options_.log);
}

std::vector<std::string> Controller::PriorityLevels() const {
  std::vector<std::string> names;
  const auto state = state_.Lock();
  for (const auto& [name, level] : (*state)->levels) names.push_back(name);
  return names;
}

void Controller::ShowProgress() const {
  const auto state = state_.Lock();
  for (const auto& [name, level] : (*state)->levels) level.queues->ShowProgress();
}

// Takes the lock for one copy of a pointer.
Controller::Classified Controller::Classify(const request::RequestInfo& info,
                                            const auth::UserInfoPtr& user) const {
  Classified result{.classes = *classes_.Lock(), .schema = nullptr};
  const Classes& classes = *result.classes;
  std::optional<ClassMemo::Class> found;
  if (info.is_resource_request) found = classes.memo.Find(info, user);
  if (!found) {
    found = ClassOf(classes, info, *user);
    if (info.is_resource_request) classes.memo.Store(info, user, *found);
  }
  result.schema = &classes.schemas[found->schema];
  result.distinguisher = DistinguisherOf(*result.schema, info, *user);
  result.flow_hash = found->flow_hash;
  return result;
}

// Linear in the schemas, which are sorted by precedence: the first match counts.
ClassMemo::Class Controller::ClassOf(const Classes& classes, const request::RequestInfo& info,
                                     const auth::UserInfo& user) const {
  // A user without even the groups of authentication matches no schema, and is caught all the same.
  ClassMemo::Class found{.schema = classes.catch_all};
  for (std::size_t i = 0; i < classes.schemas.size(); ++i) {
    if (!Matches(classes.schemas[i].config, info, user)) continue;
    found.schema = i;
    break;
  }
  const Schema& schema = classes.schemas[found.schema];
  if (TellsFlowsApart(schema)) {
    found.flow_hash = hash_(schema.config.name, DistinguisherOf(schema, info, user));
  }
  return found;
}

// Runs after classification, since the level decides how wide a request may be.
WorkEstimate Controller::Estimate(const Schema& schema, const request::RequestInfo& info,
                                  const http::Query& query) const {
  // Only writes have watchers to tell.
  int watches = 0;
  if (WorkEstimator::IsMutating(info)) {
    watches = watches_.InterestedWatchCount(info);
    schema.metrics->watch_count.Observe(watches);
  }
  const WorkEstimate work = estimator_.Estimate(info, query, schema.level->max_seats, watches);
  schema.metrics->work_estimated_seats.Observe(work.max_seats());
  return work;
}

}  // namespace apiserver::v0::flowcontrol
