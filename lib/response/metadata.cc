#include "response/metadata.h"

namespace apiserver::v0::response {

namespace {

// Metadata's place in the encoding was noted when that was made.
void AppendMetadata(const runtime::Encoding& encoding, std::string& json) {
  encoding.AppendTo(json, encoding.marks().metadata_begin, encoding.marks().metadata_end);
}

}  // namespace

void AppendPartialObjectMetadata(const runtime::Encoding& encoding, std::string_view meta_version,
                                 std::string& json) {
  json += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/";
  json += meta_version;
  json += "\",\"metadata\":";
  AppendMetadata(encoding, json);
  json += "}";
}

std::string BodyWithResourceVersion(const runtime::Encoding& encoding,
                                    std::string_view resource_version) {
  const runtime::BodyMarks& marks = encoding.marks();
  std::string body;
  body.reserve(encoding.size() + resource_version.size());
  // Copies around the old revision, which is cheaper than another encoding of the object.
  encoding.AppendTo(body, 0, marks.rv_begin);
  body += resource_version;
  encoding.AppendTo(body, marks.rv_end, static_cast<std::uint32_t>(encoding.size()));
  return body;
}

void AppendMetadataWithResourceVersion(const runtime::Encoding& encoding,
                                       std::string_view resource_version, std::string& json) {
  const runtime::BodyMarks& marks = encoding.marks();
  // An object without a revision has no place for another.
  if (resource_version.empty() || marks.rv_begin == marks.rv_end) {
    return AppendMetadata(encoding, json);
  }
  encoding.AppendTo(json, marks.metadata_begin, marks.rv_begin);
  json += resource_version;
  encoding.AppendTo(json, marks.rv_end, marks.metadata_end);
}

}  // namespace apiserver::v0::response
