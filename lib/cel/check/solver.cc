#include "cel/check/solver.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cel/types/spell.h"

namespace apiserver::inline v0::cel::check {
namespace {

using types::kDyn;

std::span<const TypeNode* const> ParametersOf(const TypeNode& type) {
  return {type.parameters, type.parameter_count};
}

// Tells if the nodes are alike but for their parameters.
bool IsSameNode(const TypeNode& a, const TypeNode& b) {
  return a.kind == b.kind && a.name == b.name && a.parameter_count == b.parameter_count;
}

// Tells if null is a value of the type.
bool IsNullable(const TypeNode& type) {
  switch (type.kind) {
    case TypeKind::kOpaque:
    case TypeKind::kStruct:
    case TypeKind::kAny:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
    case TypeKind::kWrapper:
    case TypeKind::kNull:
      return true;
    default:
      return false;
  }
}

using Pairs = std::vector<std::pair<const TypeNode*, const TypeNode*>>;

void AddParameters(const TypeNode& a, const TypeNode& b, Pairs& pending) {
  for (std::size_t i = 0; i < a.parameter_count; ++i) {
    pending.emplace_back(a.parameters[i], b.parameters[i]);
  }
}

}  // namespace

const TypeNode& Unwrapped(const TypeNode& type) {
  return type.kind == TypeKind::kWrapper ? *type.parameters[0] : type;
}

const TypeNode* OptionalValue(const TypeNode& type) {
  const bool optional = type.kind == TypeKind::kOpaque && type.name == types::kOptionalName &&
                        type.parameter_count == 1;
  return optional ? type.parameters[0] : nullptr;
}

bool IsDyn(const TypeNode& type) {
  return type.kind == TypeKind::kDyn || type.kind == TypeKind::kAny;
}

bool IsDynOrError(const TypeNode& type) { return IsDyn(type) || type.kind == TypeKind::kError; }

bool IsExact(const TypeNode& a, const TypeNode& b) {
  Pairs pending = {{&a, &b}};
  while (!pending.empty()) {
    const TypeNode& left = Unwrapped(*pending.back().first);
    const TypeNode& right = Unwrapped(*pending.back().second);
    pending.pop_back();
    if (&left == &right) continue;
    if (!IsSameNode(left, right)) return false;
    AddParameters(left, right, pending);
  }
  return true;
}

std::string Print(const TypeNode& type) { return Type(type).ToString(); }

Solver::Variable* Solver::AsVariable(const TypeNode& type) {
  if (type.kind != TypeKind::kParameter || !type.open) return nullptr;
  // All variables are elements of variables_, which are not const.
  return const_cast<Variable*>(static_cast<const Variable*>(&type));
}

const Solver::Composite* Solver::AsComposite(const TypeNode& type) {
  const bool ours =
      type.open && type.kind != TypeKind::kParameter && type.kind != TypeKind::kStruct;
  return ours ? static_cast<const Composite*>(&type) : nullptr;
}

bool Solver::HasVariables(const TypeNode& type) {
  const Composite* const made = AsComposite(type);
  return made != nullptr ? made->has_variables : AsVariable(type) != nullptr;
}

std::uint32_t Solver::SizeOf(const TypeNode& type) {
  const Composite* const made = AsComposite(type);
  return made != nullptr ? made->size : 1;
}

// Counts one step of work. False: there have been too many.
bool Solver::Step() {
  if (++steps_ > kStepsMax) exhausted_ = true;
  return !exhausted_;
}

const TypeNode& Solver::NewVariable() {
  Variable& made = variables_.emplace_back();
  constexpr std::string_view kPrefix = "_var";
  std::copy(kPrefix.begin(), kPrefix.end(), made.text.begin());
  char* const digits = made.text.data() + kPrefix.size();
  const auto end = std::to_chars(digits, made.text.data() + made.text.size(), next_variable_++);
  made.kind = TypeKind::kParameter;
  made.open = true;
  made.name = {made.text.data(), static_cast<std::size_t>(end.ptr - made.text.data())};
  return made;
}

const TypeNode& Solver::Make(TypeKind kind, std::string_view name,
                             std::initializer_list<const TypeNode*> parameters) {
  if (exhausted_) return types::kError;
  Composite& made = composites_.emplace_back();
  made.kind = kind;
  made.open = true;
  made.name = name;
  made.parameter_count = static_cast<std::uint8_t>(parameters.size());
  made.parameters = made.slots.data();
  std::copy(parameters.begin(), parameters.end(), made.slots.begin());
  for (const TypeNode* parameter : parameters) {
    made.size += SizeOf(*parameter);
    made.has_variables = made.has_variables || HasVariables(*parameter);
  }
  if (made.size > kSizeMax) exhausted_ = true;
  return made;
}

const TypeNode& Solver::List(const TypeNode& items) { return Make(TypeKind::kList, "", {&items}); }

const TypeNode& Solver::Map(const TypeNode& keys, const TypeNode& values) {
  return Make(TypeKind::kMap, "", {&keys, &values});
}

const TypeNode& Solver::Optional(const TypeNode& value) {
  return Make(TypeKind::kOpaque, types::kOptionalName, {&value});
}

const TypeNode& Solver::TypeOf(const TypeNode& type) { return Make(TypeKind::kType, "", {&type}); }

// Makes a type like `type` with other parameters. Types of hosts with more than two parameters keep
// theirs: they hold no variables.
const TypeNode& Solver::Rebuild(const TypeNode& type, std::span<const TypeNode* const> parameters) {
  if (parameters.size() == 1) return Make(type.kind, type.name, {parameters[0]});
  if (parameters.size() == 2) return Make(type.kind, type.name, {parameters[0], parameters[1]});
  return type;
}

// Puts variables in the place of a signature's parameters. Signatures are constants of few levels.
const TypeNode& Solver::InstantiateNode(const TypeNode& node, std::vector<Parameter>& parameters) {
  if (node.kind == TypeKind::kParameter) {
    for (const Parameter& known : parameters) {
      if (known.name == node.name) return *known.variable;
    }
    const TypeNode& made = NewVariable();
    parameters.push_back({node.name, &made});
    return made;
  }
  std::array<const TypeNode*, 2> replaced = {};
  if (node.parameter_count == 0 || node.parameter_count > replaced.size()) return node;
  bool changed = false;
  for (std::size_t i = 0; i < node.parameter_count; ++i) {
    replaced[i] = &InstantiateNode(*node.parameters[i], parameters);
    changed = changed || replaced[i] != node.parameters[i];
  }
  return changed ? Rebuild(node, std::span(replaced).first(node.parameter_count)) : node;
}

Solver::Instance Solver::Instantiate(const Signature& signature) {
  std::vector<Parameter> parameters;
  Instance made;
  made.result = &InstantiateNode(*signature.result, parameters);
  for (std::size_t i = 0; i < signature.argument_count; ++i) {
    made.arguments[i] = &InstantiateNode(*signature.arguments[i], parameters);
  }
  return made;
}

void Solver::SkipVariablesOf(const Signature& signature) {
  std::vector<std::string_view> names;
  std::vector<const TypeNode*> pending = {signature.result};
  pending.insert(pending.end(), signature.arguments.begin(),
                 signature.arguments.begin() + signature.argument_count);
  while (!pending.empty()) {
    const TypeNode& node = *pending.back();
    pending.pop_back();
    const std::span<const TypeNode* const> below = ParametersOf(node);
    pending.insert(pending.end(), below.begin(), below.end());
    if (node.kind != TypeKind::kParameter) continue;
    if (std::find(names.begin(), names.end(), node.name) == names.end()) names.push_back(node.name);
  }
  next_variable_ += static_cast<std::uint32_t>(names.size());
}

bool Solver::Assign(const TypeNode& from, const TypeNode& to) {
  tasks_.assign({{&from, &to}});
  return Solve();
}

bool Solver::AssignAll(std::span<const TypeNode* const> from, std::span<const TypeNode* const> to) {
  if (from.size() != to.size()) return false;
  tasks_.clear();
  // The first pair is solved first: variables are bound from left to right.
  for (std::size_t i = from.size(); i-- > 0;) tasks_.push_back({from[i], to[i]});
  return Solve();
}

// Does the tasks, each of which may add others before those that are left. Any failure is one of
// the whole: cel-go tries nothing else after it.
bool Solver::Solve() {
  changes_.clear();
  bool solved = true;
  while (solved && !tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    if (!Step()) {
      solved = false;
    } else if (task.merge == nullptr) {
      solved = Match(*task.a, *task.b);
    } else {
      const TypeNode& general = MostGeneral(*task.a, *task.b);
      if (!IsReferencedIn(*task.merge, general)) Bind(*task.merge, general);
    }
  }
  if (solved) return true;
  for (std::size_t i = changes_.size(); i-- > 0;) {
    changes_[i].variable->binding = changes_[i].before;
  }
  return false;
}

// internalIsAssignable of cel-go.
bool Solver::Match(const TypeNode& a, const TypeNode& b) {
  if (Variable* const variable = AsVariable(b); variable != nullptr) {
    if (Substitute(a, *variable)) return true;
  }
  if (Variable* const variable = AsVariable(a); variable != nullptr) {
    return Substitute(b, *variable);
  }
  if (IsDynOrError(a) || IsDynOrError(b)) return true;
  if (a.kind == TypeKind::kNull) return IsNullable(b);
  if (b.kind == TypeKind::kNull) return IsNullable(a);
  return MatchFixed(Unwrapped(a), Unwrapped(b));
}

// Matches types that are neither variables nor dyn nor null.
bool Solver::MatchFixed(const TypeNode& a, const TypeNode& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == TypeKind::kType) return true;
  if (!IsSameNode(a, b)) return false;
  for (std::size_t i = a.parameter_count; i-- > 0;) {
    tasks_.push_back({a.parameters[i], b.parameters[i]});
  }
  return true;
}

// isValidTypeSubstitution of cel-go: tries `type` as what the variable stands for. False: the
// variable is not bound, and occurs in the type.
bool Solver::Substitute(const TypeNode& type, Variable& variable) {
  if (&type == &variable) return true;
  if (variable.binding == nullptr) {
    if (IsReferencedIn(variable, type)) return false;
    Bind(variable, type);
    return true;
  }
  if (IsExact(type, *variable.binding)) return true;
  tasks_.push_back({&type, variable.binding, &variable});
  tasks_.push_back({&type, variable.binding});
  return true;
}

void Solver::Bind(Variable& variable, const TypeNode& type) {
  changes_.push_back({&variable, variable.binding});
  variable.binding = &type;
  exported_.clear();
}

// The occurs check: a variable must not stand for a type that it is a part of.
bool Solver::IsReferencedIn(const Variable& variable, const TypeNode& type) {
  std::vector<const TypeNode*> pending = {&type};
  while (!pending.empty()) {
    const TypeNode& node = *pending.back();
    pending.pop_back();
    if (!Step() || &node == &variable) return true;
    if (const Variable* const other = AsVariable(node); other != nullptr) {
      if (other->binding != nullptr) pending.push_back(other->binding);
    } else if (HasVariables(node)) {
      const std::span<const TypeNode* const> below = ParametersOf(node);
      pending.insert(pending.end(), below.begin(), below.end());
    }
  }
  return false;
}

// isEqualOrLessSpecific of cel-go, which looks at variables and not at what they stand for.
const TypeNode& Solver::MostGeneral(const TypeNode& a, const TypeNode& b) {
  Pairs pending = {{&a, &b}};
  while (!pending.empty()) {
    const TypeNode& left = Unwrapped(*pending.back().first);
    const TypeNode& right = Unwrapped(*pending.back().second);
    pending.pop_back();
    if (!Step()) return a;
    if (IsDyn(left) || left.kind == TypeKind::kParameter) continue;
    if (IsDyn(right) || right.kind == TypeKind::kParameter || left.kind != right.kind) return b;
    if (left.kind == TypeKind::kType) continue;
    if (!IsSameNode(left, right)) return b;
    AddParameters(left, right, pending);
  }
  return a;
}

const TypeNode& Solver::ResolveAt(const TypeNode& type, std::uint32_t depth) {
  if (!HasVariables(type)) return type;
  if (!Step() || depth > kDepthMax) {
    exhausted_ = true;
    return types::kError;
  }
  if (const Variable* const variable = AsVariable(type); variable != nullptr) {
    return variable->binding == nullptr ? type : ResolveAt(*variable->binding, depth + 1);
  }
  std::array<const TypeNode*, 2> resolved = {};
  bool changed = false;
  for (std::size_t i = 0; i < type.parameter_count; ++i) {
    resolved[i] = &ResolveAt(*type.parameters[i], depth + 1);
    changed = changed || resolved[i] != type.parameters[i];
  }
  return changed ? Rebuild(type, std::span(resolved).first(type.parameter_count)) : type;
}

Type Solver::ExportAt(const TypeNode& type, std::uint32_t depth) {
  if (const Variable* const variable = AsVariable(type); variable != nullptr) {
    if (depth > kDepthMax) exhausted_ = true;
    return variable->binding == nullptr || exhausted_ ? Type()
                                                      : ExportAt(*variable->binding, depth + 1);
  }
  if (type.kind == TypeKind::kParameter) return {};
  if (type.counted || type.parameter_count == 0) return Type(type);
  const auto known = exported_.find(&type);
  if (known != exported_.end()) return known->second;
  return exported_.emplace(&type, ExportParameters(type, depth)).first->second;
}

// Makes a counted type of a node of this solver or of a signature.
Type Solver::ExportParameters(const TypeNode& type, std::uint32_t depth) {
  if (!Step() || depth > kDepthMax) {
    exhausted_ = true;
    return {};
  }
  std::vector<Type> parameters;
  for (const TypeNode* parameter : ParametersOf(type)) {
    parameters.push_back(ExportAt(*parameter, depth + 1));
  }
  switch (type.kind) {
    case TypeKind::kList:
      return Type::List(parameters[0]);
    case TypeKind::kMap:
      return Type::Map(parameters[0], parameters[1]);
    case TypeKind::kType:
      return Type::TypeOf(parameters[0]);
    case TypeKind::kWrapper:
      return Type(type);
    default:
      return Type::Opaque(std::string(type.name), parameters);
  }
}

}  // namespace apiserver::inline v0::cel::check
