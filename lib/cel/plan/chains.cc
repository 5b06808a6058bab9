#include "cel/plan/builder.h"
#include "cel/run/print.h"

// Chains of selections, and conditionals, which cel-go plans as one attribute:
// interpreter/attributes.go.
namespace apiserver::v0::cel::plan {
namespace {

using syntax::NodeId;
using syntax::NodeKind;

bool IsQualifierCall(std::string_view function) {
  return function == "_[_]" || function == "_?._" || function == "_[?_]";
}

// Tells if a selection will get kContinues.
bool Continues(const Instruction& next, const std::vector<Instruction>& code) {
  if (code.empty()) return false;
  const Instruction& last = code.back();
  const bool finds = last.op == Op::kSelect || last.op == Op::kLoadInput;
  return finds && last.dst == next.a && next.a == next.dst && (next.flags & kTest) == 0;
}

}  // namespace

bool Builder::IsAttribute(NodeId id) const {
  if (constants_.Is(id)) return false;
  const syntax::Node& node = ast_.node(id);
  if (node.kind == NodeKind::kIdentifier || node.kind == NodeKind::kSelect) return true;
  if (node.kind != NodeKind::kCall) return false;
  return IsQualifierCall(ast_.name_of(id)) || ast_.name_of(id) == "_?_:_";
}

// Returns the node that a chain of selections begins with.
syntax::NodeId Builder::RootOf(NodeId id) const {
  while (IsAttribute(id) && ast_.node(id).kind != NodeKind::kIdentifier &&
         ast_.name_of(id) != "_?_:_") {
    id = ast_.children(id)[0];
  }
  return id;
}

// Selections of names and of positions stay within the Go values of a variable without schema; all
// else makes values of cel-go.
bool Builder::IsData(NodeId id) const {
  const syntax::Node& node = ast_.node(id);
  if (!IsAttribute(id)) return false;
  if (node.kind == NodeKind::kIdentifier) {
    const check::Reference& reference = checked_.references[id];
    return reference.kind == check::Reference::Kind::kVariable &&
           checked_.environment.variable(reference.index).schema == nullptr;
  }
  const auto children = ast_.children(id);
  if (node.kind == NodeKind::kSelect) return IsData(children[0]);
  if (ast_.name_of(id) == "_?_:_") return IsData(children[1]) || IsData(children[2]);
  const TypeKind index = checked_.types[children[1]].kind();
  return ast_.name_of(id) == "_[_]" && index != TypeKind::kUint && index != TypeKind::kDouble &&
         IsData(children[0]);
}

const Builder::Local* Builder::FindLocal(NodeId id) const {
  if (ast_.node(id).kind != NodeKind::kIdentifier ||
      checked_.references[id].kind != check::Reference::Kind::kLocal) {
    return nullptr;
  }
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    if (scopes_[i].name == ast_.node(id).name) return &scopes_[i];
  }
  return nullptr;
}

Operand Builder::PlanLocal(const Local& local, bool charge_root) {
  emitter_.Charge(charge_root ? 1 : 0);
  if (local.lazy) {
    Deferred& deferred = deferred_[local.init];
    deferred.used = true;
    emitter_.EmitJump({.op = Op::kEnsureSet, .dst = local.place}, deferred.label);
  }
  return local.place;
}

Operand Builder::PlanVariable(NodeId id, Operand dst, bool charge_root) {
  if (const Local* const local = FindLocal(id)) return PlanLocal(*local, charge_root);
  const check::Reference& reference = checked_.references[id];
  if (reference.kind != check::Reference::Kind::kVariable) {
    Refuse(id, "undeclared reference to '" + std::string(ast_.name_of(id)) + "'");
  }
  emitter_.Emit({.op = Op::kLoadInput,
                 .cost = static_cast<std::uint16_t>(charge_root ? 1 : 0),
                 .dst = dst,
                 .target = reference.index});
  return dst;
}

void Builder::PlanChain(NodeId id, Operand dst, bool charge_root) {
  Label end;
  const Operand place = PlanLink(id, dst, {&end, charge_root}, true);
  MoveTo(place, dst);
  emitter_.Bind(end);
  const bool tests = ast_.node(id).kind == NodeKind::kSelect && ast_.node(id).test_only;
  if (tests && ast_.node(ast_.children(id)[0]).kind != NodeKind::kIdentifier) {
    // has() gives back what its variable costs, also where it begins with a conditional, whose
    // variables cost nothing.
    const bool gives = !checked_.environment.state().features.presence_test_costs &&
                       ast_.node(RootOf(id)).kind == NodeKind::kCall &&
                       !constants_.Is(RootOf(id)) && ast_.name_of(RootOf(id)) == "_?_:_";
    emitter_.Emit(
        {.op = Op::kPresence, .flags = static_cast<std::uint8_t>(gives ? kRefund : 0), .dst = dst});
  }
}

Operand Builder::PlanLink(NodeId id, Operand dst, const Chain& chain, bool last) {
  if (!IsAttribute(id)) {
    // The value of another expression is an attribute of its own, which costs 1 as a variable does.
    Operand place = dst;
    if (const std::optional<Operand> constant = ConstantOf(id)) {
      place = *constant;
    } else {
      PlanTo(id, dst);
    }
    emitter_.Charge(chain.charge_root ? 1 : 0);
    return place;
  }
  const syntax::Node& node = ast_.node(id);
  if (node.kind == NodeKind::kIdentifier) return PlanVariable(id, dst, chain.charge_root);
  if (node.kind == NodeKind::kCall && ast_.name_of(id) == "_?_:_") {
    PlanConditional(id, dst, chain, last);
    return dst;
  }
  return PlanQualifier(id, dst, chain, last);
}

Operand Builder::PlanQualifier(NodeId id, Operand dst, const Chain& chain, bool last) {
  const syntax::Node& node = ast_.node(id);
  const NodeId operand = ast_.children(id)[0];
  Chain inner = chain;
  Instruction instruction{.op = Op::kSelect, .dst = dst};
  if (last) instruction.flags |= kLast;
  // has() gives back what its variable costs.
  if (node.test_only) {
    instruction.flags |= kTest;
    inner.charge_root =
        chain.charge_root && checked_.environment.state().features.presence_test_costs;
  }
  instruction.a = PlanLink(operand, dst, inner, false);
  const bool begins = !IsAttribute(operand) || ast_.node(operand).kind == NodeKind::kIdentifier;
  if (begins) instruction.flags |= kFirst;
  if (node.kind == NodeKind::kSelect) {
    if (checked_.types[operand].kind() == TypeKind::kStruct) instruction.flags |= kTyped;
    instruction.b = emitter_.NameOf(ast_.name_of(id));
    if (Continues(instruction, program_.code)) instruction.flags |= kContinues;
    emitter_.EmitJump(instruction, *chain.end);
    return dst;
  }
  if (ast_.name_of(id) != "_[_]") instruction.flags |= kOptional;
  const NodeId index = ast_.children(id)[1];
  const bool is_name =
      constants_.Is(index) && program_.constants[constants_.of_node[index]].is_string();
  if (is_name) {
    instruction.b = emitter_.NameOf(program_.constants[constants_.of_node[index]].AsText());
    emitter_.EmitJump(instruction, *chain.end);
    return dst;
  }
  // The index is not evaluated if there is nothing to index.
  emitter_.EmitJump({.op = begins ? Op::kUnwrap : Op::kCheck, .dst = dst, .a = instruction.a},
                    *chain.end);
  if (begins) {
    instruction.a = dst;
    instruction.flags &= static_cast<std::uint8_t>(~kFirst);
  }
  const std::uint32_t free = emitter_.next_register();
  instruction.op = Op::kIndex;
  if (IsData(index)) instruction.flags |= kNative;
  instruction.b = PlanIndexOperand(index);
  emitter_.EmitJump(instruction, *chain.end);
  emitter_.next_register() = free;
  return dst;
}

Operand Builder::PlanIndexOperand(NodeId id) {
  if (const std::optional<Operand> constant = ConstantOf(id)) {
    const Value& value = program_.constants[constants_.of_node[id]];
    if (!value.is_bool() && !value.is_number() && !value.is_string()) {
      Refuse(id, "invalid qualifier type: " + std::string(GoTypeOf(value)));
    }
    return *constant;
  }
  if (const Local* const local = FindLocal(id)) return PlanLocal(*local, false);
  const Operand dst = emitter_.NewRegister();
  if (IsAttribute(id)) {
    PlanChain(id, dst, false);
  } else {
    PlanTo(id, dst);
  }
  return dst;
}

// The condition is evaluated, then one branch, in which the variable that it begins with is free.
// What follows the conditional in the chain continues the chain of the branch.
void Builder::PlanConditional(NodeId id, Operand dst, const Chain& chain, bool last) {
  const auto children = ast_.children(id);
  Label otherwise;
  Label join;
  const std::uint32_t free = emitter_.next_register();
  const Operand condition = Plan(children[0]);
  emitter_.EmitJump({.op = Op::kBranch, .dst = dst, .a = condition}, otherwise);
  emitter_.EmitJump(*chain.end);
  emitter_.next_register() = free;
  PlanBranch(children[1], dst, chain, last);
  emitter_.EmitJump(join);
  emitter_.Bind(otherwise);
  PlanBranch(children[2], dst, chain, last);
  emitter_.Bind(join);
}

void Builder::PlanBranch(NodeId id, Operand dst, const Chain& chain, bool last) {
  const Operand place = PlanLink(id, dst, {chain.end, false}, last);
  const bool has_qualifiers = IsAttribute(id) && ast_.node(id).kind != NodeKind::kIdentifier;
  if (!last && !has_qualifiers) {
    emitter_.EmitJump({.op = Op::kUnwrap, .dst = dst, .a = place}, *chain.end);
    return;
  }
  MoveTo(place, dst);
  const Type& type = checked_.types[id];
  if (!IsAttribute(id) && !constants_.Is(id) && (type.is_optional() || type.is_dyn())) {
    emitter_.Emit({.op = Op::kRewrap, .dst = dst});
  }
}

}  // namespace apiserver::v0::cel::plan
