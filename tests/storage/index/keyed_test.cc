#include "storage/index/keyed.h"

#include <catch2/catch.hpp>
#include <string>

namespace apiserver::inline v0::storage::index {
namespace {

struct Counted final : Keyed<Counted> {
  ~Counted() {
    if (gone != nullptr) ++*gone;
  }
  int* gone = nullptr;
};

TEST_CASE("Keyed: a value has its key right behind it") {
  const std::string text(1000, 'k');
  const Ref<const Counted> value(Counted::New(text));
  CHECK(value->key() == text);
  CHECK(value->key().data() == reinterpret_cast<const char*>(value.get() + 1));
  CHECK(Ref<Counted>(Counted::New(""))->key().empty());
  CHECK(Ref<Counted>(Counted::New(std::string_view()))->key().empty());
}

TEST_CASE("Keyed: the last Ref destroys the value") {
  int gone = 0;
  {
    auto* made = Counted::New("/registry/a");
    const Ref<Counted> first(made);
    made->gone = &gone;
    Ref<const Counted> second = first;
    second = nullptr;
    CHECK(gone == 0);
  }
  CHECK(gone == 1);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::index
