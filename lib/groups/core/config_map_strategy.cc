#include "groups/core/config_map_strategy.h"

#include <cstdint>
#include <string>

#include "apiserver/meta/validation.h"
#include "groups/columns.h"
#include "groups/core/checks.h"
#include "groups/core/secret_data.h"
#include "groups/core/validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr const char* kImmutable = "field is immutable when `immutable` is set";

// Checks the keys of `data` or `binaryData`, and returns how many bytes their values have.
std::size_t CheckData(Value data, const Path& path, ErrorList& errors, bool binary) {
  std::size_t bytes = 0;
  for (const runtime::Member& member : data.members()) {
    if (!errors.full())
      AddComplaints(errors, path.Key(member.key), member.key, IsConfigMapKey(member.key));
    bytes += binary ? SecretValue(member.value).value_or(std::string()).size()
                    : member.value.AsString().size();
  }
  return bytes;
}

ErrorList ValidateConfigMap(const Object& config) {
  ErrorList errors =
      ValidateCoreMeta(config.metadata(), /*namespaced=*/true, meta::NameIsDNSSubdomain);
  const Value data = config["data"];
  const Value binary = config["binaryData"];
  std::size_t bytes = CheckData(data, Path("data"), errors, /*binary=*/false);
  bytes += CheckData(binary, Path("binaryData"), errors, /*binary=*/true);
  for (const runtime::Member& member : data.members()) {
    if (binary.Find(member.key) == nullptr || errors.full()) continue;
    errors.Invalid(Path("data").Key(member.key), member.key,
                   "duplicate of key present in binaryData");
  }
  // Upstream's path has an empty name, which it prints so.
  if (bytes > kSecretBytesMax) errors.TooLong(Path("[]"), static_cast<long>(kSecretBytesMax));
  return errors;
}

// Follows pkg/registry/core/configmap/strategy.go.
class ConfigMapStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  ErrorList Validate(const Context& /*ctx*/, const Object& config) const override {
    return ValidateConfigMap(config);
  }
  ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& config,
                           const Object& old) const override {
    ErrorList errors = ValidateCoreMetaUpdate(config.metadata(), old.metadata());
    if (old["immutable"].AsBool()) {
      if (!config["immutable"].AsBool()) errors.Forbidden(Path("immutable"), kImmutable);
      for (const char* const key : {"data", "binaryData"}) {
        if (!(config[key] == old[key])) errors.Forbidden(Path(key), kImmutable);
      }
    }
    errors.Append(ValidateConfigMap(config));
    return errors;
  }
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewConfigMapStrategy() {
  return std::make_shared<ConfigMapStrategy>();
}

std::shared_ptr<const rest::TableConvertor> NewConfigMapColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("Data", "How many values."), AgeColumn()},
      [](const Object& config, Cells& cells) {
        cells.Text(config.name())
            .Number(static_cast<std::int64_t>(config["data"].size() + config["binaryData"].size()))
            .Age(config);
      },
      clock);
}

}  // namespace apiserver::v0::groups::core
