#include "groups/core/volume_validation.h"

#include <set>
#include <string>

#include "apiserver/runtime/quantity.h"
#include "groups/core/checks.h"
#include "groups/core/claim_validation.h"
#include "groups/core/container_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kDriverBytesMax = 63;
constexpr std::size_t kInitiatorBytesMax = 64;
constexpr const char* kMoreThanOne = "may not specify more than 1 volume type";
// The types in the order in which upstream looks at them.
constexpr const char* kTypes[] = {"emptyDir",
                                  "hostPath",
                                  "gitRepo",
                                  "gcePersistentDisk",
                                  "awsElasticBlockStore",
                                  "secret",
                                  "nfs",
                                  "iscsi",
                                  "glusterfs",
                                  "flocker",
                                  "persistentVolumeClaim",
                                  "rbd",
                                  "cinder",
                                  "cephfs",
                                  "quobyte",
                                  "downwardAPI",
                                  "fc",
                                  "flexVolume",
                                  "configMap",
                                  "azureFile",
                                  "vsphereVolume",
                                  "photonPersistentDisk",
                                  "portworxVolume",
                                  "azureDisk",
                                  "storageos",
                                  "projected",
                                  "scaleIO",
                                  "csi",
                                  "ephemeral",
                                  "image"};

bool IsNegative(Value quantity) {
  const auto parsed = runtime::Quantity::Parse(quantity.AsString());
  return !quantity.is_null() && parsed.ok() && parsed->sign() < 0;
}

void CheckHostPath(Value source, const Path& path, ErrorList& errors) {
  if (!CheckPresent(errors, path, source, "path")) return;
  CheckNoBacksteps(errors, path.Child("path"), source["path"].AsString());
  if (source["type"].is_null()) return;
  CheckWord(errors, path.Child("type"), source["type"].AsString(),
            {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
             "FileOrCreate", "Socket"});
}

// A Secret (`secretName`) or ConfigMap (`name`) whose keys become files.
void CheckKeys(Value source, const char* name, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, source, name);
  CheckFileMode(errors, path.Child("defaultMode"), source["defaultMode"]);
  std::size_t i = 0;
  for (const Value& item : source["items"].items()) {
    CheckKeyToPath(item, path.Child("items").Index(i++), errors);
  }
}

void CheckNfs(Value source, const Path& path, ErrorList& errors) {
  CheckPresent(errors, path, source, "server");
  CheckPresent(errors, path, source, "path");
  if (source["path"].AsString().starts_with('/')) return;
  errors.Invalid(path.Child("path"), source["path"].AsString(), "must be an absolute path");
}

void CheckCsi(Value source, const Path& path, ErrorList& errors) {
  const std::string_view driver = source["driver"].AsString();
  if (CheckPresent(errors, path, source, "driver")) {
    if (driver.size() > kDriverBytesMax) {
      errors.TooLong(path.Child("driver"), static_cast<long>(kDriverBytesMax));
    }
    AddComplaints(errors, path.Child("driver"), driver,
                  meta::IsDNS1123Subdomain(LowerCase(driver)));
  }
  const Value secret = source["nodePublishSecretRef"];
  if (secret.is_null()) return;
  if (CheckPresent(errors, path.Child("nodePublishSecretRef"), secret, "name")) {
    CheckDnsSubdomain(errors, path.Child("name"), secret["name"].AsString());
  }
}

void CheckEphemeral(Value source, std::string_view volume, std::string_view pod_name,
                    const Path& path, ErrorList& errors) {
  const Path at = path.Child("ephemeral").Child("volumeClaimTemplate");
  if (source["volumeClaimTemplate"].is_null()) {
    errors.Required(at);
  } else {
    CheckClaimTemplate(source["volumeClaimTemplate"], at, errors);
  }
  if (pod_name.empty() || volume.empty()) return;
  const std::string claim = std::string(pod_name) + "-" + std::string(volume);
  for (const std::string& complaint : meta::IsDNS1123Subdomain(claim)) {
    errors.Invalid(path.Child("name"), volume,
                   "PVC name " + field::QuoteShort(claim) + ": " + complaint);
  }
}

void CheckImageSource(Value source, bool of_pod, const Path& path, ErrorList& errors) {
  if (of_pod) CheckPresent(errors, path, source, "reference");
  CheckNeededWord(errors, path.Child("pullPolicy"), source["pullPolicy"].AsString(),
                  {"Always", "IfNotPresent", "Never"});
}

// Checks a source that is the first of its volume. `path`: that of the volume.
void CheckSource(std::string_view type, Value volume, std::string_view pod_name, const Path& path,
                 ErrorList& errors) {
  const Value source = volume[type];
  const Path at = path.Child(type);
  if (type == "emptyDir") {
    if (!IsNegative(source["sizeLimit"])) return;
    errors.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
  } else if (type == "hostPath") {
    CheckHostPath(source, at, errors);
  } else if (type == "secret") {
    CheckKeys(source, "secretName", at, errors);
  } else if (type == "configMap") {
    CheckKeys(source, "name", at, errors);
  } else if (type == "nfs") {
    CheckNfs(source, at, errors);
  } else if (type == "persistentVolumeClaim") {
    CheckPresent(errors, at, source, "claimName");
  } else if (type == "downwardAPI") {
    CheckFileMode(errors, at.Child("defaultMode"), source["defaultMode"]);
    CheckDownwardFiles(source["items"], at, errors);
  } else if (type == "projected") {
    CheckProjectedSource(source, at, errors);
  } else if (type == "csi") {
    CheckCsi(source, at, errors);
  } else if (type == "ephemeral") {
    CheckEphemeral(source, volume["name"].AsString(), pod_name, path, errors);
  } else if (type == "image") {
    CheckImageSource(source, !pod_name.empty(), at, errors);
  } else {
    // Upstream calls a disk of GCE by a name of before.
    CheckStorageSource(type, source,
                       type == "gcePersistentDisk" ? path.Child("persistentDisk") : at, errors);
  }
}

// The name of a type in the error about a second one, as upstream spells it.
std::string_view SecondName(std::string_view type) {
  if (type == "cephfs") return "cephFS";
  return type == "downwardAPI" ? "downwarAPI" : type;
}

void CheckSources(Value volume, std::string_view pod_name, const Path& path, ErrorList& errors) {
  bool found = false;
  for (const std::string_view type : kTypes) {
    if (volume[type].is_null()) continue;
    if (found && type != "emptyDir") {
      errors.Forbidden(path.Child(SecondName(type)), kMoreThanOne);
    } else {
      CheckSource(type, volume, pod_name, path, errors);
    }
    found = true;
    const Value source = volume[type];
    const std::string_view portal = source["targetPortal"].AsString();
    const bool named = type == "iscsi" && !source["initiatorName"].is_null();
    if (named && volume["name"].size() + 1 + portal.size() > kInitiatorBytesMax) {
      errors.Invalid(path.Child("name"), volume["name"].AsString(),
                     "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                     "characters if iscsi.initiatorName is specified.");
    }
  }
  if (!found) errors.Required(path, "must specify a volume type");
}

// The names of the claims that a pod's ephemeral volumes will have.
std::set<std::string> CreatedClaims(Value volumes, std::string_view pod_name) {
  std::set<std::string> names;
  if (pod_name.empty()) return names;
  for (const Value& volume : volumes.items()) {
    if (volume["ephemeral"].is_null()) continue;
    names.insert(std::string(pod_name) + "-" + std::string(volume["name"].AsString()));
  }
  return names;
}

}  // namespace

std::map<std::string_view, Value> CheckVolumes(Value volumes, std::string_view pod_name,
                                               const Path& path, ErrorList& errors) {
  const std::set<std::string> created = CreatedClaims(volumes, pod_name);
  std::map<std::string_view, Value> valid;
  std::size_t i = 0;
  for (const Value& volume : volumes.items()) {
    if (errors.full()) break;
    const Path at = path.Index(i++);
    const std::string_view name = volume["name"].AsString();
    ErrorList own;
    CheckSources(volume, pod_name, at, own);
    if (CheckPresent(own, at, volume, "name")) CheckDnsLabel(own, at.Child("name"), name);
    if (valid.contains(name)) own.Duplicate(at.Child("name"), name);
    if (own.empty()) valid.emplace(name, volume);
    errors.Append(std::move(own));
    const std::string claim(volume["persistentVolumeClaim"]["claimName"].AsString());
    if (!created.contains(claim)) continue;
    errors.Invalid(at.Child("persistentVolumeClaim").Child("claimName"), claim,
                   "must not reference a PVC that gets created for an ephemeral volume");
  }
  return valid;
}

}  // namespace apiserver::v0::groups::core
