#include "storage/etcd/key_stride.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::storage::etcd {
namespace {

TEST_CASE("storage.etcd: keys are cut after some steps of a digit", "[storage.etcd]") {
  KeyStride stride(3);
  CHECK(stride.Cut("/p/", 100).end.empty());
  // A step of the last but one digit has ten keys.
  stride.Learn("/p/obj-000", "/p/obj-020", 20);
  CHECK(stride.Cut("/p/obj-020", 30).end == "/p/obj-05");
  CHECK(stride.Cut("/p/obj-020", 1).end == "/p/obj-03");
  // One of the digit before is taken to have a hundred.
  CHECK(stride.Cut("/p/obj-020", 200).end == "/p/obj-2");
}

TEST_CASE("storage.etcd: letters follow digits in what is cut", "[storage.etcd]") {
  KeyStride stride(3);
  stride.Learn("/p/7", "/p/b", 400);
  CHECK(stride.Cut("/p/b", 300).end == "/p/e");
  CHECK(stride.Cut("/p/9", 100).end == "/p/a");
}

TEST_CASE("storage.etcd: parts are made larger where they have few keys", "[storage.etcd]") {
  KeyStride stride(3);
  stride.Learn("/p/a00", "/p/a04", 40);
  const KeyStride::Part part = stride.Cut("/p/a04", 20);
  CHECK(part.end == "/p/a06");
  stride.Learn(part, 4);
  CHECK(stride.Cut("/p/a06", 20).end == "/p/a0g");
  stride.Learn(part, 0);
  CHECK(stride.Cut("/p/a06", 20).end == "/p/a1");
  // Another part was made by a digit that is not looked at any more.
  stride.Learn(part, 1'000);
  CHECK(stride.Cut("/p/a06", 20).end == "/p/a1");
}

TEST_CASE("storage.etcd: nothing is cut within what all keys share", "[storage.etcd]") {
  KeyStride stride(3);
  stride.Learn("/p/0", "/p/9", 10);
  CHECK(stride.Cut("/p/9", 1'000).end.empty());
  CHECK(stride.Cut("/p/9", 1).end.empty());

  stride.Learn("/p/0", "/p/0", 10);
  CHECK(stride.Cut("/p/0", 1).end.empty());
  stride.Learn("/p/\x80", "/p/\xff", 10);
  CHECK(stride.Cut("/p/\xff", 1).end.empty());
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
