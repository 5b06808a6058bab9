#include "apiextensions/serving/entry.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apiextensions/serving/strategy.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/endpoints/api_group_version.h"
#include "apiserver/meta/errors.h"
#include "apiserver/registry/scale.h"
#include "apiserver/rest/status.h"
#include "apiserver/runtime/scheme.h"
#include "base/status_macros.h"
#include "endpoints/warn.h"
#include "registry/table_convertor.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Value;

constexpr std::array<std::string_view, 8> kVerbs = {
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
constexpr std::array<std::string_view, 3> kSubresourceVerbs = {"get", "update", "patch"};

// ".spec.color" as field selectors name it.
std::string LabelOf(std::string_view path) {
  return std::string(path.starts_with('.') ? path.substr(1) : path);
}

std::vector<std::string> SelectableIn(const Value& version) {
  std::vector<std::string> fields;
  for (const Value& field : version["selectableFields"].items()) {
    fields.push_back(LabelOf(field["jsonPath"].AsString()));
  }
  return fields;
}

// The column that a version without columns has.
runtime::PrinterColumn AgeColumn() {
  return {.name = "Age",
          .type = "date",
          .json_path = ".metadata.creationTimestamp",
          .description = std::string(registry::kCreationTimestampDescription)};
}

// Adds the column that upstream gives a version that has none. The route of a version warns that it
// is deprecated, so that its kind does not.
void FillIn(runtime::KindVersion& kind) {
  if (kind.columns.empty()) kind.columns.push_back(AgeColumn());
  kind.deprecation_warning.clear();
}

// Returns the content of a definition with schemas that keep everything in the place of its own,
// which are not structural. Only storage can have such a definition: it was written by a Kubernetes
// before 1.22. Its objects are neither pruned nor validated.
Value KeepingAll(runtime::Object& definition) {
  runtime::Arena& arena = definition.arena();
  const auto one = [&arena](std::string_view key, Value value) {
    runtime::MapBuilder map(arena);
    map.Add(key, value);
    return map.Build();
  };
  const Value schema =
      runtime::With(one("type", Value::String("object")), "x-kubernetes-preserve-unknown-fields",
                    Value::Bool(true), arena);
  const Value validation = one("openAPIV3Schema", schema);
  runtime::ListBuilder versions(arena);
  for (const Value& version : definition["spec"]["versions"].items()) {
    versions.Add(runtime::With(version, "schema", validation, arena));
  }
  const Value spec = runtime::With(definition["spec"], "versions", versions.Build(), arena);
  return runtime::With(definition.root(), "spec", spec, arena);
}

// The paths of a version's Scale, and those by which other versions own the replicas.
registry::ScaleOptions ScaleOf(const runtime::Kind& kind, const runtime::ScalePaths& paths,
                               const Clock& clock) {
  registry::ScaleOptions options{.spec_replicas_path = paths.spec_replicas,
                                 .status_replicas_path = paths.status_replicas,
                                 .label_selector_path = paths.label_selector,
                                 .clock = &clock,
                                 .check_paths = false};
  for (const runtime::KindVersion& version : kind.versions()) {
    if (!version.scale) continue;
    options.spec_replicas_path_in[version.version] = version.scale->spec_replicas;
  }
  return options;
}

}  // namespace

// Finds its way to the route of the store, which the first request makes.
class Entry::VersionRoute final : public server::Route {
 public:
  VersionRoute(Entry& entry, VersionFacts version) : entry_(entry), version_(std::move(version)) {}

  const std::string& version() const { return version_.name; }

  http::Step Serve(http::Exchange& exchange) override {
    RETURN_IF_ERROR(Check(exchange));
    ASSIGN_OR_RETURN(const std::shared_ptr<server::Route> route, Made(exchange));
    ChooseByVerb(exchange);
    return route->Serve(exchange);
  }
  Status CheckBeforeBody(http::Exchange& exchange) const override {
    RETURN_IF_ERROR(Check(exchange));
    ASSIGN_OR_RETURN(const std::shared_ptr<server::Route> route, Made(exchange));
    ChooseByVerb(exchange);
    return route->CheckBeforeBody(exchange);
  }
  // Nothing is connected to a custom resource.
  bool LongRunning(const request::RequestInfo&, std::string_view) const override { return false; }
  std::optional<storage::Stats> GetStats() const override {
    const auto state = state_.Lock();
    return state->made != nullptr ? state->made->GetStats() : std::nullopt;
  }
  bool IsResource(const request::RequestInfo& info) const override {
    return IsServed(info.subresource);
  }
  void End(const std::shared_ptr<server::Route>& successor) override {
    std::shared_ptr<server::Route> made;
    {
      const auto state = state_.Lock();
      state->ended = true;
      state->successor = successor;
      made = state->made;
    }
    if (made != nullptr) made->End(successor);
  }

 private:
  struct State {
    std::shared_ptr<server::Route> made;
    std::shared_ptr<server::Route> successor;
    bool ended = false;
  };

  bool IsServed(std::string_view subresource) const {
    return subresource.empty() || (subresource == "status" && version_.status) ||
           (subresource == "scale" && version_.scale);
  }

  // Tells the route to look at the verb where upstream does not look at the method.
  static void ChooseByVerb(http::Exchange& exchange) {
    const std::string& method = exchange.request().method;
    const bool named_post = method == "POST" && !exchange.Get<request::RequestInfo>().name.empty();
    if (named_post || method == "HEAD") exchange.Set(endpoints::ByVerb{});
  }

  // Follows crdHandler.ServeHTTP behind the choice of a version. Whatever is asked of a deprecated
  // version is answered with its warning.
  Status Check(http::Exchange& exchange) const {
    const auto& info = exchange.Get<request::RequestInfo>();
    if (version_.deprecation != nullptr) endpoints::Warn(exchange, version_.deprecation);
    const auto resource = [&info]() -> meta::GroupResource {
      return {std::string(info.api_group), std::string(info.resource)};
    };
    if (!IsServed(info.subresource)) return meta::NewNotFound(resource(), info.name);
    const bool main = info.subresource.empty();
    const bool known = main ? std::find(kVerbs.begin(), kVerbs.end(), info.verb) != kVerbs.end()
                            : std::find(kSubresourceVerbs.begin(), kSubresourceVerbs.end(),
                                        info.verb) != kSubresourceVerbs.end();
    if (!known) return meta::NewMethodNotSupported(resource(), info.verb);
    // PUT and PATCH of the collection, whose paths other resources answer with 405.
    const bool of_one = info.verb == "update" || info.verb == "patch";
    if (of_one && info.name.empty()) return meta::NewBadRequest("name must be provided");
    return {};
  }

  // Returns the route, or that of the successor. kWouldBlock: it is still to be made.
  Result<std::shared_ptr<server::Route>> Made(const http::Exchange& exchange) const {
    {
      const auto state = state_.Lock();
      if (state->made != nullptr) return state->made;
      if (state->successor != nullptr) return state->successor;
      if (state->ended) return meta::NewGenericServerResponse(404, "", {}, "");
    }
    if (!exchange.ctx().may_block()) return Status(Reason::kWouldBlock, "makes a kind");
    ASSIGN_OR_RETURN(std::shared_ptr<server::Route> route, entry_.NewRoute(version_.name));
    const auto state = state_.Lock();
    if (state->successor != nullptr) return state->successor;
    // Another request may have been faster; its route has the watches that End() ends.
    if (state->made == nullptr) state->made = std::move(route);
    return state->made;
  }

  Entry& entry_;
  const VersionFacts version_;
  mutable Guarded<State> state_;
};

Entry::Entry(FactsPtr facts, std::shared_ptr<Workshop> workshop, Entry* before)
    : workshop_(std::move(workshop)), facts_(std::move(facts)) {
  if (before != nullptr) *cached_.Lock() = *before->cached_.Lock();
  const FactsPtr known = *facts_.Lock();
  for (const VersionFacts& version : known->versions) {
    if (version.served) routes_.push_back(std::make_unique<VersionRoute>(*this, version));
  }
}

// Closing a storage may wait, and the last owner of an entry may be a request on a loop.
Entry::~Entry() {
  auto storage = std::move(built_.Lock()->storage);
  auto cached = std::move(*cached_.Lock());
  if (storage == nullptr && cached == nullptr) return;
  workshop_->pool->Post([storage = std::move(storage), cached = std::move(cached)]() mutable {
    storage = cached = nullptr;
  });
}

bool Entry::TakeOver(const FactsPtr& facts) {
  const auto mine = facts_.Lock();
  const Facts& old = **mine;
  if (old.uid != facts->uid || old.generation != facts->generation ||
      old.accepted != facts->accepted) {
    return false;
  }
  *mine = facts;
  return true;
}

std::shared_ptr<server::Route> Entry::RouteOf(std::string_view version) {
  for (const auto& route : routes_) {
    if (route->version() == version) return {shared_from_this(), route.get()};
  }
  return nullptr;
}

void Entry::End(const std::shared_ptr<Entry>& successor) {
  for (const auto& route : routes_) {
    route->End(successor != nullptr ? successor->RouteOf(route->version()) : nullptr);
  }
}

// The names are those of status.acceptedNames, which may differ from those of spec.names.
Result<runtime::KindOptions> Entry::KindOptionsOf(Built& built) const {
  const FactsPtr facts = this->facts();
  const std::unique_ptr<runtime::Object> read = ReadOnce(*facts->object);
  RETURN_IF_ERROR(read->load_status());
  runtime::KindOptions options;
  {
    const auto pool = workshop_->schemas.Lock();
    pool->ReadFrom(nullptr);
    const bool structural = facts->structure.reason.empty();
    const runtime::Value root = structural ? read->root() : KeepingAll(*read);
    ASSIGN_OR_RETURN(options, codec::KindOptionsFromCrd(root, *pool));
  }
  options.kind = facts->accepted.kind;
  options.list_kind = facts->accepted.list_kind;
  options.singular = facts->accepted.singular;
  options.short_names = facts->accepted.short_names;
  options.categories = facts->accepted.categories;
  if (workshop_->new_converter) {
    ASSIGN_OR_RETURN(options.converter, workshop_->new_converter(read->root()));
  }
  const Value versions = (*read)["spec"]["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i) {
    FillIn(options.versions.at(i));
    built.selectable[options.versions[i].version] = SelectableIn(versions.at(i));
  }
  return options;
}

Status Entry::Build(Built& built) const {
  if (built.storage != nullptr) return {};
  if (built.kind == nullptr) {
    ASSIGN_OR_RETURN(built.options, KindOptionsOf(built));
    ASSIGN_OR_RETURN(built.kind, runtime::Kind::New(built.options));
  }
  const std::shared_ptr<storage::Interface> before = *cached_.Lock();
  ASSIGN_OR_RETURN(built.storage, registry::OpenStorage(workshop_->storage, built.kind, before));
  *cached_.Lock() = built.storage;
  return {};
}

Result<std::shared_ptr<registry::Store>> Entry::NewStore(const Built& built,
                                                         std::string_view /*version*/,
                                                         const runtime::KindPtr& kind) {
  registry::StoreOptions options{.kind = kind, .strategy = NewCustomStrategy(kind)};
  // Columns are paths, and conversions that wait say so themselves.
  options.functions_inline = true;
  options.refuse_create = [weak = weak_from_this()](const Context&,
                                                    const runtime::Object& object) -> Status {
    const auto entry = weak.lock();
    if (entry == nullptr) return {};
    const FactsPtr facts = entry->facts();
    if (!facts->deleting) return {};
    return meta::NewForbidden({facts->group, facts->accepted.plural}, object.name(),
                              "create not allowed while custom resource definition is terminating");
  };
  return registry::NewStoreOver(built.storage, workshop_->storage, std::move(options));
}

Result<std::shared_ptr<server::Route>> Entry::NewRoute(std::string_view version) {
  const auto built = built_.Lock();
  RETURN_IF_ERROR(Build(*built));
  // The rules of a custom resource work in the version of the request.
  runtime::KindOptions options = built->options;
  options.hub_version = version;
  options.selectable_fields = built->selectable[std::string(version)];
  ASSIGN_OR_RETURN(const runtime::KindPtr kind, runtime::Kind::New(std::move(options)));
  const std::string& plural = kind->plural();
  ASSIGN_OR_RETURN(const auto store, NewStore(*built, version, kind));
  server::APIResourceInfo info{.resource = {kind->group(), std::string(version), plural},
                               .storage = {{plural, store}}};
  const runtime::KindVersion& shape = *kind->FindVersion(version);
  if (shape.status_subresource.value_or(false)) {
    ASSIGN_OR_RETURN(
        info.storage[plural + "/status"],
        registry::NewStatusStore(store, rest::NewStatusStrategy(NewCustomStrategy(kind), kind)));
  }
  if (shape.scale) {
    ASSIGN_OR_RETURN(
        info.storage[plural + "/scale"],
        registry::NewScaleStore(store, ScaleOf(*kind, *shape.scale, *workshop_->storage.clock)));
  }
  return workshop_->handler->NewRoute(std::move(info));
}

// Follows deleteInstances of pkg/controller/finalizer, without a request and so without admission.
Emptied Entry::DeleteObjects(const Context& ctx) {
  using State = Emptied::State;
  const auto failed = [](State state, const Status& why) {
    return Emptied{state, std::string(why.message())};
  };
  std::shared_ptr<registry::Store> store;
  {
    const auto built = built_.Lock();
    const Status ready = Build(*built);
    if (!ready.ok()) return failed(State::kCannotList, ready);
    auto made = NewStore(*built, built->kind->hub_version(), built->kind);
    if (!made.ok()) return failed(State::kCannotList, made.status());
    store = *std::move(made);
  }
  auto listed = store->List(ctx, {});
  if (!listed.ok()) return failed(State::kCannotList, listed.status());
  if (listed->items.empty()) return {};
  const auto deleted = store->DeleteCollection(ctx, nullptr, {}, {});
  if (!deleted.ok()) return failed(State::kCannotDelete, deleted.status());
  listed = store->List(ctx, {});
  if (!listed.ok()) return failed(State::kCannotList, listed.status());
  return {.state = listed->items.empty() ? State::kEmpty : State::kNotYet};
}

}  // namespace apiserver::v0::apiextensions
