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

// A thing with these members of its metadata, JSON behind a name.
ObjectPtr Described(const std::string& metadata) {
  static const runtime::KindPtr kind = runtime::Kind::Untyped({"g", "v1", "Thing"});
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  const std::string text = R"({"metadata":{"name":"a")" + metadata + "}}";
  object->SetRoot(codec::ParseJson(object->arena().Copy(text), object->arena()).value());
  return object;
}

TEST_CASE("controller: predicates tell which part of the metadata an update changes",
          "[controller]") {
  const ObjectPtr plain = Described("");
  const ObjectPtr empty = Described(R"(,"labels":{},"annotations":{})");
  const ObjectPtr labelled = Described(R"(,"labels":{"a":"1","b":"2"},"resourceVersion":"7")");
  const ObjectPtr swapped = Described(R"(,"labels":{"b":"2","a":"1"},"resourceVersion":"7")");
  const ObjectPtr noted = Described(R"(,"labels":{"a":"1","b":"2"},"annotations":{"n":"1"},)"
                                    R"("resourceVersion":"8")");
  struct Row {
    ObjectPtr before;
    ObjectPtr now;
    bool labels, annotations, version;
  };
  const Row rows[] = {
      {plain, empty, false, false, false},   {plain, labelled, true, false, true},
      {labelled, empty, true, false, true},  {labelled, swapped, false, false, false},
      {labelled, noted, false, true, true},  {nullptr, plain, true, true, true},
      {labelled, nullptr, true, true, true},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CHECK(controller::LabelChanged()(row.before, row.now) == row.labels);
    CHECK(controller::AnnotationChanged()(row.before, row.now) == row.annotations);
    CHECK(controller::ResourceVersionChanged()(row.before, row.now) == row.version);
  }
}

TEST_CASE("controller: predicates are combined, and stop at the first that decides",
          "[controller]") {
  int calls = 0;
  const auto says = [&calls](bool answer) {
    return [&calls, answer](const ObjectPtr&, const ObjectPtr&) { return ++calls > 0 && answer; };
  };
  const ObjectPtr thing = Thing("a", 1);
  const auto passes = [&](const controller::Predicate& predicate) {
    calls = 0;
    return predicate(thing, thing);
  };
  CHECK(passes(controller::And({says(true), says(true)})));
  CHECK(!passes(controller::And({says(false), says(true)})));
  CHECK(calls == 1);
  CHECK(passes(controller::Or({says(true), says(false)})));
  CHECK(calls == 1);
  CHECK(!passes(controller::Or({says(false), says(false)})));
  CHECK(passes(controller::Not(says(false))));
  // The empty predicate lets every change pass.
  CHECK(passes(controller::And({nullptr, says(true)})));
  CHECK(!passes(controller::Not(nullptr)));
  CHECK(passes(controller::And({})));
  CHECK(!passes(controller::Or({})));

  // The object that counts is the one that there is now, or was last.
  const auto is_b = controller::Where([](const runtime::Object& it) { return it.name() == "b"; });
  CHECK(is_b(Thing("a", 1), Thing("b", 1)));
  CHECK(!is_b(Thing("b", 1), Thing("a", 1)));
  CHECK(is_b(Thing("b", 1), nullptr));
  CHECK(is_b(nullptr, Thing("b", 1)));
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
