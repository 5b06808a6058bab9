// The keys that a change of an object adds.
#include <catch2/catch.hpp>

#include <initializer_list>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/controller/handlers.h"
#include "apiserver/runtime/kind.h"
#include "controller/support.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::NewWorkQueue;
using runtime::ObjectPtr;

struct Owner {
  const char* api_version;
  const char* kind;
  const char* name;
  bool controller;
};

ObjectPtr Thing(const std::string& name, int generation, std::initializer_list<Owner> owners = {}) {
  static const runtime::KindPtr kind = runtime::Kind::Untyped({"g", "v1", "Thing"});
  std::string references;
  for (const Owner& owner : owners) {
    references += std::string(references.empty() ? "" : ",") + R"({"apiVersion":")" +
                  owner.api_version + R"(","kind":")" + owner.kind + R"(","name":")" + owner.name +
                  R"(","controller":)" + (owner.controller ? "true}" : "false}");
  }
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  const std::string text = R"({"metadata":{"namespace":"ns","name":")" + name +
                           R"(","generation":)" + std::to_string(generation) +
                           R"(,"ownerReferences":[)" + references + "]}}";
  object->SetRoot(codec::ParseJson(object->arena().Copy(text), object->arena()).value());
  return object;
}

TEST_CASE("controller: a change adds the key of its object", "[controller]") {
  const auto queue = NewWorkQueue();
  const auto handler = controller::EnqueueObject(*queue);
  handler.on_add(Thing("a", 1));
  handler.on_update(Thing("b", 1), Thing("b", 2));
  handler.on_delete(Thing("c", 1));
  CHECK(TakeAll(*queue) == "ns/a ns/b ns/c");
}

TEST_CASE("controller: a predicate keeps changes away, GenerationChanged those of the status",
          "[controller]") {
  const auto queue = NewWorkQueue();
  const auto handler = controller::EnqueueObject(*queue, controller::GenerationChanged());
  handler.on_add(Thing("a", 1));
  handler.on_update(Thing("b", 1), Thing("b", 2));
  handler.on_update(Thing("c", 2), Thing("c", 2));
  handler.on_delete(Thing("d", 1));
  CHECK(TakeAll(*queue) == "ns/a ns/b ns/d");

  const auto none =
      controller::EnqueueObject(*queue, [](const auto&, const auto&) { return false; });
  none.on_add(Thing("a", 1));
  CHECK(TakeAll(*queue).empty());
}

TEST_CASE("controller: a change adds the owners of its object, those before it, too",
          "[controller]") {
  const auto queue = NewWorkQueue();
  const Owner pet = {"g/v1", "Pet", "tom", true};
  const Owner other = {"g/v2", "Pet", "kit", true};
  const Owner guest = {"g/v1", "Pet", "guest", false};
  const Owner foreign = {"h/v1", "Pet", "foreign", true};
  const Owner house = {"g/v1", "House", "house", true};

  const auto handler = controller::EnqueueOwner(*queue, {.kind = {"g", "Pet"}});
  handler.on_add(Thing("a", 1, {house, foreign, guest, pet}));
  CHECK(TakeAll(*queue) == "ns/tom");
  handler.on_update(Thing("a", 1, {pet}), Thing("a", 1, {other}));
  CHECK(TakeAll(*queue) == "ns/tom ns/kit");
  handler.on_delete(Thing("a", 1, {house}));
  CHECK(TakeAll(*queue).empty());

  const auto all = controller::EnqueueOwner(
      *queue, {.kind = {"g", "Pet"}, .controllers_only = false, .cluster_scoped = true});
  all.on_add(Thing("a", 1, {guest, pet}));
  CHECK(TakeAll(*queue) == "guest tom");
}

}  // namespace
}  // namespace controller_test
