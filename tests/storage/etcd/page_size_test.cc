#include "storage/etcd/page_size.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::storage::etcd {
namespace {

TEST_CASE("storage.etcd: a page has as many keys as fit, and fewer towards the end",
          "[storage.etcd]") {
  PageSize size;
  CHECK(size.keys() == 2'000);
  size.Took(2'000, 2'000 << 10, 98'000);
  CHECK(size.keys() == 32 << 10);
  size.Took(32 << 10, 32 << 20, 30'000);
  CHECK(size.keys() == 15'000);
  size.Took(15'000, 15'000 << 10, 100);
  CHECK(size.keys() == 5'000);
  // Objects of 1.5 MiB, etcd's largest.
  size.Took(21, 21 * (3 << 19), 5'000);
  CHECK(size.keys() == 21);
  size.Took(0, 0, 0);
  CHECK(size.keys() == 5'000);
}

TEST_CASE("storage.etcd: a page that was too long is asked for with fewer keys", "[storage.etcd]") {
  PageSize size({.first = 100});
  CHECK(size.TooLong());
  CHECK(size.keys() == 12);
  CHECK(size.TooLong());
  CHECK(size.keys() == 1);
  CHECK_FALSE(size.TooLong());
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
