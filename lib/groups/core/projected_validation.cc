#include <cstdint>
#include <set>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/container_validation.h"
#include "groups/core/volume_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::int64_t kTokenSecondsMin = 600;
constexpr std::int64_t kTokenSecondsMax = std::int64_t{1} << 32;

void CheckDownwardFile(Value file, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, file, "path");
  CheckNotReservedPath(errors, path.Child("path"), file["path"].AsString());
  const bool resource = !file["resourceFieldRef"].is_null();
  if (!file["fieldRef"].is_null()) {
    CheckFieldRef(file["fieldRef"], true, path.Child("fieldRef"), errors);
    if (resource) {
      errors.Invalid(path, "resource",
                     "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resource) {
    CheckResourceFieldRef(file["resourceFieldRef"], true, path.Child("resourceFieldRef"), errors);
  } else {
    errors.Required(path, "one of fieldRef and resourceFieldRef is required");
  }
  CheckFileMode(errors, path.Child("mode"), file["mode"]);
}

// The sources of one projected volume, whose files must not have the same path.
class Projection {
 public:
  Projection(const Path& path, ErrorList& errors) : path_(path), errors_(errors) {}

  void Check(Value source, const Path& at) {
    int types = CheckKeys(source, "secret", at) + CheckKeys(source, "configMap", at);
    if (const Value files = source["downwardAPI"]; !files.is_null()) {
      ++types;
      for (const Value& file : files["items"].items()) {
        CheckDownwardFile(file, at.Child("downwardAPI"), errors_);
        Take(file["path"].AsString(), file["path"].AsString());
      }
    }
    if (const Value token = source["serviceAccountToken"]; !token.is_null()) {
      ++types;
      CheckToken(token, at.Child("serviceAccountToken"));
    }
    if (types > 1) errors_.Forbidden(at, "may not specify more than 1 volume type per source");
  }

 private:
  // Returns how many sources of the type there are.
  int CheckKeys(Value source, const char* type, const Path& at) {
    const Value keys = source[type];
    if (keys.is_null()) return 0;
    const Path own = at.Child(type);
    CheckPresent(errors_, own, keys, "name");
    std::size_t i = 0;
    for (const Value& item : keys["items"].items()) {
      CheckKeyToPath(item, own.Child("items").Index(i++), errors_);
      Take(item["path"].AsString(), keys["name"].AsString());
    }
    return 1;
  }

  void CheckToken(Value token, const Path& at) {
    const std::int64_t seconds = token["expirationSeconds"].AsInt();
    if (seconds < kTokenSecondsMin) {
      InvalidNumber(errors_, at.Child("expirationSeconds"), seconds,
                    "may not specify a duration less than 10 minutes");
    }
    if (seconds > kTokenSecondsMax) {
      InvalidNumber(errors_, at.Child("expirationSeconds"), seconds,
                    "may not specify a duration larger than 2^32 seconds");
    }
    // Upstream names the volume here, and not the source.
    if (!CheckPresent(errors_, path_, token, "path")) return;
    CheckNotReservedPath(errors_, path_.Child("path"), token["path"].AsString());
  }

  void Take(std::string_view file, std::string_view shown) {
    if (file.empty() || files_.insert(file).second) return;
    errors_.Invalid(path_, shown, "conflicting duplicate paths");
  }

  const Path path_;
  ErrorList& errors_;
  std::set<std::string_view> files_;
};

}  // namespace

void CheckKeyToPath(Value item, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, item, "key");
  CheckPresent(errors, path, item, "path");
  CheckNotReservedPath(errors, path.Child("path"), item["path"].AsString());
  CheckFileMode(errors, path.Child("mode"), item["mode"]);
}

void CheckDownwardFiles(Value files, const Path& path, ErrorList& errors) {
  for (const Value& file : files.items()) CheckDownwardFile(file, path, errors);
}

void CheckProjectedSource(Value projected, const Path& path, ErrorList& errors) {
  CheckFileMode(errors, path.Child("defaultMode"), projected["defaultMode"]);
  Projection projection(path, errors);
  std::size_t i = 0;
  for (const Value& source : projected["sources"].items()) {
    if (errors.full()) return;
    projection.Check(source, path.Child("sources").Index(i++));
  }
}

}  // namespace apiserver::v0::groups::core
