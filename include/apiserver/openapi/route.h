#pragma once

#include <string>
#include <vector>

#include "apiserver/runtime/names.h"

// A route as API documents describe it. The installer makes these rows next to the handlers, so
// that what is documented is what is served.
namespace apiserver::inline v0::openapi {

// A parameter in a route's query or path.
struct Parameter {
  std::string name;
  std::string in = "query";     // "query" or "path".
  std::string type = "string";  // "string", "boolean", "integer".
  std::string description = "";
  bool required = false;
};

// A response of a route.
struct Response {
  int code = 200;
  // A definition's name, "io.k8s.apimachinery.pkg.apis.meta.v1.Status"; empty: a plain string.
  std::string definition;
};

// One method on one path.
struct Route {
  std::string method;        // "GET".
  std::string path;          // "/apis/g/v/namespaces/{namespace}/flunders/{name}".
  std::string operation_id;  // "readWardleExampleComV1alpha1NamespacedFlunder".
  std::string description = "";
  std::string action = "";  // x-kubernetes-action: "get", "list", "post", "patch", …; may be empty.
  runtime::GroupVersionKind gvk = {};  // x-kubernetes-group-version-kind; no kind: none.
  std::string tag = "";                // "wardleExampleCom_v1alpha1".
  std::vector<Parameter> parameters = {};
  std::vector<std::string> consumes = {};
  std::vector<std::string> produces = {};
  std::string body = "";  // Definition of the request body; empty: none.
  bool body_required = true;
  std::vector<Response> responses = {};
};

}  // namespace apiserver::inline v0::openapi
