#include "apiserver/client/client.h"

namespace apiserver::v0::client {

std::string Target::Path() const {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (!namespace_.empty()) path += "/namespaces/" + http::PercentEncode(namespace_);
  path += "/" + resource.resource;
  if (!name.empty()) path += "/" + http::PercentEncode(name);
  if (!subresource.empty()) path += "/" + subresource;
  return path;
}

}  // namespace apiserver::v0::client
