#include <catch2/catch.hpp>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "runtime/convert_and_settle.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Print;

const Context kCtx = Context::Background();

SchemaPtr WithFields(const std::string& one, const std::string& other) {
  return testing::WithSpec(
      StructBuilder("").Field(one, StringSchema()).Field(other, StringSchema()).Build());
}

std::function<Status(Object&)> Rename(std::string from, std::string to) {
  return [from, to](Object& object) {
    object.Edit("spec", to) = object["spec"][from].AsString();
    object.Erase("spec", from);
    return Status();
  };
}

// The hub v2 says "reference", v1 "ref", v1beta1 what the hub says; v3 is broken.
KindPtr Versions(std::shared_ptr<const VersionConverter> converter = nullptr) {
  KindOptions options;
  options.converter = std::move(converter);
  options.group = "example.com";
  options.kind = "Widget";
  options.plural = "widgets";
  options.hub_version = "v2";
  const auto add = [&](std::string name, SchemaPtr schema) -> KindVersion& {
    KindVersion version;
    version.version = std::move(name);
    version.schema = std::move(schema);
    options.versions.push_back(std::move(version));
    return options.versions.back();
  };
  KindVersion& v1 = add("v1", WithFields("ref", "size"));
  v1.to_hub = Rename("ref", "reference");
  v1.from_hub = Rename("reference", "ref");
  add("v2", WithFields("reference", "size"));
  add("v1beta1", WithFields("reference", "size"));
  KindVersion& v3 = add("v3", WithFields("reference", "size"));
  v3.to_hub = [](Object&) -> Status { throw std::runtime_error("thrown"); };
  v3.from_hub = [](Object& object) {
    object.Edit("spec", "reference") = "half done";
    return Status(Reason::kInvalid, "refused");
  };
  return Kind::New(std::move(options)).value();
}

TEST_CASE("runtime: versions convert through the hub, fields in the target's order", "[runtime]") {
  const auto object =
      ObjectOf(Versions(), R"({"metadata":{"name":"n"},"spec":{"ref":"r","size":"s"}})", "v1");
  REQUIRE(Convert(kCtx, *object, "v1beta1").ok());
  CHECK(object->version() == "v1beta1");
  CHECK(Print(*object) == R"({"metadata":{"name":"n"},"spec":{"reference":"r","size":"s"}})");
  REQUIRE(Convert(kCtx, *object, "v1").ok());
  CHECK(Print(*object) == R"({"metadata":{"name":"n"},"spec":{"ref":"r","size":"s"}})");
}

TEST_CASE("runtime: converting to the same shape changes the version alone", "[runtime]") {
  const auto object = ObjectOf(Versions(), R"({"spec":{"size":"s"}})", "v2");
  const void* const before = object->root().members().data();
  REQUIRE(Convert(kCtx, *object, "v2").ok());
  REQUIRE(Convert(kCtx, *object, "v1beta1").ok());
  CHECK(object->root().members().data() == before);
  CHECK(object->version() == "v1beta1");
}

TEST_CASE("runtime: what a conversion changes is settled, what it leaves alone is shared",
          "[runtime]") {
  KindOptions options;
  options.group = "example.com";
  options.kind = "Widget";
  options.plural = "widgets";
  options.hub_version = "v2";
  KindVersion v1{.version = "v1", .schema = WithFields("ref", "size")};
  v1.to_hub = [](Object& object) {
    object.Edit("spec", "reference") = object["spec"]["ref"].AsString();
    if (object["spec"]["ref"].AsString() == "labels") {
      object.Edit("metadata", "labels", "z") = "1";
      object.Edit("metadata", "labels", "b") = "2";
    }
    return Status();
  };
  v1.from_hub = Rename("reference", "ref");
  options.versions = {v1, {.version = "v2", .schema = WithFields("reference", "size")}};
  const KindPtr kind = Kind::New(options).value();

  const auto object =
      ObjectOf(kind, R"({"metadata":{"name":"n"},"spec":{"ref":"r","size":"s"}})", "v1");
  const void* const metadata = object->metadata().members().data();
  REQUIRE(Convert(kCtx, *object, "v2").ok());
  CHECK(Print(*object) == R"({"metadata":{"name":"n"},"spec":{"reference":"r","size":"s"}})");
  CHECK(object->metadata().members().data() == metadata);

  const auto labelled = ObjectOf(
      kind, R"({"metadata":{"name":"n","labels":{"x":"0"}},"spec":{"ref":"labels"}})", "v1");
  REQUIRE(Convert(kCtx, *labelled, "v2").ok());
  CHECK(Print(*labelled) == R"({"metadata":{"name":"n","labels":{"b":"2","x":"0","z":"1"}},)"
                            R"("spec":{"reference":"labels"}})");
}

TEST_CASE("runtime: converting and settling at once gives what one after the other does",
          "[runtime]") {
  for (const char* const content :
       {R"({"metadata":{"name":"n"},"spec":{"reference":"r","size":"s"}})",
        R"({"spec":{"size":"s","reference":"r","x":1},)"
        R"("metadata":{"labels":{"b":"1","a":"2"},"name":"n"}})",
        R"({"metadata":{"generation":0,"name":""},"spec":null})", "{}"}) {
    for (const char* const version : {"v1", "v1beta1", "v2"}) {
      INFO(content << " " << version);
      const auto apart = ObjectOf(Versions(), content, "v2");
      REQUIRE(Convert(kCtx, *apart, version).ok());
      REQUIRE(Settle(*apart, {.defaults = false}).ok());
      const auto together = ObjectOf(Versions(), content, "v2");
      REQUIRE(ConvertAndSettle(kCtx, *together, version).ok());
      CHECK(Print(*together) == Print(*apart));
      CHECK(together->version() == version);
    }
  }
}

TEST_CASE("runtime: converting and settling at once tells whose fault it is", "[runtime]") {
  const auto missing = ObjectOf(Versions(), "{}", "v2");
  CHECK(ConvertAndSettle(kCtx, *missing, "v9").reason() == Reason::kBadRequest);
  const auto refused = ObjectOf(Versions(), R"({"spec":{"reference":"r"}})", "v2");
  CHECK(ConvertAndSettle(kCtx, *refused, "v3").message() ==
        "conversion of example.com/v2, Kind=Widget failed: refused");
  const auto unfit = ObjectOf(Versions(), R"({"metadata":{"name":1}})", "v2");
  const Status status = ConvertAndSettle(kCtx, *unfit, "v1beta1");
  CHECK(status.reason() == Reason::kInternalError);
  CHECK(status.message().find("cannot unmarshal number") != std::string::npos);
}

TEST_CASE("runtime: a version that does not exist is a bad request", "[runtime]") {
  const auto object = ObjectOf(Versions(), "{}", "v1");
  const Status status = Convert(kCtx, *object, "v9");
  CHECK(status.reason() == Reason::kBadRequest);
  CHECK(status.message() == "no version \"v9\" of Widget.example.com");
}

TEST_CASE("runtime: a failed or throwing conversion leaves the object as it was", "[runtime]") {
  const auto object = ObjectOf(Versions(), R"({"spec":{"ref":"r"}})", "v1");
  const Status refused = Convert(kCtx, *object, "v3");
  CHECK(refused.reason() == Reason::kInternalError);
  CHECK(refused.message() == "conversion of example.com/v2, Kind=Widget failed: refused");
  CHECK(object->version() == "v1");
  CHECK(Print(*object) == R"({"spec":{"ref":"r"}})");

  const auto broken = ObjectOf(Versions(), "{}", "v3");
  CHECK(Convert(kCtx, *broken, "v1").message() ==
        "conversion of example.com/v3, Kind=Widget failed: thrown");
}

// Asks the functions, as a converter that may wait; changes every object, then fails at the last if
// it is told to.
class Counting final : public VersionConverter {
 public:
  Status Convert(const Context& ctx, std::span<Object* const> objects,
                 std::string_view version) const override {
    calls.push_back(objects.size());
    RETURN_IF_ERROR(FunctionConverter()->Convert(ctx, objects, version));
    return fails ? Status(Reason::kTimeout, "nobody answers") : Status();
  }
  bool may_wait() const override { return waits; }

  mutable std::vector<std::size_t> calls;
  bool fails = false;
  bool waits = true;
};

ObjectPtr Frozen(const KindPtr& kind, std::string_view json, std::string_view version) {
  return ObjectOf(kind, json, version);
}

TEST_CASE("runtime: a kind's converter is asked once for what is in other versions", "[runtime]") {
  const auto converter = std::make_shared<Counting>();
  const KindPtr kind = Versions(converter);
  const std::vector<ObjectPtr> objects = {Frozen(kind, R"({"spec":{"ref":"a"}})", "v1"),
                                          Frozen(kind, R"({"spec":{"reference":"b"}})", "v2"),
                                          Frozen(kind, R"({"spec":{"reference":"c"}})", "v1beta1")};
  const auto converted = Converted(kCtx, objects, "v2").value();
  CHECK(converter->calls == std::vector<std::size_t>{2});
  CHECK(Print(*converted[0]) == R"({"metadata":{},"spec":{"reference":"a"}})");
  CHECK(converted[1] == objects[1]);
  CHECK(converted[2]->version() == "v2");
  CHECK(Print(*objects[0]) == R"({"spec":{"ref":"a"}})");

  CHECK(Converted(kCtx, converted, "v2").value() == converted);
  CHECK(Converted(kCtx, nullptr, "v2").value() == nullptr);
  CHECK(converter->calls.size() == 1);
}

TEST_CASE("runtime: a frozen object keeps its form in one other version", "[runtime]") {
  const auto converter = std::make_shared<Counting>();
  const KindPtr kind = Versions(converter);
  ObjectPtr object = Frozen(kind, R"({"spec":{"ref":"a","size":"s"}})", "v1");
  const std::size_t bytes = object->bytes();
  ObjectPtr hub = Converted(kCtx, object, "v2").value();
  CHECK(object->bytes() > bytes);
  CHECK(Converted(kCtx, object, "v2").value() == hub);
  CHECK(Converted(kCtx, std::span(&object, 1), "v2").value().front() == hub);
  CHECK(converter->calls.size() == 1);

  // There is room for no third one, which is as good nevertheless.
  ObjectPtr other = Converted(kCtx, object, "v1beta1").value();
  CHECK(Converted(kCtx, object, "v1beta1").value() != other);
  CHECK(converter->calls.size() == 3);

  // Each lives as long as somebody has it, whatever becomes of the object.
  const std::weak_ptr<const Object> gone = object;
  object.reset();
  CHECK(Print(*hub) == R"({"metadata":{},"spec":{"reference":"a","size":"s"}})");
  hub.reset();
  CHECK(Print(*other) == R"({"metadata":{},"spec":{"reference":"a","size":"s"}})");
  CHECK_FALSE(gone.expired());
  other.reset();
  CHECK(gone.expired());
}

TEST_CASE("runtime: a converter that fails leaves all objects as they were", "[runtime]") {
  const auto converter = std::make_shared<Counting>();
  converter->fails = true;
  const KindPtr kind = Versions(converter);
  const auto one = ObjectOf(kind, R"({"spec":{"ref":"a"}})", "v1");
  const auto other = ObjectOf(kind, R"({"spec":{"reference":"b"}})", "v1beta1");
  Object* const objects[] = {one.get(), other.get()};
  const Status failed = Convert(kCtx, objects, "v2");
  CHECK(failed.reason() == Reason::kTimeout);
  CHECK(failed.message() == "nobody answers");
  CHECK(Print(*one) == R"({"spec":{"ref":"a"}})");
  CHECK(one->version() == "v1");
  CHECK(Print(*other) == R"({"spec":{"reference":"b"}})");
  CHECK(other->version() == "v1beta1");
}

TEST_CASE("runtime: a converter that may wait is not called where nothing may", "[runtime]") {
  const auto converter = std::make_shared<Counting>();
  const Context on_loop = kCtx.WithMayBlock(false);
  const auto object = ObjectOf(Versions(converter), R"({"spec":{"ref":"a"}})", "v1");
  CHECK(Convert(on_loop, *object, "v2").reason() == Reason::kWouldBlock);
  CHECK(Convert(on_loop, *object, "v1").ok());
  CHECK(converter->calls.empty());
  converter->waits = false;
  CHECK(Convert(on_loop, *object, "v2").ok());
}

TEST_CASE("runtime: a converter that does nothing is found out", "[runtime]") {
  class Idle final : public VersionConverter {
    Status Convert(const Context&, std::span<Object* const>, std::string_view) const override {
      return {};
    }
    bool may_wait() const override { return false; }
  };
  const auto object = ObjectOf(Versions(std::make_shared<Idle>()), R"({"spec":{}})", "v1");
  CHECK(Convert(kCtx, *object, "v2").message() ==
        "conversion of example.com/v1, Kind=Widget failed: the converter left it as it was");
}

// Fails as bytes do that are no object.
class Broken final : public ContentLoader {
  Status Load(const Object&, Arena&, Value&) const override {
    return Status(Reason::kInternalError, "no object");
  }
};

TEST_CASE("runtime: what cannot be read is not converted", "[runtime]") {
  const auto converter = std::make_shared<Counting>();
  const KindPtr kind = Versions(converter);
  const Broken broken;
  const auto unread = std::make_shared<const Object>(
      kind, "v1", Object::Source{std::make_shared<const std::string>("x"), 1, &broken});
  CHECK(Converted(kCtx, unread, "v2").status().message() == "no object");
  CHECK(converter->calls.empty());

  // It is visited nevertheless, and the others are converted.
  const std::vector<ObjectPtr> objects = {unread, Frozen(kind, R"({"spec":{"ref":"a"}})", "v1")};
  std::vector<std::string> seen(2);
  const auto visit = [&](std::size_t at, const Object& object) { seen[at] = Print(object); };
  REQUIRE(VisitConverted(kCtx, objects, "v2", visit).ok());
  CHECK(seen == std::vector<std::string>{"{}", R"({"metadata":{},"spec":{"reference":"a"}})"});
  CHECK(converter->calls == std::vector<std::size_t>{1});
}

TEST_CASE("runtime: objects are visited together if converting them may wait", "[runtime]") {
  const auto converter = std::make_shared<Counting>();
  const KindPtr kind = Versions(converter);
  const std::vector<ObjectPtr> objects = {Frozen(kind, R"({"spec":{"ref":"a"}})", "v1"),
                                          Frozen(kind, R"({"spec":{"ref":"b"}})", "v1")};
  converter->waits = GENERATE(true, false);
  int visited = 0;
  REQUIRE(VisitConverted(kCtx, objects, "v2", [&](std::size_t, const Object& object) {
            CHECK(object.version() == "v2");
            ++visited;
          }).ok());
  CHECK(visited == 2);
  const std::vector<std::size_t> together = {2};
  const std::vector<std::size_t> one_by_one = {1, 1};
  CHECK(converter->calls == (converter->waits ? together : one_by_one));
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
