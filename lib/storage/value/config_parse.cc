#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/time.h"
#include "apiserver/storage/value/config.h"
#include "base/status_macros.h"

namespace apiserver::v0::storage::value {
namespace {

using field::Path;
using runtime::Value;

constexpr std::string_view kApiVersion = "apiserver.config.k8s.io/v1";
constexpr std::string_view kKind = "EncryptionConfiguration";
// Limits the file. It is written by hand, so this is far above any real one.
constexpr std::size_t kFileBytesMax = 4 << 20;
constexpr std::size_t kDepthMax = 100;

// Reads fields and collects what is wrong with them; a field of another type reads as absent.
class Decoder {
 public:
  // Checks the members of a map; reports those that are not `known`.
  void CheckFields(const Path& path, Value map, std::span<const std::string_view> known) {
    for (const runtime::Member& member : map.members()) {
      if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
      unknown_.push_back("unknown field " + field::Quote(path.Child(member.key).text()));
    }
  }
  // True if `value` is a map. Null is not a map, anything else is reported.
  bool IsMap(const Path& path, Value value) { return Is(path, value, value.is_map(), "an object"); }

  std::string Text(const Path& path, Value value) {
    return Is(path, value, value.is_string(), "a string") ? std::string(value.AsString()) : "";
  }
  std::optional<std::int64_t> Number(const Path& path, Value value) {
    if (!Is(path, value, value.type() == Value::Type::kInt, "an integer")) return std::nullopt;
    return value.AsInt();
  }
  // Reads a list; `each` decodes one item.
  template <class T, class Each>
  std::vector<T> List(const Path& path, Value value, Each each) {
    std::vector<T> out;
    if (!Is(path, value, value.is_list(), "a list")) return out;
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      out.push_back(each(path.Index(i), value.items()[i]));
    }
    return out;
  }
  void Add(const Path& path, std::string_view what) {
    wrong_.push_back(path.text() + ": " + std::string(what));
  }

  // Returns the errors. Types come before fields: Go's decoder fails at the former first.
  Status Outcome(std::vector<std::string> strict) const {
    if (!wrong_.empty()) return Status(Reason::kInvalid, Join(wrong_));
    strict.insert(strict.end(), unknown_.begin(), unknown_.end());
    if (strict.empty()) return {};
    return Status(Reason::kInvalid, "strict decoding error: " + Join(strict));
  }

 private:
  bool Is(const Path& path, Value value, bool right, std::string_view what) {
    if (!right && !value.is_null()) Add(path, "must be " + std::string(what));
    return right;
  }
  static std::string Join(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text.append(text.empty() ? "" : ", ").append(part);
    return text;
  }

  std::vector<std::string> wrong_;
  std::vector<std::string> unknown_;
};

Key DecodeKey(Decoder& decoder, const Path& path, Value value) {
  static constexpr std::array<std::string_view, 2> kFields = {"name", "secret"};
  Key key;
  if (!decoder.IsMap(path, value)) return key;
  decoder.CheckFields(path, value, kFields);
  key.name = decoder.Text(path.Child("name"), value["name"]);
  key.secret = decoder.Text(path.Child("secret"), value["secret"]);
  return key;
}

std::optional<std::vector<Key>> DecodeKeys(Decoder& decoder, const Path& path, Value value) {
  static constexpr std::array<std::string_view, 1> kFields = {"keys"};
  if (!decoder.IsMap(path, value)) return std::nullopt;
  decoder.CheckFields(path, value, kFields);
  return decoder.List<Key>(path.Child("keys"), value["keys"], [&](const Path& at, Value item) {
    return DecodeKey(decoder, at, item);
  });
}

std::optional<KmsConfiguration> DecodeKms(Decoder& decoder, const Path& path, Value value) {
  static constexpr std::array<std::string_view, 5> kFields = {"apiVersion", "name", "cachesize",
                                                              "endpoint", "timeout"};
  if (!decoder.IsMap(path, value)) return std::nullopt;
  decoder.CheckFields(path, value, kFields);
  KmsConfiguration kms;
  const std::string version = decoder.Text(path.Child("apiVersion"), value["apiVersion"]);
  if (!version.empty()) kms.api_version = version;
  kms.name = decoder.Text(path.Child("name"), value["name"]);
  kms.cache_size = decoder.Number(path.Child("cachesize"), value["cachesize"]);
  kms.endpoint = decoder.Text(path.Child("endpoint"), value["endpoint"]);
  // An absent timeout is the default, as SetDefaults_KMSConfiguration has it.
  if (value["timeout"].is_null()) return kms;
  const auto timeout =
      runtime::ParseDuration(decoder.Text(path.Child("timeout"), value["timeout"]));
  if (timeout.ok()) {
    kms.timeout = *timeout;
  } else {
    decoder.Add(path.Child("timeout"), timeout.status().message());
  }
  return kms;
}

ProviderConfiguration DecodeProvider(Decoder& decoder, const Path& path, Value value) {
  static constexpr std::array<std::string_view, 5> kFields = {"aesgcm", "aescbc", "secretbox",
                                                              "identity", "kms"};
  ProviderConfiguration provider;
  if (!decoder.IsMap(path, value)) return provider;
  decoder.CheckFields(path, value, kFields);
  provider.aesgcm = DecodeKeys(decoder, path.Child("aesgcm"), value["aesgcm"]);
  provider.aescbc = DecodeKeys(decoder, path.Child("aescbc"), value["aescbc"]);
  provider.secretbox = DecodeKeys(decoder, path.Child("secretbox"), value["secretbox"]);
  provider.kms = DecodeKms(decoder, path.Child("kms"), value["kms"]);
  provider.identity = decoder.IsMap(path.Child("identity"), value["identity"]);
  if (provider.identity) decoder.CheckFields(path.Child("identity"), value["identity"], {});
  return provider;
}

ResourceConfiguration DecodeResource(Decoder& decoder, const Path& path, Value value) {
  static constexpr std::array<std::string_view, 2> kFields = {"resources", "providers"};
  ResourceConfiguration resource;
  if (!decoder.IsMap(path, value)) return resource;
  decoder.CheckFields(path, value, kFields);
  resource.resources =
      decoder.List<std::string>(path.Child("resources"), value["resources"],
                                [&](const Path& at, Value item) { return decoder.Text(at, item); });
  resource.providers = decoder.List<ProviderConfiguration>(
      path.Child("providers"), value["providers"],
      [&](const Path& at, Value item) { return DecodeProvider(decoder, at, item); });
  return resource;
}

Status CheckType(Value root) {
  if (!root.is_map()) return Status(Reason::kInvalid, "the file does not hold an object");
  const std::string_view kind = root["kind"].AsString();
  const std::string_view version = root["apiVersion"].AsString();
  if (kind.empty()) return Status(Reason::kInvalid, "Object 'Kind' is missing");
  if (version.empty()) return Status(Reason::kInvalid, "Object 'apiVersion' is missing");
  if (kind == kKind && version == kApiVersion) return {};
  return Status(Reason::kInvalid, "no kind " + field::Quote(kind) + " is registered for version " +
                                      field::Quote(version));
}

// Parses the file and adds the fields that appear twice to `strict_errors`.
Result<Value> Parse(std::string_view text, runtime::Arena& arena,
                    std::vector<std::string>& strict_errors) {
  codec::JsonLimits limits;
  limits.bytes_max = kFileBytesMax;
  limits.depth_max = kDepthMax;
  std::vector<std::string> duplicates;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') {
    // A text that begins with '{' may be YAML in flow style too, so that JSON is only tried.
    auto root = codec::ParseJson(text, arena, &duplicates, limits);
    for (const std::string& path : duplicates) {
      strict_errors.push_back("duplicate field " + field::Quote(path));
    }
    if (root.ok()) return root;
    strict_errors.clear();
    duplicates.clear();
  }
  auto root = codec::ParseYaml(text, arena, &duplicates, limits);
  if (!root.ok()) return Status(Reason::kInvalid, std::string(root.status().message()));
  for (const std::string& line : duplicates) strict_errors.push_back("yaml: " + line);
  return root;
}

}  // namespace

Result<EncryptionConfiguration> ParseEncryptionConfiguration(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kFields = {"kind", "apiVersion", "resources"};
  runtime::Arena arena;
  std::vector<std::string> strict_errors;
  ASSIGN_OR_RETURN(const Value root, Parse(text, arena, strict_errors));
  RETURN_IF_ERROR(CheckType(root));
  Decoder decoder;
  decoder.CheckFields(Path(), root, kFields);
  EncryptionConfiguration config;
  config.resources = decoder.List<ResourceConfiguration>(
      Path("resources"), root["resources"],
      [&](const Path& at, Value item) { return DecodeResource(decoder, at, item); });
  RETURN_IF_ERROR(decoder.Outcome(std::move(strict_errors)));
  return config;
}

}  // namespace apiserver::v0::storage::value
