#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/patch/apply/updater.h"
#include "require.h"

// Applies: the input is an OpenAPI schema (or nothing, for the deduced type), a newline, a
// configuration, a newline, and another manager's. Both are applied, then the second once more,
// then the first alone again, and the result is written by an update.
namespace {

namespace codec = apiserver::codec;
namespace apply = apiserver::patch::apply;
namespace runtime = apiserver::runtime;
using apiserver::Result;
using apiserver_fuzz::Require;

class SameConverter final : public apply::Converter {
 public:
  explicit SameConverter(const apply::ParseableType& type) : type_(type) {}
  const apply::ParseableType* TypeOf(std::string_view) const override { return &type_; }
  Result<runtime::Value> Convert(runtime::Value object, std::string_view, std::string_view,
                                 runtime::Arena&) const override {
    return object;
  }

 private:
  const apply::ParseableType& type_;
};

// One object and who owns what of it.
class Writer {
 public:
  explicit Writer(const apply::ParseableType& type) : type_(type) {}

  void Apply(const apply::TypedValue& config, std::string_view manager) {
    const auto applied = updater_.Apply(
        Live(), config, {.version = "v1", .managers = managers_, .manager = manager, .force = true},
        arena_);
    if (!applied.ok()) return;
    Require(applied->conflicts.empty());
    live_ = applied->object.value();
    managers_ = applied->managers;
    CheckManagers();
  }

  void Update(const apply::TypedValue& object, std::string_view manager) {
    const auto managers = updater_.Update(
        Live(), object, {.version = "v1", .managers = managers_, .manager = manager}, arena_);
    if (!managers.ok()) return;
    live_ = object.value();
    managers_ = *managers;
    CheckManagers();
  }

 private:
  apply::TypedValue Live() const { return {live_, type_}; }

  void CheckManagers() {
    for (const auto& [manager, owned] : managers_) {
      Require(!owned.set.Empty());
      std::string json;
      apply::AppendFieldsV1(owned.set, json);
      const auto back = apply::DecodeFieldsV1(arena_.Copy(json), arena_);
      // Values that are lists or maps, within keys, may be nested more deeply than is read.
      if (back.ok()) Require(*back == owned.set);
    }
    const auto set = Live().ToFieldSet(arena_);
    if (set.ok()) (void)Live().ExtractItems(*set, arena_, {.append_key_fields = true});
  }

  runtime::Arena arena_;
  const apply::ParseableType& type_;
  SameConverter converter_{type_};
  apply::Updater updater_{converter_};
  runtime::Value live_;
  apply::Managers managers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t first = input.find('\n');
  if (first == std::string_view::npos) return 0;
  const std::size_t second = input.find('\n', first + 1);
  if (second == std::string_view::npos) return 0;
  runtime::SchemaPtr schema;
  if (first != 0) {
    const auto loaded = codec::SchemaFromText(input.substr(0, first));
    if (!loaded.ok()) return 0;
    schema = *loaded;
  }
  const apply::ParseableType type(schema);
  runtime::Arena arena;
  const auto one = codec::ParseJson(input.substr(first + 1, second - first - 1), arena);
  const auto two = codec::ParseJson(input.substr(second + 1), arena);
  if (!one.ok() || !two.ok()) return 0;
  const auto config = apply::AsTyped(*one, type);
  const auto other = apply::AsTyped(*two, type);
  if (!config.ok() || !other.ok()) return 0;
  Writer writer(type);
  writer.Apply(*config, "one");
  writer.Apply(*other, "two");
  writer.Apply(*other, "two");
  writer.Apply(*other, "one");
  writer.Update(*config, "three");
  return 0;
}
