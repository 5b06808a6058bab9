#include "variables.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/base/status_macros.h"
#include "apiserver/cel/names.h"
#include "apiserver/cel/schema_type.h"
#include "files.h"
#include "types.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a program.

namespace cel_eval {
namespace {

// A name may hold dots: authorizer.requestResource.
bool IsVariableName(std::string_view name) {
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    if (!cel::IsIdentifier(name.substr(0, dot))) return false;
    if (dot == name.size()) return true;
    name.remove_prefix(dot + 1);
  }
  return false;
}

}  // namespace

Status Variables::Add(cel::Variable variable, Given given) {
  if (!IsVariableName(variable.name)) {
    return {Reason::kInvalid, "\"" + variable.name + "\" cannot be the name of a variable"};
  }
  for (const cel::Variable& other : declared_) {
    if (other.name == variable.name) {
      return {Reason::kInvalid, "variable " + variable.name + " is given twice"};
    }
  }
  given.error = "no such attribute(s): " + variable.name;
  declared_.push_back(std::move(variable));
  given_.push_back(std::move(given));
  return {};
}

Result<const runtime::Value*> Variables::Parse(const std::string& name, std::string_view text) {
  APISERVER_ASSIGN_OR_RETURN(const runtime::Value parsed, ParseData(name, text, arena_));
  runtime::ListBuilder kept(arena_);
  kept.Add(parsed);
  return &kept.Build().items()[0];
}

Status Variables::Declare(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::size_t colon = std::min(text.substr(0, equals).find(':'), equals);
  const std::string name(text.substr(0, colon));
  DataType type;
  if (colon < equals) {
    APISERVER_ASSIGN_OR_RETURN(type, ReadDataType(text.substr(colon + 1, equals - colon - 1)));
  }
  Given given = {.schema = type.schema};
  if (equals < text.size()) {
    std::string value(text.substr(equals + 1));
    std::string source = "--var " + name;
    if (value.starts_with('@')) {
      source = value.substr(1);
      APISERVER_ASSIGN_OR_RETURN(value, ReadFile(source));
    }
    APISERVER_ASSIGN_OR_RETURN(given.data, Parse(source, value));
  }
  // The sizes of its values are not bounded, so that the estimate gets no schema.
  return Add({.name = name, .type = type.type}, std::move(given));
}

Status Variables::AddFile(const std::string& name, const std::string& file, const std::string& at,
                          const runtime::SchemaPtr& schema) {
  Given given = {.schema = schema};
  cel::Variable variable = {.name = name, .type = cel::Type::Dyn(), .schema = schema};
  if (schema) {
    const std::optional<cel::Type> type = cel::TypeOfSchema(*schema, "selfType");
    if (!type.has_value()) {
      return {Reason::kInvalid, "--schema: expressions do not see values of this schema"};
    }
    variable.type = *type;
  }
  if (!file.empty()) {
    APISERVER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    APISERVER_ASSIGN_OR_RETURN(const runtime::Value* const whole, Parse(file, text));
    given.data = PartOf(*whole, at);
  }
  return Add(std::move(variable), std::move(given));
}

std::vector<cel::Input> Variables::Inputs(cel::Arena& arena) const {
  std::vector<cel::Input> inputs;
  for (const Given& given : given_) {
    inputs.push_back({given.data == nullptr
                          ? cel::Value::Error(given.error)
                          : cel::Value::FromData(*given.data, given.schema.get(), arena)});
  }
  return inputs;
}

}  // namespace cel_eval
