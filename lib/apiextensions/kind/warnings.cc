#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "apiextensions/kind/strategy.h"
#include "apiextensions/schema/json_schema.h"
#include "apiserver/apiextensions/definition.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

// The formats that schemas may ask for, as of Kubernetes 1.34, without their dashes.
constexpr std::array<std::string_view, 26> kFormats = {
    "bsonobjectid", "byte",        "cidr",         "creditcard", "date",     "datetime", "duration",
    "email",        "hexcolor",    "hostname",     "ipv4",       "ipv6",     "isbn",     "isbn10",
    "isbn13",       "k8slongname", "k8sshortname", "mac",        "password", "rgbcolor", "ssn",
    "uri",          "uuid",        "uuid3",        "uuid4",      "uuid5"};

bool IsRecognized(std::string_view format) {
  std::string plain(format);
  std::erase(plain, '-');
  return std::binary_search(kFormats.begin(), kFormats.end(), std::string_view(plain));
}

// A list, in the order in which the formats are found.
std::vector<std::string_view> UnrecognizedFormats(const Object& definition) {
  std::vector<std::string_view> formats;
  std::set<std::string_view> seen;
  for (const Value& version : definition["spec"]["versions"].items()) {
    ForEachSchema(SchemaOf(version), [&](const Value& schema) {
      const std::string_view format = schema["format"].AsString();
      if (format.empty() || schema["type"].AsString() != "string" || IsRecognized(format)) {
        return true;
      }
      if (seen.insert(format).second) formats.push_back(format);
      return formats.size() < field::kErrorsMax;
    });
  }
  return formats;
}

}  // namespace

std::vector<std::string> FormatWarnings(const Object& definition, const Object* old) {
  std::set<std::string_view> stored;
  if (old != nullptr) {
    const std::vector<std::string_view> known = UnrecognizedFormats(*old);
    stored.insert(known.begin(), known.end());
  }
  std::vector<std::string> warnings;
  for (const std::string_view format : UnrecognizedFormats(definition)) {
    if (stored.contains(format)) continue;
    warnings.push_back("unrecognized format " + field::QuoteShort(format));
  }
  return warnings;
}

}  // namespace apiserver::v0::apiextensions
