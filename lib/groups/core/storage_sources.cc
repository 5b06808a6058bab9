#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/volume_validation.h"
#include "text/ascii.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::int64_t kPartitionMax = 255;
constexpr std::int64_t kLunMax = 255;
constexpr std::size_t kTenantBytesEnd = 65;

// The sources of which upstream checks only that some members are there.
struct RequiredMembers {
  const char* type;
  std::array<const char*, 3> members;  // Null: no more.
};
constexpr RequiredMembers kRequired[] = {
    {"glusterfs", {"endpoints", "path"}},
    {"rbd", {"monitors", "image"}},
    {"cinder", {"volumeID"}},
    {"cephfs", {"monitors"}},
    {"azureFile", {"secretName", "shareName"}},
    {"vsphereVolume", {"volumePath"}},
    {"photonPersistentDisk", {"pdID"}},
    {"portworxVolume", {"volumeID"}},
    {"scaleIO", {"gateway", "system", "volumeName"}},
    {"gcePersistentDisk", {"pdName"}},
    {"awsElasticBlockStore", {"volumeID"}},
};

bool IsAlphanumeric(char c) { return text::IsLetter(c) || text::IsDigit(c); }

// "iqn.2015-02.example.com:test".
bool IsIqn(std::string_view name) {
  constexpr std::string_view kStart = "iqn.";
  constexpr std::string_view kPattern = "dddd-dd.";
  if (!name.starts_with(kStart)) return false;
  name.remove_prefix(kStart.size());
  if (name.size() < kPattern.size()) return false;
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == 'd' ? !text::IsDigit(name[i]) : name[i] != kPattern[i]) return false;
  }
  name.remove_prefix(kPattern.size());
  const std::size_t colon = name.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const auto domain = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '.'; };
  const auto rest = [](char c) {
    return std::string_view(",;*&$| \t\n\f\r").find(c) == std::string_view::npos;
  };
  return std::ranges::all_of(name.substr(0, colon), domain) && colon + 1 < name.size() &&
         std::ranges::all_of(name.substr(colon + 1), rest);
}

// "eui.0123456789ABCDEF" and "naa.<32>": a word, any character, and letters and digits.
bool IsNumbered(std::string_view name, std::size_t digits) {
  constexpr std::size_t kWord = 4;
  return name.size() == kWord + digits && std::ranges::all_of(name.substr(kWord), IsAlphanumeric);
}

void CheckInitiator(std::string_view name, const Path& path, ErrorList& errors) {
  constexpr std::size_t kEuiDigits = 16;
  constexpr std::size_t kNaaDigits = 32;
  const bool valid = name.starts_with("iqn") ? IsIqn(name)
                     : name.starts_with("eui")
                         ? IsNumbered(name, kEuiDigits)
                         : name.starts_with("naa") && IsNumbered(name, kNaaDigits);
  const bool known = name.starts_with("iqn") || name.starts_with("eui") || name.starts_with("naa");
  if (!known) {
    errors.Invalid(path, name, "must be valid format starting with iqn, eui, or naa");
  } else if (!valid) {
    errors.Invalid(path, name, "must be valid format");
  }
}

void CheckIscsi(Value source, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, source, "targetPortal");
  if (CheckPresent(errors, path, source, "iqn")) {
    CheckInitiator(source["iqn"].AsString(), path.Child("iqn"), errors);
  }
  CheckRange(errors, path.Child("lun"), source["lun"].AsInt(), 0, kLunMax);
  const bool chap = source["chapAuthDiscovery"].AsBool() || source["chapAuthSession"].AsBool();
  if (chap && source["secretRef"].is_null()) errors.Required(path.Child("secretRef"));
  if (const Value initiator = source["initiatorName"]; !initiator.is_null()) {
    CheckInitiator(initiator.AsString(), path.Child("initiatorname"), errors);
  }
}

void CheckFlocker(Value source, const Path& path, ErrorList& errors) {
  const std::string_view name = source["datasetName"].AsString();
  const bool uuid = source["datasetUUID"].size() != 0;
  if (name.empty() && !uuid) {
    errors.Required(path, "one of datasetName and datasetUUID is required");
  }
  if (!name.empty() && uuid) {
    errors.Invalid(path, "resource",
                   "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.find('/') != std::string_view::npos) {
    errors.Invalid(path.Child("datasetName"), name, "must not contain '/'");
  }
}

// Reports whether Go's net.SplitHostPort takes a text.
bool IsHostPort(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  if (text.starts_with('[')) {
    return text.find(']') + 1 == colon &&
           text.substr(0, colon).find_first_of("[]", 1) == colon - 1 &&
           text.substr(colon).find_first_of("[]") == std::string_view::npos;
  }
  return text.find(':') == colon && text.find_first_of("[]") == std::string_view::npos;
}

void CheckQuobyte(Value source, const Path& path, ErrorList& errors) {
  constexpr const char* kPairs = "must be a host:port pair or multiple pairs separated by commas";
  const std::string_view registry = source["registry"].AsString();
  if (registry.empty()) {
    errors.Required(path.Child("registry"), kPairs);
  } else if (source["tenant"].size() >= kTenantBytesEnd) {
    errors.Required(path.Child("tenant"),
                    "must be a UUID and may not exceed a length of 64 characters");
  } else {
    for (std::string_view rest = registry;;) {
      const std::size_t comma = rest.find(',');
      if (!IsHostPort(rest.substr(0, comma))) {
        errors.Invalid(path.Child("registry"), registry, kPairs);
      }
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  CheckPresent(errors, path, source, "volume");
}

void CheckFibreChannel(Value source, const Path& path, ErrorList& errors) {
  const Value names = source["targetWWNs"];
  const bool ids = source["wwids"].size() != 0;
  const Path at = path.Child("targetWWNs");
  if (names.size() == 0 && !ids) {
    errors.Required(at, "must specify either targetWWNs or wwids, but not both");
  }
  if (names.size() == 0) return;
  if (ids) {
    errors.InvalidPrinted(at, Printed(names),
                          "targetWWNs and wwids can not be specified simultaneously");
  }
  const Value lun = source["lun"];
  if (lun.is_null()) {
    errors.Required(path.Child("lun"), "lun is required if targetWWNs is specified");
  } else {
    CheckRange(errors, path.Child("lun"), lun.AsInt(), 0, kLunMax);
  }
}

void CheckFlexVolume(Value source, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, source, "driver");
  for (const runtime::Member& option : source["options"].members()) {
    const std::string domain = "." + LowerCase(option.key.substr(0, option.key.find('/')));
    if (!domain.ends_with(".kubernetes.io") && !domain.ends_with(".k8s.io")) continue;
    errors.Invalid(path.Child("options").Key(option.key), option.key,
                   "kubernetes.io and k8s.io namespaces are reserved");
  }
}

void CheckAzureDisk(Value source, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, source, "diskName");
  CheckPresent(errors, path, source, "diskURI");
  if (!source["cachingMode"].is_null()) {
    CheckWord(errors, path.Child("cachingMode"), source["cachingMode"].AsString(),
              {"None", "ReadOnly", "ReadWrite"});
  }
  const Value kind = source["kind"];
  if (kind.is_null()) return;
  CheckWord(errors, path.Child("kind"), kind.AsString(), {"Dedicated", "Managed", "Shared"});
  const std::string_view uri = source["diskURI"].AsString();
  const bool managed = kind.AsString() == "Managed";
  if (uri.starts_with(managed ? "/subscriptions/" : "https://")) return;
  errors.NotSupported(
      path.Child("diskURI"), uri,
      {managed ? "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/"
                 "disks/{disk-id}"
               : "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"});
}

void CheckStorageOs(Value source, const Path& path, ErrorList& errors) {
  if (CheckPresent(errors, path, source, "volumeName")) {
    CheckDnsLabel(errors, path.Child("volumeName"), source["volumeName"].AsString());
  }
  if (source["volumeNamespace"].size() != 0) {
    CheckDnsLabel(errors, path.Child("volumeNamespace"), source["volumeNamespace"].AsString());
  }
}

void CheckGitRepo(Value source, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, source, "repository");
  CheckDescendingPath(errors, path.Child("directory"), source["directory"].AsString());
}

bool CheckRequiredMembers(std::string_view type, Value source, const Path& path,
                          ErrorList& errors) {
  const auto row = std::ranges::find_if(
      kRequired, [&](const RequiredMembers& candidate) { return type == candidate.type; });
  if (row == std::end(kRequired)) return false;
  for (const char* const member : row->members) {
    if (member != nullptr) CheckPresent(errors, path, source, member);
  }
  return true;
}

}  // namespace

bool CheckStorageSource(std::string_view type, Value source, const Path& path, ErrorList& errors) {
  struct Row {
    const char* type;
    void (*check)(Value, const Path&, ErrorList&);
  };
  constexpr Row kRows[] = {{"gitRepo", &CheckGitRepo},     {"iscsi", &CheckIscsi},
                           {"flocker", &CheckFlocker},     {"quobyte", &CheckQuobyte},
                           {"fc", &CheckFibreChannel},     {"flexVolume", &CheckFlexVolume},
                           {"azureDisk", &CheckAzureDisk}, {"storageos", &CheckStorageOs}};
  const auto row = std::ranges::find_if(kRows, [&](const Row& each) { return type == each.type; });
  if (row != std::end(kRows)) {
    row->check(source, path, errors);
  } else if (!CheckRequiredMembers(type, source, path, errors)) {
    return false;
  }
  // These checks are of some sources alone.
  if (const Value partition = source["partition"]; !partition.is_null() && type != "scaleIO") {
    if (partition.AsInt() < 0 || partition.AsInt() > kPartitionMax) {
      InvalidNumber(errors, path.Child("partition"), partition.AsInt(),
                    "must be between 1 and 255, inclusive");
    }
  }
  const Value secret = source["secretRef"];
  if (!secret.is_null() && (type == "cinder" || type == "storageos")) {
    CheckPresent(errors, path.Child("secretRef"), secret, "name");
  }
  return true;
}

}  // namespace apiserver::v0::groups::core
