#include "openapi/paths.h"

#include <cctype>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::v0::openapi {

namespace {

using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Value;

std::string_view ReasonPhrase(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    default:
      return "Answer";
  }
}

Value SchemaOf(const std::string& definition, const Tree& tree, Format format) {
  if (!definition.empty()) return tree.Ref(definition, format);
  MapBuilder text(tree.arena());
  text.Add("type", Value::String("string"));
  return text.Build();
}

Value ParameterOf(const Parameter& parameter, const Tree& tree, Format format) {
  MapBuilder map(tree.arena());
  map.Add("name", tree.String(parameter.name));
  map.Add("in", tree.String(parameter.in));
  if (!parameter.description.empty()) map.Add("description", tree.String(parameter.description));
  if (parameter.required) map.Add("required", Value::Bool(true));
  MapBuilder schema(tree.arena());
  schema.Add("type", tree.String(parameter.type));
  schema.Add("uniqueItems", Value::Bool(true));
  if (format == Format::kV3) {
    map.Add("schema", schema.Build());
  } else {
    map.Add("type", tree.String(parameter.type));
    map.Add("uniqueItems", Value::Bool(true));
  }
  return map.Build();
}

// Returns v3's {"application/json": {"schema": …}, …}.
Value ContentOf(const std::vector<std::string>& media_types, const std::string& definition,
                const Tree& tree) {
  MapBuilder content(tree.arena());
  for (const std::string& media_type : media_types) {
    MapBuilder each(tree.arena());
    each.Add("schema", SchemaOf(definition, tree, Format::kV3));
    content.Add(tree.Text(media_type), each.Build());
  }
  return content.Build();
}

Value ResponsesOf(const Route& route, const Tree& tree, Format format) {
  MapBuilder responses(tree.arena());
  for (const Response& response : route.responses) {
    MapBuilder each(tree.arena());
    each.Add("description", tree.String(ReasonPhrase(response.code)));
    if (format == Format::kV2) {
      each.Add("schema", SchemaOf(response.definition, tree, format));
    } else {
      each.Add("content", ContentOf(route.produces, response.definition, tree));
    }
    responses.Add(tree.Text(std::to_string(response.code)), each.Build());
  }
  if (format == Format::kV2 || !route.gvk.kind.empty()) {
    MapBuilder unauthorized(tree.arena());
    unauthorized.Add("description", Value::String("Unauthorized"));
    responses.Add("401", unauthorized.Build());
  }
  return responses.Build();
}

void AddBody(const Route& route, const Tree& tree, Format format, ListBuilder& parameters,
             MapBuilder& operation) {
  if (route.body.empty()) return;
  MapBuilder body(tree.arena());
  if (format == Format::kV2) {
    body.Add("name", Value::String("body"));
    body.Add("in", Value::String("body"));
    if (route.body_required) body.Add("required", Value::Bool(true));
    body.Add("schema", tree.Ref(route.body, format));
    parameters.Add(body.Build());
    return;
  }
  body.Add("content", ContentOf(route.consumes, route.body, tree));
  if (route.body_required) body.Add("required", Value::Bool(true));
  operation.Add("requestBody", body.Build());
}

Value OperationOf(const Route& route, const Tree& tree, Format format) {
  MapBuilder operation(tree.arena());
  if (!route.description.empty()) operation.Add("description", tree.String(route.description));
  operation.Add("operationId", tree.String(route.operation_id));
  if (!route.tag.empty()) operation.Add("tags", tree.Strings({route.tag}));
  ListBuilder parameters(tree.arena());
  for (const Parameter& parameter : route.parameters) {
    parameters.Add(ParameterOf(parameter, tree, format));
  }
  AddBody(route, tree, format, parameters, operation);
  if (parameters.size() > 0) operation.Add("parameters", parameters.Build());
  if (format == Format::kV2) {
    // "*/*": the decoder is chosen by the Content-Type alone.
    std::vector<std::string> consumes = route.consumes;
    if (consumes.empty()) consumes = {"*/*"};
    operation.Add("consumes", tree.Strings(consumes));
    operation.Add("produces", tree.Strings(route.produces));
    operation.Add("schemes", tree.Strings({"https"}));
  }
  operation.Add("responses", ResponsesOf(route, tree, format));
  if (!route.action.empty()) {
    operation.Add("x-kubernetes-action", tree.String(route.action));
  }
  if (!route.gvk.kind.empty()) {
    MapBuilder gvk(tree.arena());
    gvk.Add("group", tree.String(route.gvk.group));
    gvk.Add("kind", tree.String(route.gvk.kind));
    gvk.Add("version", tree.String(route.gvk.version));
    operation.Add("x-kubernetes-group-version-kind", gvk.Build());
  }
  return operation.Build();
}

std::string Lower(std::string method) {
  for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return method;
}

}  // namespace

Value PathsOf(std::span<const Route* const> routes, const Tree& tree, Format format) {
  std::map<std::string, std::vector<const Route*>> by_path;
  for (const Route* route : routes) by_path[route->path].push_back(route);
  MapBuilder paths(tree.arena());
  for (const auto& [path, operations] : by_path) {
    MapBuilder item(tree.arena());
    for (const Route* route : operations) {
      item.Add(tree.Text(Lower(route->method)), OperationOf(*route, tree, format));
    }
    paths.Add(tree.Text(path), item.Build());
  }
  return paths.Build();
}

std::set<std::string> DefinitionsNamedBy(std::span<const Route* const> routes) {
  std::set<std::string> names;
  for (const Route* route : routes) {
    if (!route->body.empty()) names.insert(route->body);
    for (const Response& response : route->responses) {
      if (!response.definition.empty()) names.insert(response.definition);
    }
  }
  return names;
}

}  // namespace apiserver::v0::openapi
