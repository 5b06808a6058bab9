#include "cel/type_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace cel_test {
namespace {

namespace cel = apiserver::cel;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using cel::Type;
using cel::TypeKind;

constexpr std::pair<std::string_view, TypeKind> kPlainTypes[] = {
    {"bool", TypeKind::kBool},     {"bytes", TypeKind::kBytes},
    {"double", TypeKind::kDouble}, {"duration", TypeKind::kDuration},
    {"dyn", TypeKind::kDyn},       {"any", TypeKind::kAny},
    {"int", TypeKind::kInt},       {"null", TypeKind::kNull},
    {"string", TypeKind::kString}, {"timestamp", TypeKind::kTimestamp},
    {"uint", TypeKind::kUint},     {"type", TypeKind::kType},
};

Status Unknown(std::string_view name) {
  return {Reason::kInvalid, "unknown type " + std::string(name)};
}

// A type without parameters.
Result<Type> Plain(std::string_view name) {
  for (const auto& [known, kind] : kPlainTypes) {
    if (known == name) return Type::Of(kind);
  }
  if (name.starts_with("net.")) return Type::Opaque(std::string(name));
  if (name.starts_with("kubernetes.")) return Type::Struct(std::string(name));
  return Unknown(name);
}

Result<Type> Parameterized(std::string_view name, const std::vector<Type>& parameters) {
  if (name == "map" && parameters.size() == 2) return Type::Map(parameters[0], parameters[1]);
  if (parameters.size() != 1) return Unknown(name);
  if (name == "list") return Type::List(parameters[0]);
  if (name == "optional_type") return Type::Optional(parameters[0]);
  if (name == "type") return Type::TypeOf(parameters[0]);
  if (name == "wrapper") return Type::Wrapper(parameters[0]);
  return Unknown(name);
}

// Reads a type and moves `text` behind it.
Result<Type> TakeType(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("(,)"), text.size());
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  if (!text.starts_with('(')) return Plain(name);
  std::vector<Type> parameters;
  while (text.starts_with('(') || text.starts_with(',')) {
    text.remove_prefix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    ASSIGN_OR_RETURN(Type parameter, TakeType(text));
    parameters.push_back(std::move(parameter));
  }
  if (!text.starts_with(')')) return Unknown(text);
  text.remove_prefix(1);
  return Parameterized(name, parameters);
}

}  // namespace

Result<Type> TypeOfText(std::string_view text) {
  ASSIGN_OR_RETURN(Type type, TakeType(text));
  if (!text.empty()) return Unknown(text);
  return type;
}

}  // namespace cel_test
