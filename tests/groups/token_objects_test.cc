// How tokens' objects are read: from memory, else once more and without holding a thread.
#include "apiserver/groups/token_objects.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/auth/look_up.h"
#include "apiserver/base/executor.h"
#include "apiserver/groups/core.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "groups/core/kinds.h"
#include "groups/core/strategy.h"
#include "groups/rbac/forwarding_store.h"

namespace {

namespace auth = apiserver::auth;
namespace meta = apiserver::meta;
namespace registry = apiserver::registry;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::groups::TokenObjects;
using apiserver::runtime::ObjectPtr;

// A store whose memory is empty, and which must ask somebody for a consistent read.
class FarStore final : public apiserver::groups::rbac::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<ObjectPtr> Get(const Context& ctx, std::string_view name,
                        const meta::GetOptions& options) override {
    reads += options.resource_version.empty() ? "now " : options.resource_version + " ";
    if (options.resource_version == "0") return Status(Reason::kNotFound, "not in memory");
    if (options.resource_version.empty() && !ctx.may_block()) {
      return Status(Reason::kWouldBlock, "somebody must be asked");
    }
    return ForwardingStore::Get(ctx, name, {});
  }
  void WhenFresh(const Context& /*ctx*/, FreshDone done) override { asked = std::move(done); }

  std::string reads;
  FreshDone asked;
};

std::shared_ptr<registry::Store> NewAccounts(const registry::StorageConfig& storage) {
  const auto kinds = apiserver::groups::core::ServedKinds();
  REQUIRE(kinds.ok());
  auto store = registry::NewStore(
      storage,
      {.kind = kinds->back(), .strategy = apiserver::groups::core::NewServiceAccountStrategy()});
  REQUIRE(store.status() == Status());
  return *store;
}

// With the service account default/robot.
struct Far {
  Far() {
    auto object = std::make_unique<apiserver::runtime::Object>(
        apiserver::groups::core::ServedKinds()->back(), "v1");
    object->Edit("metadata", "name") = "robot";
    object->Edit("metadata", "namespace") = "default";
    Context ctx = Context::Child(Context::Background());
    ctx.Set(apiserver::rest::Namespace{"default"});
    const auto created = accounts->Create(ctx, std::move(object), nullptr, {});
    REQUIRE(created.status() == Status());
    uid = (*created)->uid();
    objects.SetStores({.service_accounts = far});
  }
  ~Far() { accounts->Destroy(); }

  // On a loop, where `waiting` is what the request waits for; null: it cannot.
  Result<apiserver::authn::StoredObject> OnLoop(const auth::WaitingPtr& waiting,
                                                std::string_view name = "robot") const {
    Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
    if (waiting) ctx.Set(auth::WaitingPtr(waiting));
    return objects.GetServiceAccount(ctx, "default", name);
  }

  std::unique_ptr<apiserver::storage::kv::Engine> engine = apiserver::storage::memory::NewEngine();
  std::unique_ptr<apiserver::ThreadPool> pool =
      apiserver::NewThreadPool({.name = "far", .threads = 1});
  std::shared_ptr<registry::Store> accounts =
      NewAccounts({.engine = engine.get(), .executor = pool.get()});
  std::shared_ptr<FarStore> far = std::make_shared<FarStore>(accounts);
  TokenObjects objects;
  std::string uid;
};

}  // namespace

TEST_CASE("groups: what memory lacks is asked for once more, without holding a thread",
          "[groups]") {
  const Far far;
  const auto waiting = std::make_shared<auth::Waiting>();

  CHECK(far.OnLoop(nullptr).status().reason() == Reason::kWouldBlock);
  CHECK(far.OnLoop(waiting).status().reason() == Reason::kWouldBlock);
  REQUIRE(waiting->size() == 1);
  CHECK(waiting->pending());
  // Asked again before the answer is there, it asks nobody a second time.
  CHECK(far.OnLoop(waiting).status().reason() == Reason::kWouldBlock);
  CHECK(waiting->size() == 1);
  REQUIRE(far.far->asked);
  far.far->asked("7");
  CHECK_FALSE(waiting->pending());
  far.far->reads.clear();

  const auto account = far.OnLoop(waiting);

  REQUIRE(account.status() == Status());
  CHECK(account->uid == far.uid);
  CHECK(far.far->reads == "0 now 7 ");
}

TEST_CASE("groups: a token's object that is not there is not there", "[groups]") {
  const Far far;
  const auto waiting = std::make_shared<auth::Waiting>();
  CHECK(far.OnLoop(waiting, "nobody").status().reason() == Reason::kWouldBlock);
  far.far->asked("7");

  CHECK(far.OnLoop(waiting, "nobody").status().reason() == Reason::kNotFound);
  CHECK(
      far.objects.GetServiceAccount(Context::Background(), "default", "nobody").status().reason() ==
      Reason::kNotFound);
  CHECK(far.objects.GetServiceAccount(Context::Background(), "other", "robot").status().reason() ==
        Reason::kNotFound);
  CHECK(far.objects.GetPod(Context::Background(), "default", "p").status().reason() ==
        Reason::kNotFound);
  CHECK(far.objects.GetNode(Context::Background(), "n").status().reason() == Reason::kNotFound);
}

TEST_CASE("groups: where waiting is allowed, a token's object is waited for", "[groups]") {
  const Far far;

  CHECK(far.objects.GetServiceAccount(Context::Background(), "default", "robot")->uid == far.uid);
  CHECK(far.far->reads == "0 now ");
}

TEST_CASE("groups: a question about a token's object that fails is an error", "[groups]") {
  const Far far;
  const auto waiting = std::make_shared<auth::Waiting>();
  CHECK(far.OnLoop(waiting).status().reason() == Reason::kWouldBlock);

  far.far->asked(Status(Reason::kServiceUnavailable, "etcd is gone"));

  CHECK(far.OnLoop(waiting).status().reason() == Reason::kServiceUnavailable);
}

// Anybody can guess at names of bootstrap tokens' secrets.
TEST_CASE("groups: nobody is asked about a bootstrap token's secret", "[groups]") {
  Far far;
  far.objects.SetStores({.secrets = far.far});
  const auto secrets = far.objects.BootstrapSecrets();
  far.far->reads.clear();

  CHECK(secrets->GetSecret(Context::Background(), "kube-system", "bootstrap-token-abcdef")
            .status()
            .reason() == Reason::kNotFound);
  CHECK(far.far->reads == "0 ");
}

TEST_CASE("groups: before and after its server, nothing is known of a token's objects",
          "[groups]") {
  TokenObjects objects;
  const auto reason = [&objects] {
    return objects.GetSecret(Context::Background(), "a", "b").status().reason();
  };

  CHECK(reason() == Reason::kServiceUnavailable);
  {
    const Far far;
    objects.SetStores({.secrets = far.far});
    CHECK(reason() == Reason::kNotFound);
  }
  CHECK(reason() == Reason::kServiceUnavailable);
}
