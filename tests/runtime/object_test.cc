#include "apiserver/runtime/object.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Parse;
using testing::Print;

KindPtr Untyped() { return Kind::Untyped({"example.com", "v1", "Widget"}); }

EncodingPtr EncodingOf(std::string body) {
  return std::make_shared<const Encoding>(EncodedBody{{}, std::move(body)});
}

TEST_CASE("runtime: a new object is an empty map", "[runtime]") {
  const Object object(Untyped(), "v1");
  CHECK(object.root().is_map());
  CHECK(object.root().size() == 0);
  CHECK(object.gvk().ToString() == "example.com/v1, Kind=Widget");
}

TEST_CASE("runtime: metadata is read by name", "[runtime]") {
  const auto object = ObjectOf(Untyped(), R"({"metadata":{"name":"n","namespace":"ns","uid":"u",
      "resourceVersion":"7","generateName":"g-","generation":3,"labels":{"a":"b"},
      "annotations":{"c":"d"},"finalizers":["f"],"deletionTimestamp":"2020-01-01T00:00:00Z"}})");
  CHECK(object->name() == "n");
  CHECK(object->namespace_() == "ns");
  CHECK(object->uid() == "u");
  CHECK(object->resource_version() == "7");
  CHECK(object->generate_name() == "g-");
  CHECK(object->generation() == 3);
  CHECK(object->labels()["a"].AsString() == "b");
  CHECK(object->annotations()["c"].AsString() == "d");
  CHECK(object->finalizers().at(0).AsString() == "f");
  CHECK(object->deleting());
  CHECK_FALSE(Object(Untyped(), "v1").deleting());
}

TEST_CASE("runtime: Edit sets paths, making maps on the way", "[runtime]") {
  Object object(Untyped(), "v1");
  object.Edit("metadata", "name") = "one";
  object.Edit("spec", "a", "b") = 3;
  object.Edit("spec", "flag") = true;
  object.Edit("spec", "ratio") = 0.5;
  object.Edit("spec", "text") = std::string("t");
  CHECK(Print(object) ==
        R"({"metadata":{"name":"one"},"spec":{"a":{"b":3},"flag":true,"ratio":0.5,"text":"t"}})");
  object.Edit("spec", "a", "b") = 4;
  object.Edit("spec", "text", "deeper") = 1;
  CHECK(Print(object["spec"]) == R"({"a":{"b":4},"flag":true,"ratio":0.5,"text":{"deeper":1}})");
}

TEST_CASE("runtime: Edit copies values of other objects", "[runtime]") {
  Object object(Untyped(), "v1");
  {
    const auto other = ObjectOf(Untyped(), R"({"spec":{"a":["x"]}})");
    object.Edit("spec") = (*other)["spec"];
  }
  CHECK(Print(object) == R"({"spec":{"a":["x"]}})");
}

TEST_CASE("runtime: Erase removes a member and ignores what is not there", "[runtime]") {
  const auto object = ObjectOf(Untyped(), R"({"spec":{"a":1,"b":2},"status":{}})");
  object->Erase("spec", "a");
  object->Erase("spec", "missing");
  object->Erase("missing", "deeper");
  object->Erase("status");
  CHECK(Print(*object) == R"({"spec":{"b":2}})");
}

TEST_CASE("runtime: changing one place leaves a shared subtree alone in another", "[runtime]") {
  const auto object = ObjectOf(Untyped(), R"({"a":{"x":{"y":1}}})");
  object->SetPath({"b"}, (*object)["a"]);
  object->Edit("a", "x", "y") = 2;
  CHECK(Print(*object) == R"({"a":{"x":{"y":2}},"b":{"x":{"y":1}}})");
}

TEST_CASE("runtime: a clone lives on without its original", "[runtime]") {
  std::unique_ptr<Object> clone;
  {
    const auto object = ObjectOf(Untyped(), R"({"spec":{"a":"text"}})");
    clone = object->Clone();
    object->Edit("spec", "a") = "changed";
  }
  CHECK(Print(*clone) == R"({"spec":{"a":"text"}})");
}

class CountingLoader final : public ContentLoader {
 public:
  Status Load(const Object& object, Arena& arena, Value& root) const override {
    const std::string_view bytes = *object.stored_bytes();
    ++calls;
    if (bytes == "x") return Status(Reason::kInternalError, "broken");
    root = Parse(bytes, arena);
    return {};
  }
  mutable std::atomic<int> calls = 0;
};

std::shared_ptr<const Object> Backed(const char* bytes, const CountingLoader& loader) {
  return std::make_shared<const Object>(
      Untyped(), "v1", Object::Source{std::make_shared<const std::string>(bytes), 1, &loader});
}

TEST_CASE("runtime: content backed by bytes is parsed at the first touch only", "[runtime]") {
  const CountingLoader loader;
  const auto backed = Backed(R"({"a":"text"})", loader);
  const Object& object = *backed;
  CHECK(!object.loaded());
  CHECK(object.bytes() == 12);
  CHECK(loader.calls == 0);
  CHECK(object["a"].AsString() == "text");
  CHECK(object["a"].AsString() == "text");
  CHECK(object.load_status().ok());
  CHECK(loader.calls == 1);
}

TEST_CASE("runtime: cloning unparsed bytes does not parse them", "[runtime]") {
  const CountingLoader loader;
  const auto backed = Backed(R"({"a":1})", loader);
  const Object& object = *backed;
  const auto clone = object.Clone();
  CHECK(loader.calls == 0);
  clone->Edit("a") = 2;
  CHECK((*clone)["a"].AsInt() == 2);
  CHECK(object["a"].AsInt() == 1);
  CHECK(loader.calls == 2);
}

TEST_CASE("runtime: bytes that do not parse read as empty and say why", "[runtime]") {
  const CountingLoader loader;
  const auto backed = Backed("x", loader);
  const Object& object = *backed;
  CHECK(object.root().is_map());
  CHECK(object.name().empty());
  CHECK(object.load_status().message() == "broken");
}

TEST_CASE("runtime: many threads touching unparsed content parse it once", "[runtime]") {
  const CountingLoader loader;
  const auto object = Backed(R"({"a":{"b":"text"}})", loader);
  std::atomic<int> right = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back("reader", [&, object] {
        if ((*object)["a"]["b"].AsString() == "text" && object->bytes() > 0) ++right;
      });
    }
  }
  CHECK(right == 8);
  CHECK(loader.calls == 1);
}

TEST_CASE("runtime: encodings are found by version and format, and the first one stays",
          "[runtime]") {
  const Object object(Untyped(), "v1");
  CHECK(object.FindEncoding("v1", Format::kJson) == nullptr);
  const EncodingPtr first = EncodingOf("first");
  CHECK(object.StoreEncoding("v1", Format::kJson, first) == first);
  CHECK(object.StoreEncoding("v1", Format::kJson, EncodingOf("second")) == first);
  CHECK(object.StoreEncoding("v1", Format::kProtobuf, EncodingOf("proto"))->ToString() == "proto");
  CHECK(object.StoreEncoding("v2", Format::kJson, EncodingOf("other"))->ToString() == "other");
  CHECK(object.FindEncoding("v1", Format::kJson) == first);
  CHECK(object.FindEncoding("v1", Format::kProtobuf)->ToString() == "proto");
  CHECK(object.FindEncoding("v2", Format::kProtobuf) == nullptr);
  CHECK(object.bytes() == 15);
}

TEST_CASE("runtime: encodings with bytes of their own are kept while their share has room",
          "[runtime]") {
  const auto share = std::make_shared<EvictingShare>(2000);
  const std::string large(1000, 'x');
  const Object a(Untyped(), "v1");
  const auto b = std::make_unique<const Object>(Untyped(), "v1");
  const EncodingPtr first = EncodingOf(large);
  CHECK(a.StoreEncoding("v1", Format::kJson, first, share) == first);
  CHECK(a.StoreEncoding("v1", Format::kJson, EncodingOf("again"), share) == first);
  CHECK(a.FindEncoding("v1", Format::kJson) == first);
  CHECK(a.bytes() == 0);
  CHECK(share->used() > 1000);

  // Found twice, and so no longer the one that is used least once both are there.
  b->StoreEncoding("v1", Format::kProtobuf, EncodingOf(large), share);
  CHECK(share->used() <= 2000);
  const bool a_kept = a.FindEncoding("v1", Format::kJson) != nullptr;
  const bool b_kept = b->FindEncoding("v1", Format::kProtobuf) != nullptr;
  CHECK(a_kept != b_kept);

  // What was given up is kept again when it is made again.
  const EncodingPtr again = EncodingOf(large);
  CHECK(a.StoreEncoding("v1", Format::kJson, again, share) == (a_kept ? first : again));
  CHECK(a.FindEncoding("v1", Format::kJson) != nullptr);
  CHECK(share->used() <= 2000);
}

TEST_CASE("runtime: an object gives its encodings' room back", "[runtime]") {
  const auto share = std::make_shared<EvictingShare>(1 << 20);
  {
    const Object object(Untyped(), "v1");
    object.StoreEncoding("v1", Format::kJson, EncodingOf("json"), share);
    object.StoreEncoding("v1", Format::kProtobuf, EncodingOf("proto"), share);
    CHECK(share->used() > 0);
  }
  CHECK(share->used() == 0);
}

TEST_CASE("runtime: an encoding that shares the stored bytes stays, whatever its share",
          "[runtime]") {
  const auto share = std::make_shared<EvictingShare>(0);
  const Object object(Untyped(), "v1");
  const auto bytes = std::make_shared<const std::string>("{}");
  object.StoreEncoding(
      "v1", Format::kJson,
      std::make_shared<const Encoding>(Encoding::Splice{.bytes = bytes, .size = 2}, BodyMarks()),
      share);
  CHECK(object.FindEncoding("v1", Format::kJson)->ToString() == "{}");
  CHECK(share->used() == 0);
}

TEST_CASE("runtime: the encodings of many objects are found together", "[runtime]") {
  std::vector<ObjectPtr> objects;
  for (int i = 0; i < 100; ++i) {
    objects.push_back(std::make_shared<const Object>(Untyped(), "v1"));
    if (i % 3 != 0) {
      objects[i]->StoreEncoding("v1", Format::kJson, EncodingOf(std::to_string(i)));
    }
  }
  const auto found = Object::FindEncodings(objects, "v1", Format::kJson);
  REQUIRE(found.size() == 100);
  for (int i = 0; i < 100; ++i) {
    INFO(i);
    CHECK((i % 3 == 0 ? found[i] == nullptr : found[i]->ToString() == std::to_string(i)));
  }
  CHECK(Object::FindEncodings({}, "v1", Format::kJson).empty());
}

TEST_CASE("runtime: threads read, make and give up the encodings of the same objects",
          "[runtime]") {
  const auto share = std::make_shared<EvictingShare>(4000);
  std::vector<ObjectPtr> objects;
  for (int i = 0; i < 16; ++i) objects.push_back(std::make_shared<const Object>(Untyped(), "v1"));
  std::atomic<int> wrong = 0;
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back("reader", [&] {
        for (int i = 0; i < 4000; ++i) {
          const Object& object = *objects[i % objects.size()];
          const std::string body(200, static_cast<char>('a' + i % 16));
          EncodingPtr found = object.FindEncoding("v1", Format::kJson);
          if (!found) {
            found = object.StoreEncoding("v1", Format::kJson, EncodingOf(body), share);
          }
          if (found->ToString() != body) ++wrong;
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(share->used() <= 4000);
  objects.clear();
  CHECK(share->used() == 0);
}

TEST_CASE("runtime: an encoding shares bytes and splices its revision in", "[runtime]") {
  const auto bytes = std::make_shared<const std::string>("<{name}>");
  const Encoding encoding({.bytes = bytes, .begin = 1, .size = 6, .at = 5, .inserted = ",rv:7"},
                          {.rv_begin = 9, .rv_end = 10, .metadata_begin = 0, .metadata_end = 11});
  CHECK(encoding.ToString() == "{name,rv:7}");
  CHECK(encoding.size() == 11);
  CHECK(encoding.own_bytes() == 0);
  std::string part;
  encoding.AppendTo(part, encoding.marks().rv_begin, encoding.marks().rv_end);
  CHECK(part == "7");
  part.clear();
  encoding.AppendTo(part, 3, 11);
  CHECK(part == "me,rv:7}");
}

TEST_CASE("runtime: threads that store the same encoding agree on one", "[runtime]") {
  const Object object(Untyped(), "v1");
  constexpr int kThreads = 8;
  constexpr int kVersions = 16;
  std::vector<std::vector<EncodingPtr>> kept(kThreads);
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("writer", [&, i] {
        for (int v = 0; v < kVersions; ++v) {
          const std::string version = "v" + std::to_string(v);
          kept[i].push_back(
              object.StoreEncoding(version, Format::kJson, EncodingOf(std::to_string(i))));
        }
      });
    }
  }
  for (int v = 0; v < kVersions; ++v) {
    const EncodingPtr found = object.FindEncoding("v" + std::to_string(v), Format::kJson);
    for (int i = 0; i < kThreads; ++i) REQUIRE(kept[i][v] == found);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
