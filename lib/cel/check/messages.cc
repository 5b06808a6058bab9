#include "cel/check/messages.h"

#include "cel/check/solver.h"

namespace apiserver::inline v0::cel::check {
namespace {

// Returns the text between single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  quoted.append(text).push_back('\'');
  return quoted;
}

// The name of a type in declarations: without parameters, but with the word of a wrapper.
std::string DeclaredName(const TypeNode& type) {
  return type.kind == TypeKind::kWrapper ? Print(type) : std::string(Type(type).name());
}

}  // namespace

std::string GoTypeString(const Type& type) {
  std::string text(type.name());
  if (type.kind() == TypeKind::kWrapper) return "wrapper(" + text + ")";
  if (type.kind() == TypeKind::kParameter) return "<" + text + ">";
  for (std::size_t i = 0; i < type.parameter_count(); ++i) {
    text += i == 0 ? "(" : ", ";
    text += GoTypeString(type.parameter(i));
  }
  return type.parameter_count() == 0 ? text : text + ")";
}

std::string UndeclaredReference(std::string_view name) {
  return "undeclared reference to " + Quoted(name) + " (in container '')";
}

std::string UndefinedField(std::string_view field) { return "undefined field " + Quoted(field); }

std::string UnresolvedType(std::string_view type) {
  return "unexpected failed resolution of " + Quoted(type);
}

std::string NoFieldSelection(const TypeNode& type) {
  return "type " + Quoted(Print(type)) + " does not support field selection";
}

std::string NoMatchingOverload(std::string_view function, std::span<const Type> arguments,
                               bool member) {
  std::string applied;
  if (member) {
    applied = arguments.front().ToString() + ".";
    arguments = arguments.subspan(1);
  }
  applied += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) applied += ", ";
    applied += arguments[i].ToString();
  }
  applied += ')';
  return "found no matching overload for " + Quoted(function) + " applied to " + Quoted(applied);
}

std::string NotIterable(const TypeNode& type) {
  return "expression of type " + Quoted(Print(type)) +
         " cannot be range of a comprehension (must be list, map, or dynamic)";
}

std::string TypeMismatch(const TypeNode& expected, const TypeNode& actual) {
  return "expected type " + Quoted(Print(expected)) + " but found " + Quoted(Print(actual));
}

std::string FieldTypeMismatch(std::string_view field, const TypeNode& expected,
                              const TypeNode& actual) {
  return "expected type of field " + Quoted(field) + " is " + Quoted(Print(expected)) +
         " but provided type is " + Quoted(Print(actual));
}

std::string NotAType(const TypeNode& type) { return Quoted(DeclaredName(type)) + " is not a type"; }

std::string NotAMessageType(const TypeNode& type) {
  return Quoted(DeclaredName(type)) + " is not a message type";
}

std::string InvalidArgument(std::string_view function) {
  return "invalid " + std::string(function) + " argument";
}

}  // namespace apiserver::inline v0::cel::check
