#include "apiserver/groups/token_objects.h"

#include <utility>

#include "apiserver/auth/look_up.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "groups/core/secret_data.h"

namespace apiserver::v0::groups {

namespace {

using runtime::ObjectPtr;
using ObjectResult = Result<ObjectPtr>;

// The question for the revision of a consistent read, which the storage answers. Lets an
// authentication wait for a consistent read without holding a thread; see auth/look_up.h.
class FreshQuestion final : public auth::LookUp {
 public:
  using LookUp::LookUp;
  void Set(Result<std::string> revision) {
    revision_ = std::move(revision);
    Finish();
  }
  const Result<std::string>& revision() const { return revision_; }

 private:
  Result<std::string> revision_ = Status(Reason::kWouldBlock, "a look-up is under way");
};

std::optional<Clock::Wall> DeletedAt(const runtime::Object& object) {
  if (!object.deleting()) return std::nullopt;
  const auto at = runtime::ParseTime(object.metadata()["deletionTimestamp"].AsString());
  // A time that cannot be read counts as long ago, so that the token is refused.
  return at.ok() ? at->ToSystem() : Clock::Wall();
}

// Values that are not base64 are left out: the token they would confirm is refused.
authn::StoredSecret SecretOf(const runtime::Object& object) {
  authn::StoredSecret secret{.uid = std::string(object.uid()),
                             .deleted_at = DeletedAt(object),
                             .type = std::string(object["type"].AsString())};
  for (const runtime::Member& member : object["data"].members()) {
    if (auto value = core::SecretValue(member.value)) {
      secret.data.emplace(member.key, *std::move(value));
    }
  }
  for (const runtime::Member& member : object.labels().members()) {
    secret.labels.emplace(member.key, member.value.AsString());
  }
  return secret;
}

}  // namespace

struct TokenObjects::Known {
  // The store of one kind.
  struct Place {
    std::weak_ptr<registry::Store> store;
    bool served = false;
  };
  struct ObjectKey {
    std::string_view resource;
    std::string_view namespace_;
    std::string_view name;
    std::string ToString() const {
      return std::string(resource) + "/" + std::string(namespace_) + "/" + std::string(name);
    }
  };
  struct Places {
    bool set = false;
    Place secrets;
    Place service_accounts;
    Place pods;
    Place nodes;
  };

  // Returns a store. kNotFound: the server has no such objects. Weak references: tokens must not
  // keep the stores of a stopped server alive.
  Result<std::shared_ptr<registry::Store>> StoreOf(Place Places::*which,
                                                   const ObjectKey& key) const {
    const auto locked = places.Lock();
    const Place& place = (*locked).*which;
    if (locked->set && !place.served) {
      return Status(Reason::kNotFound, std::string(key.resource) + " are not served here");
    }
    std::shared_ptr<registry::Store> store = place.store.lock();
    if (store) return store;
    return Status(Reason::kServiceUnavailable,
                  std::string(key.resource) + " cannot be looked at now");
  }

  // Returns the object in memory.
  ObjectResult Cached(const Context& ctx, Place Places::*which, const ObjectKey& key) const {
    ASSIGN_OR_RETURN(const std::shared_ptr<registry::Store> store, StoreOf(which, key));
    // Any revision will do: tokens are checked on every request, and a cached object is fast.
    return store->Get(Within(ctx, key), key.name, {.resource_version = "0"});
  }

  // Returns the object in memory, or the stored one if memory has none. The second look is needed
  // for tokens of objects that were created a moment ago, perhaps by another server.
  ObjectResult Find(const Context& ctx, Place Places::*which, const ObjectKey& key) const {
    ObjectResult cached = Cached(ctx, which, key);
    if (cached.status().reason() != Reason::kNotFound) return cached;
    ASSIGN_OR_RETURN(const std::shared_ptr<registry::Store> store, StoreOf(which, key));
    ObjectResult now = store->Get(Within(ctx, key), key.name, {});
    if (now.status().reason() != Reason::kWouldBlock || ctx.may_block()) return now;
    const auth::WaitingPtr* const waiting = ctx.Get<auth::WaitingPtr>();
    if (!waiting || !*waiting) return now;
    const std::string question_key = key.ToString();
    if (auth::LookUp* const known = (*waiting)->Find(this, question_key)) {
      // kWouldBlock again: the request continues when the question has its answer.
      if (!known->done()) return now;
      const Result<std::string>& revision = static_cast<FreshQuestion*>(known)->revision();
      if (!revision.ok()) return revision.status();
      return store->Get(Within(ctx, key), key.name, {.resource_version = *revision});
    }
    const auto question = std::make_shared<FreshQuestion>(this, question_key);
    (*waiting)->Add(question);
    store->WhenFresh(Within(ctx, key), [question, store](Result<std::string> revision) {
      question->Set(std::move(revision));
    });
    return now;
  }

  static Context Within(const Context& ctx, const ObjectKey& key) {
    Context inner = Context::Child(ctx).WithMayBlock(ctx.may_block());
    // The context is the request's, whose namespace is another.
    inner.Set(rest::Namespace{std::string(key.namespace_)});
    return inner;
  }

  Guarded<Places> places;
};

namespace {

// The secrets of bootstrap tokens: those in memory. Never asks the storage: any client can send the
// id of a token, and a guess must cost no read.
class CachedSecrets final : public authn::SecretGetter {
 public:
  explicit CachedSecrets(std::shared_ptr<const TokenObjects::Known> known)
      : known_(std::move(known)) {}
  Result<authn::StoredSecret> GetSecret(const Context& ctx, std::string_view namespace_,
                                        std::string_view name) const override {
    ASSIGN_OR_RETURN(
        const ObjectPtr secret,
        known_->Cached(ctx, &TokenObjects::Known::Places::secrets, {"secrets", namespace_, name}));
    return SecretOf(*secret);
  }

 private:
  const std::shared_ptr<const TokenObjects::Known> known_;
};

authn::StoredObject StoredOf(const runtime::Object& object) {
  return {.uid = std::string(object.uid()), .deleted_at = DeletedAt(object)};
}

}  // namespace

TokenObjects::TokenObjects() : known_(std::make_shared<Known>()) {}
TokenObjects::~TokenObjects() = default;

// Called once the stores are served; before that every look-up is kServiceUnavailable.
void TokenObjects::SetStores(const Stores& stores) {
  const auto place = [](const std::shared_ptr<registry::Store>& store) {
    return Known::Place{.store = store, .served = store != nullptr};
  };
  *known_->places.Lock() = {.set = true,
                            .secrets = place(stores.secrets),
                            .service_accounts = place(stores.service_accounts),
                            .pods = place(stores.pods),
                            .nodes = place(stores.nodes)};
}

void TokenObjects::Use(const std::vector<std::shared_ptr<registry::Store>>& stores) {
  Stores known = this->stores();
  for (const std::shared_ptr<registry::Store>& store : stores) {
    const runtime::GroupResource resource = store->New()->kind().group_resource();
    if (!resource.group.empty()) continue;
    if (resource.resource == "secrets") known.secrets = store;
    if (resource.resource == "serviceaccounts") known.service_accounts = store;
    if (resource.resource == "pods") known.pods = store;
    if (resource.resource == "nodes") known.nodes = store;
  }
  SetStores(known);
}

TokenObjects::Stores TokenObjects::stores() const {
  const auto places = known_->places.Lock();
  return {.secrets = places->secrets.store.lock(),
          .service_accounts = places->service_accounts.store.lock(),
          .pods = places->pods.store.lock(),
          .nodes = places->nodes.store.lock()};
}

Result<authn::StoredSecret> TokenObjects::GetSecret(const Context& ctx, std::string_view namespace_,
                                                    std::string_view name) const {
  ASSIGN_OR_RETURN(const ObjectPtr secret,
                   known_->Find(ctx, &Known::Places::secrets, {"secrets", namespace_, name}));
  return SecretOf(*secret);
}

Result<authn::StoredObject> TokenObjects::GetServiceAccount(const Context& ctx,
                                                            std::string_view namespace_,
                                                            std::string_view name) const {
  ASSIGN_OR_RETURN(const ObjectPtr account, known_->Find(ctx, &Known::Places::service_accounts,
                                                         {"serviceaccounts", namespace_, name}));
  return StoredOf(*account);
}

Result<authn::StoredObject> TokenObjects::GetPod(const Context& ctx, std::string_view namespace_,
                                                 std::string_view name) const {
  ASSIGN_OR_RETURN(const ObjectPtr pod,
                   known_->Find(ctx, &Known::Places::pods, {"pods", namespace_, name}));
  return StoredOf(*pod);
}

Result<authn::StoredObject> TokenObjects::GetNode(const Context& ctx, std::string_view name) const {
  ASSIGN_OR_RETURN(const ObjectPtr node,
                   known_->Find(ctx, &Known::Places::nodes, {"nodes", "", name}));
  return StoredOf(*node);
}

std::shared_ptr<const authn::SecretGetter> TokenObjects::BootstrapSecrets() const {
  return std::make_shared<CachedSecrets>(known_);
}

}  // namespace apiserver::v0::groups
