#include "client/mirror.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::client {
namespace {

using runtime::ObjectPtr;

ObjectPtr Mirrored(const std::string& name, const std::string& version) {
  static const runtime::KindPtr kind = runtime::Kind::Untyped({"g", "v1", "Thing"});
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  object->Edit("metadata", "name") = name;
  object->Edit("metadata", "resourceVersion") = version;
  return object;
}

// A list was read without its lock: ThreadSanitizer, and now and then a crash, told of it.
TEST_CASE("client: what an informer knows can be listed while it changes", "[client]") {
  constexpr int kChanges = 3000;
  Mirror mirror({});
  mirror.Put(Mirrored("always", "1"));
  Notification changed;
  Thread writer("writer", [&] {
    for (int i = 0; i < kChanges; ++i) {
      mirror.Put(Mirrored("always", std::to_string(i)));
      mirror.Put(Mirrored("sometimes-" + std::to_string(i % 7), "1"));
      mirror.Remove(Mirrored("sometimes-" + std::to_string((i + 3) % 7), "1"));
    }
    changed.Notify();
  });
  std::size_t lists = 0;
  do {
    const std::vector<ObjectPtr> all = mirror.List();
    REQUIRE(!all.empty());
    REQUIRE(all.size() <= 8);
    REQUIRE(all.front()->name() == "always");
    ++lists;
  } while (!changed.HasBeenNotified());
  writer.Join();
  CHECK(lists > 0);
}

}  // namespace
}  // namespace apiserver::inline v0::client
