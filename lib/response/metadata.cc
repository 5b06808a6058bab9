#include "response/metadata.h"

namespace apiserver::inline v0::response {

namespace {

std::string_view Metadata(const runtime::Encoding& encoding) {
  return std::string_view(encoding.body)
      .substr(encoding.metadata_begin, encoding.metadata_end - encoding.metadata_begin);
}

}  // namespace

void AppendPartialObjectMetadata(const runtime::Encoding& encoding, std::string_view meta_version,
                                 std::string& json) {
  json += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/";
  json += meta_version;
  json += "\",\"metadata\":";
  json += Metadata(encoding);
  json += "}";
}

void AppendMetadataItem(const runtime::Encoding& encoding, std::string& json) {
  json += "{\"metadata\":";
  json += Metadata(encoding);
  json += "}";
}

std::string BodyWithResourceVersion(const runtime::Encoding& encoding,
                                    std::string_view resource_version) {
  std::string body;
  body.reserve(encoding.body.size() + resource_version.size());
  body.append(encoding.body, 0, encoding.rv_begin);
  body += resource_version;
  body.append(encoding.body, encoding.rv_end);
  return body;
}

std::string MetadataWithResourceVersion(const runtime::Encoding& encoding,
                                        std::string_view resource_version) {
  if (resource_version.empty() || encoding.rv_begin == encoding.rv_end) {
    return std::string(Metadata(encoding));
  }
  std::string metadata;
  metadata.append(encoding.body, encoding.metadata_begin,
                  encoding.rv_begin - encoding.metadata_begin);
  metadata += resource_version;
  metadata.append(encoding.body, encoding.rv_end, encoding.metadata_end - encoding.rv_end);
  return metadata;
}

}  // namespace apiserver::inline v0::response
