// A write that leaves all owners as they are does not decode their sets. It must give what decoding
// them gives, which is forced here by owners that are text.
#include "patch/apply/kept_owners.h"

#include <random>

#include "field_manager_fixture.h"
#include "patch/apply/managers.h"
#include "patch/apply/type.h"

namespace apiserver::inline v0::test {
namespace {

// Returns the object with its owners in parsed form, as a storage gives it, or as text.
std::unique_ptr<runtime::Object> WithOwners(const runtime::Object& object, bool parsed) {
  auto copy = object.Clone();
  runtime::ListBuilder owners(copy->arena());
  for (const Value owner : copy->metadata()["managedFields"].items()) {
    std::string json;
    codec::AppendJson(owner["fieldsV1"], json);
    const std::string_view text = copy->arena().Copy(json);
    const Value fields = parsed ? *codec::ParseJson(text, copy->arena()) : Value::Raw(text);
    owners.Add(runtime::With(owner, "fieldsV1", fields, copy->arena()));
  }
  if (copy->metadata()["managedFields"].size() > 0) {
    copy->SetPath({"metadata", "managedFields"}, owners.Build());
  }
  return copy;
}

std::string OwnersOf(const runtime::Object& object) {
  std::string json;
  codec::AppendJson(object.metadata()["managedFields"], json);
  return json;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int end) { return static_cast<int>(engine_() % static_cast<unsigned>(end)); }
  bool OneOf(int many) { return Below(many) == 0; }

 private:
  std::mt19937 engine_;
};

std::string RandomBody(Random& random) {
  std::string members;
  for (const char* const key : {"a", "b", "c/d", "é"}) {
    if (random.OneOf(4)) continue;
    members.append(members.empty() ? "\"" : ",\"").append(key).append("\":\"");
    members.append(std::to_string(random.Below(2))).append("\"");
  }
  std::string body = R"({"metadata":{"name":"x","generation":)" + std::to_string(random.Below(3));
  if (!random.OneOf(3)) body.append(R"(,"labels":{"one":"1"})");
  body.append(R"(,"annotations":{)").append(random.OneOf(3) ? "" : members).append("}}");
  body.append(R"(,"spec":{"replicas":)").append(std::to_string(random.Below(2)));
  if (random.OneOf(2)) body.append(R"(,"selector":{"matchLabels":{"x":"y"}})");
  return body.append("}}");
}

// Returns the fields that get no owner: mostly none.
FieldFilters RandomFilters(Random& random) {
  const Path replicas{PathElement::FieldName("spec"), PathElement::FieldName("replicas")};
  switch (random.Below(6)) {
    case 0: {
      runtime::Arena arena;
      return {{"apps/v1", FieldFilter::Exclude(NewFieldSet({replicas}, arena))}};
    }
    case 1: {
      const std::vector<FieldPattern> patterns{{replicas.begin(), replicas.end()}};
      return {{"apps/v1", FieldFilter::Include(patterns)}};
    }
    default:
      return {};
  }
}

}  // namespace

TEST_CASE("field manager: owners that stay are what decoding them gives", "[apply]") {
  for (const std::string_view subresource : {"", "status"}) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      Random random(seed);
      TestFieldManager::Options options{.subresource = std::string(subresource)};
      if (random.OneOf(2)) options.update_managers_max = 2;
      TestFieldManager f(DeploymentKind(), options);
      auto clock = SteppedClock();
      const FieldManager manager({.types = std::make_shared<TypeConverter>(DeploymentKind()),
                                  .version = "v1",
                                  .subresource = std::string(subresource),
                                  .reset_fields = RandomFilters(random),
                                  .update_managers_max = options.update_managers_max,
                                  .clock = &clock});
      runtime::ObjectPtr live = f.Parse("{}");
      for (int i = 0; i < 30; ++i) {
        clock.Step();
        const std::string body = RandomBody(random);
        const std::string name = std::string("m").append(std::to_string(random.Below(3)));
        INFO(seed << ' ' << body << ' ' << name << ' ' << OwnersOf(*live));
        auto by_text = f.Parse(body);
        auto kept = f.Parse(body);
        const auto parsed = WithOwners(*live, /*parsed=*/true);
        if (random.OneOf(2) && live->metadata()["managedFields"].size() > 0) {
          // A patch leaves the owners in the object.
          kept->SetPath({"metadata", "managedFields"}, parsed->metadata()["managedFields"]);
        }
        manager.Update(Context::Background(), WithOwners(*live, /*parsed=*/false).get(), *by_text,
                       name);
        manager.Update(Context::Background(), parsed.get(), *kept, name);
        REQUIRE(OwnersOf(*kept) == OwnersOf(*by_text));
        live = WithOwners(*kept, /*parsed=*/true);
      }
    }
  }
}

TEST_CASE("field manager: owners that stay in an apply are what decoding them gives", "[apply]") {
  int same = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    auto clock = SteppedClock();
    const FieldManager manager({.types = std::make_shared<TypeConverter>(DeploymentKind()),
                                .version = "v1",
                                .reset_fields = RandomFilters(random),
                                .clock = &clock});
    TestFieldManager f(DeploymentKind());
    runtime::ObjectPtr live = f.Parse(R"({"metadata":{"uid":"1"}})");
    for (int i = 0; i < 40; ++i) {
      clock.Step();
      const std::string body = RandomBody(random);
      const std::string name = std::string("m").append(std::to_string(random.Below(3)));
      const bool force = random.OneOf(2);
      INFO(seed << ' ' << body << ' ' << name << ' ' << force << ' ' << OwnersOf(*live));
      const auto apply = [&](bool parsed) {
        auto applied = std::make_shared<AppliedConfiguration>();
        const std::string json = R"({"apiVersion":"apps/v1","kind":"Deployment",)" + body.substr(1);
        applied->root = *codec::ParseJson(applied->arena.Copy(json), applied->arena);
        return manager.Apply(Context::Background(), WithOwners(*live, parsed), applied, name,
                             force);
      };
      if (random.OneOf(4)) {
        auto object = f.Parse(body);
        manager.Update(Context::Background(), live.get(), *object, name);
        live = std::move(object);
        continue;
      }
      const auto by_text = apply(/*parsed=*/false);
      const auto kept = apply(/*parsed=*/true);
      REQUIRE(kept.status().ToString() == by_text.status().ToString());
      if (!kept.ok()) continue;
      std::string expected;
      std::string json;
      codec::AppendJson((*by_text)->root(), expected);
      codec::AppendJson((*kept)->root(), json);
      REQUIRE(json == expected);
      if (OwnersOf(*kept.value()) == OwnersOf(*live)) ++same;
      live = WithOwners(**kept, /*parsed=*/true);
    }
  }
  CHECK(same > 0);
}

TEST_CASE("field manager: owners stay unless a field changes hands", "[apply]") {
  const ParseableType type(DeploymentSchema());
  runtime::Arena arena;
  const auto entries = [&arena](std::string_view fields) {
    const std::string json =
        R"([{"manager":"a","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1",)"
        R"("fieldsV1":)" +
        std::string(fields) + "}]";
    return *codec::ParseJson(arena.Copy(json), arena);
  };
  const auto read = [&](std::string_view fields) {
    return KeptOwners::Read(entries(fields), "apps/v1", type.type(), 10);
  };
  // Others than these are encoded in another form, or may be.
  CHECK(read(R"({"f:spec":{"f:replicas":{}}})").has_value());
  CHECK(read(R"({"f:spec":{".":{},"f:replicas":{}}})").has_value());
  CHECK(read(R"({"f:spec":{"f:selector":{}}})").has_value());
  for (const std::string_view fields :
       {R"({})", R"({".":{}})", R"({"f:spec":{".":{}}})", R"({"f:b":{},"f:a":{}})", R"({"f:<":{}})",
        R"({"k:{\"name\":\"x\"}":{}})", R"({"x":{}})", R"({"f:a":1})", R"("text")",
        R"({"f:a":{".":1}})", R"({"f:spec":{"f:selector":{"f:matchLabels":{}}}})"}) {
    INFO(fields);
    CHECK_FALSE(read(fields).has_value());
  }
  CHECK_FALSE(KeptOwners::Read(entries(R"({"f:a":{}})"), "apps/v2", type.type(), 10).has_value());
  CHECK_FALSE(KeptOwners::Read(entries(R"({"f:a":{}})"), "apps/v1", type.type(), 0).has_value());

  const auto set = [&arena](std::initializer_list<Path> paths) {
    return NewFieldSet(paths, arena);
  };
  const Path replicas{PathElement::FieldName("spec"), PathElement::FieldName("replicas")};
  const Path paused{PathElement::FieldName("spec"), PathElement::FieldName("paused")};
  const Path generation{PathElement::FieldName("metadata"), PathElement::FieldName("generation")};
  const auto stays = [&](const Comparison& changes, std::string_view manager) {
    auto kept = read(R"({"f:spec":{"f:replicas":{}}})");
    return kept->Stay(changes, NobodysFields(),
                      {.info = {.manager = std::string(manager),
                                .operation = "Update",
                                .api_version = "apps/v1",
                                .subresource = ""},
                       .time = std::nullopt,
                       .fields_v1 = Value()});
  };
  CHECK(stays({}, "a"));
  CHECK(stays({}, "b"));
  CHECK(stays({.modified = set({replicas})}, "a"));
  CHECK(stays({.added = set({replicas})}, "a"));
  CHECK(stays({.removed = set({paused}), .modified = set({generation})}, "b"));
  CHECK_FALSE(stays({.modified = set({replicas})}, "b"));
  CHECK_FALSE(stays({.removed = set({replicas})}, "a"));
  CHECK_FALSE(stays({.modified = set({replicas, paused})}, "a"));
  CHECK_FALSE(stays({.modified = set({paused})}, "b"));
}

}  // namespace apiserver::inline v0::test
