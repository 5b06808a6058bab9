// Tests of what reconcilers do with objects: create or update, apply, own, and finalize them.
#include "apiserver/controller/objects.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "controller/gated_connection.h"
#include "controller/served.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::CreateOrPatch;
using controller::CreateOrUpdate;
using controller::OperationResult;
using runtime::Object;

const client::Target kTomsMap{
    .resource = {"", "v1", "configmaps"}, .namespace_ = "default", .name = "tom"};
const Context kCtx = Context::Background();

runtime::KindPtr ConfigMap() { return runtime::Kind::Untyped({"", "v1", "ConfigMap"}); }

controller::MutateFunction Set(const std::string& value) {
  return [value](Object& object) {
    object.Edit("data", "food") = value;
    return Status::Ok();
  };
}

std::unique_ptr<Object> Named(const runtime::GroupVersionKind& gvk, const std::string& space,
                              const std::string& name, const std::string& uid = "u") {
  auto object = std::make_unique<Object>(runtime::Kind::Untyped(gvk), gvk.version);
  object->Edit("metadata", "name") = name;
  if (!space.empty()) object->Edit("metadata", "namespace") = space;
  object->Edit("metadata", "uid") = uid;
  return object;
}

TEST_CASE("controller: an object is created, then updated, then left alone", "[controller]") {
  const auto server = StartCluster();
  const auto created = CreateOrUpdate(kCtx, server->client(), kTomsMap, ConfigMap(), Set("mouse"));
  REQUIRE(created.ok());
  CHECK(created->result == OperationResult::kCreated);
  const auto same = CreateOrUpdate(kCtx, server->client(), kTomsMap, ConfigMap(), Set("mouse"));
  CHECK(same.value().result == OperationResult::kUnchanged);
  CHECK(same.value().object->resource_version() == created->object->resource_version());
  const auto updated = CreateOrUpdate(kCtx, server->client(), kTomsMap, ConfigMap(), Set("bird"));
  CHECK(updated.value().result == OperationResult::kUpdated);
  CHECK((*updated.value().object)["data"]["food"].AsString() == "bird");
}

TEST_CASE("controller: errors of a create or update are the reconciler's", "[controller]") {
  const auto server = StartCluster();
  auto gate = std::make_shared<GatedConnection>(server->server().LoopbackConnection());
  const auto client = client::NewClient(gate);

  SECTION("the name is changed") {
    const auto renamed = CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), [](Object& object) {
      object.Edit("metadata", "name") = "kit";
      return Status::Ok();
    });
    CHECK(renamed.status().reason() == Reason::kInvalid);
  }
  SECTION("the function fails") {
    const auto failed = CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), [](Object&) {
      return Status(Reason::kInternalError, "no food");
    });
    CHECK(failed.status().message() == "no food");
  }
  SECTION("another writes meanwhile") {
    REQUIRE(CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), Set("mouse")).ok());
    const auto late = CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), [&](Object& object) {
      REQUIRE(CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), Set("bird")).ok());
      return Set("fish")(object);
    });
    CHECK(late.status().reason() == Reason::kConflict);
  }
  SECTION("another creates meanwhile") {
    const auto late = CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), [&](Object& object) {
      REQUIRE(CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), Set("bird")).ok());
      return Set("fish")(object);
    });
    CHECK(late.status().reason() == Reason::kAlreadyExists);
  }
  SECTION("the server refuses") {
    gate->Refuse(Refusal(403, "Forbidden", "not for you"));
    const auto refused = CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), Set("mouse"));
    CHECK(refused.status().reason() == Reason::kForbidden);
    CHECK(refused.status().message() == "not for you");
  }
  SECTION("the server is away") {
    gate->Cut();
    CHECK(CreateOrUpdate(kCtx, *client, kTomsMap, ConfigMap(), Set("mouse")).status().reason() ==
          Reason::kServiceUnavailable);
  }
}

const client::Target kNode{.resource = {"", "v1", "nodes"}, .name = "n"};

runtime::KindPtr Node() { return runtime::Kind::Untyped({"", "v1", "Node"}); }

// Sets a label, and a field of the status. Null: leaves it as it is.
controller::MutateFunction Mark(const char* zone, const char* architecture) {
  return [zone, architecture](Object& node) {
    if (zone != nullptr) node.Edit("metadata", "labels", "zone") = zone;
    if (architecture != nullptr) node.Edit("status", "nodeInfo", "architecture") = architecture;
    return Status::Ok();
  };
}

TEST_CASE("controller: a patch sends what has changed, the status apart", "[controller]") {
  const auto server = StartCluster();
  auto gate = std::make_shared<GatedConnection>(server->server().LoopbackConnection());
  const auto client = client::NewClient(gate);
  // Returns the result of a call, with the requests that it has made.
  const auto done = [&](const char* zone, const char* architecture) {
    const std::size_t before = gate->requests().size();
    const auto operation = CreateOrPatch(kCtx, *client, kNode, Node(), Mark(zone, architecture));
    INFO(operation.status().ToString());
    REQUIRE(operation.ok());
    const auto requests = gate->requests();
    std::string all = std::to_string(static_cast<int>(operation->result));
    for (std::size_t i = before; i < requests.size(); ++i) all += ", " + requests[i];
    const auto stored = server->client().Get(kCtx, kNode);
    CHECK(stored.value()->root() == operation->object->root());
    return all;
  };
  const std::string get = ", GET /api/v1/nodes/n";
  const std::string patch = ", PATCH /api/v1/nodes/n";
  const auto code = [](OperationResult result) { return std::to_string(static_cast<int>(result)); };

  CHECK(done("a", nullptr) == code(OperationResult::kCreated) + get + ", POST /api/v1/nodes");
  CHECK(done("a", nullptr) == code(OperationResult::kUnchanged) + get);
  CHECK(done("b", nullptr) == code(OperationResult::kUpdated) + get + patch);
  CHECK(done("b", "arm") == code(OperationResult::kUpdatedStatusOnly) + get + patch + "/status");
  CHECK(done("c", "x86") ==
        code(OperationResult::kUpdatedStatus) + get + patch + patch + "/status");
  const auto node = server->client().Get(kCtx, kNode).value();
  CHECK((*node)["metadata"]["labels"]["zone"].AsString() == "c");
  CHECK((*node)["status"]["nodeInfo"]["architecture"].AsString() == "x86");

  SECTION("what is erased is removed") {
    const auto erased = CreateOrPatch(kCtx, *client, kNode, Node(), [](Object& object) {
      object.Erase("metadata", "labels", "zone");
      return Status::Ok();
    });
    CHECK(erased.value().result == OperationResult::kUpdated);
    CHECK((*erased.value().object)["metadata"]["labels"]["zone"].is_null());
  }
}

TEST_CASE("controller: a patch leaves what others write, and wins over it", "[controller]") {
  const auto server = StartCluster();
  client::Client& client = server->client();
  REQUIRE(CreateOrPatch(kCtx, client, kTomsMap, ConfigMap(), Set("mouse")).ok());
  // Another writer changes both fields between the read and the patch.
  const auto late = CreateOrPatch(kCtx, client, kTomsMap, ConfigMap(), [&](Object& object) {
    REQUIRE(CreateOrUpdate(kCtx, client, kTomsMap, ConfigMap(), [](Object& others) {
              others.Edit("data", "drink") = "milk";
              return Set("bird")(others);
            }).ok());
    return Set("fish")(object);
  });
  REQUIRE(late.ok());
  CHECK((*late->object)["data"]["food"].AsString() == "fish");
  CHECK((*late->object)["data"]["drink"].AsString() == "milk");
}

TEST_CASE("controller: errors of a create or patch are the reconciler's", "[controller]") {
  const auto server = StartCluster();
  client::Client& client = server->client();
  const auto reason = [&](const controller::MutateFunction& mutate) {
    return CreateOrPatch(kCtx, client, kTomsMap, ConfigMap(), mutate).status().reason();
  };
  CHECK(reason([](Object& object) {
          object.Edit("metadata", "name") = "kit";
          return Status::Ok();
        }) == Reason::kInvalid);
  CHECK(reason([&](Object& object) {
          REQUIRE(CreateOrPatch(kCtx, client, kTomsMap, ConfigMap(), Set("bird")).ok());
          return Set("fish")(object);
        }) == Reason::kAlreadyExists);
  CHECK(reason([](Object&) { return Status(Reason::kTimeout, ""); }) == Reason::kTimeout);
  // A kind without the subresource: the first patch stays.
  CHECK(reason([](Object& object) {
          object.Edit("status", "phase") = "done";
          return Set("cheese")(object);
        }) == Reason::kNotFound);
  CHECK((*client.Get(kCtx, kTomsMap).value())["data"]["food"].AsString() == "cheese");
  CHECK(reason([&](Object& object) {
          REQUIRE(client.Delete(kCtx, kTomsMap).ok());
          return Set("fish")(object);
        }) == Reason::kNotFound);
}

TEST_CASE("controller: an apply owns its fields, and takes those of others by force",
          "[controller]") {
  const auto server = StartCluster();
  Object tom(ConfigMap(), "v1");
  tom.Edit("metadata", "name") = "tom";
  tom.Edit("data", "food") = "mouse";
  const auto apply = [&](const std::string& manager, bool force) {
    return controller::Apply(kCtx, server->client(), kTomsMap, tom,
                             {.field_manager = manager, .force = force});
  };
  REQUIRE(apply("a", false).ok());
  tom.Edit("data", "food") = "bird";
  CHECK(apply("b", false).status().reason() == Reason::kConflict);
  CHECK((*apply("b", true).value())["data"]["food"].AsString() == "bird");
  tom.Erase("data", "food");
  tom.Edit("data", "home") = "basket";
  CHECK((*apply("b", false).value())["data"]["food"].is_null());
  CHECK(apply("", false).status().reason() == Reason::kInvalid);
}

TEST_CASE("controller: an object has one controller and many owners", "[controller]") {
  const auto house = Named({"zoo.example.com", "v1", "House"}, "default", "big");
  const auto pet = Named({"zoo.example.com", "v1", "Pet"}, "default", "tom");
  REQUIRE(controller::SetControllerReference(*house, *pet).ok());
  // It has another version and uid, but names the same owner.
  const auto again = Named({"zoo.example.com", "v2", "House"}, "default", "big", "u2");
  REQUIRE(controller::SetControllerReference(*again, *pet).ok());
  REQUIRE(pet->metadata()["ownerReferences"].size() == 1);
  const runtime::Value reference = pet->metadata()["ownerReferences"].at(0);
  CHECK(reference["apiVersion"].AsString() == "zoo.example.com/v2");
  CHECK(reference["uid"].AsString() == "u2");
  CHECK(reference["controller"].AsBool());
  CHECK(reference["blockOwnerDeletion"].AsBool());

  const auto small = Named({"zoo.example.com", "v1", "House"}, "default", "small");
  const Status taken = controller::SetControllerReference(*small, *pet);
  CHECK(taken.reason() == Reason::kAlreadyExists);
  CHECK(taken.message() == "Object default/tom is already owned by another House controller big");
  REQUIRE(controller::SetOwnerReference(*small, *pet).ok());
  CHECK(pet->metadata()["ownerReferences"].size() == 2);
  CHECK(pet->metadata()["ownerReferences"].at(1)["controller"].is_null());
}

TEST_CASE("controller: an owner is of the same namespace or of none", "[controller]") {
  const runtime::GroupVersionKind kind{"zoo.example.com", "v1", "House"};
  const auto pet = Named({"zoo.example.com", "v1", "Pet"}, "default", "tom");
  const auto node = Named({"", "v1", "Node"}, "", "n");
  CHECK(controller::SetControllerReference(*Named(kind, "other", "x"), *pet).message() ==
        "cross-namespace owner references are disallowed, owner's namespace other, obj's "
        "namespace default");
  CHECK(controller::SetOwnerReference(*Named(kind, "other", "x"), *node).message() ==
        "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace other");
  CHECK(controller::SetOwnerReference(*node, *pet).ok());
  CHECK(controller::SetOwnerReference(*Named(kind, "", "x", ""), *pet).reason() ==
        Reason::kInvalid);
}

TEST_CASE("controller: finalizers are added once and removed", "[controller]") {
  const auto pet = Named({"zoo.example.com", "v1", "Pet"}, "default", "tom");
  CHECK(controller::AddFinalizer(*pet, "zoo/a"));
  CHECK_FALSE(controller::AddFinalizer(*pet, "zoo/a"));
  CHECK(controller::AddFinalizer(*pet, "zoo/b"));
  CHECK(controller::ContainsFinalizer(*pet, "zoo/b"));
  CHECK(controller::RemoveFinalizer(*pet, "zoo/a"));
  CHECK_FALSE(controller::RemoveFinalizer(*pet, "zoo/a"));
  CHECK(pet->finalizers().size() == 1);
  CHECK(controller::RemoveFinalizer(*pet, "zoo/b"));
  CHECK(pet->metadata().Find("finalizers") == nullptr);
}

}  // namespace
}  // namespace controller_test
