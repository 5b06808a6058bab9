#include "cel/plan/builder.h"

#include "cel/plan/planner.h"

namespace apiserver::v0::cel::plan {

using syntax::NodeId;
using syntax::NodeKind;

namespace {

// Notes the variables and fields that an expression names, also where they are never evaluated.
void NoteUses(const check::CheckedAst& checked, const std::vector<bool>& reachable,
              ProgramState& program, Emitter& emitter) {
  const syntax::Ast& ast = checked.ast;
  program.uses.assign(checked.environment.variable_count(), false);
  const auto select = [&](std::string_view field) {
    program.names[emitter.NameOf(field)].selected = true;
  };
  for (NodeId id = 0; id < ast.size(); ++id) {
    if (!reachable[id]) continue;
    const check::Reference& reference = checked.references[id];
    if (reference.kind == check::Reference::Kind::kVariable) program.uses[reference.index] = true;
    const syntax::Node& node = ast.node(id);
    if (node.kind == NodeKind::kSelect) select(ast.name_of(id));
    if (node.kind != NodeKind::kCall || ast.name_of(id) != "_?._") continue;
    const NodeId field = ast.children(id)[1];
    if (ast.node(field).kind != NodeKind::kConstant) continue;
    const auto* const text = std::get_if<std::string>(&ast.constant(field));
    if (text != nullptr) select(*text);
  }
}

}  // namespace

Status Builder::Run() {
  NoteUses(checked_, constants_.reachable, program_, emitter_);
  const Operand result = emitter_.NewRegister();
  PlanTo(ast_.root(), result);
  emitter_.Emit({.op = Op::kReturn, .a = result});
  PlanDeferred();
  // cel-go folds a node when it plans it, children first: of two mistakes the first counts.
  if (!constants_.failure.ok() && constants_.failed <= refused_) return constants_.failure;
  if (status_.ok() && !emitter_.fits()) {
    return {Reason::kInvalid, "expression needs too many registers or names"};
  }
  return status_;
}

// Each init works in registers above all others, since it may be computed wherever its variable is
// read. One may be read by another.
void Builder::PlanDeferred() {
  while (PlanNextDeferred()) {
  }
}

bool Builder::PlanNextDeferred() {
  for (Deferred& deferred : deferred_) {
    if (!deferred.used || deferred.planned) continue;
    deferred.planned = true;
    scopes_ = deferred.scopes;
    emitter_.next_register() = program_.register_count;
    emitter_.Bind(deferred.label);
    PlanTo(deferred.init, deferred.place);
    emitter_.Emit({.op = Op::kReturnSet, .dst = deferred.place});
    return true;
  }
  return false;
}

std::optional<Operand> Builder::ConstantOf(NodeId id) const {
  if (!constants_.Is(id)) return std::nullopt;
  return static_cast<Operand>(constants_.of_node[id] | kConstantBit);
}

void Builder::MoveTo(Operand from, Operand dst) {
  if (from != dst) emitter_.Emit({.op = Op::kMove, .dst = dst, .a = from});
}

Operand Builder::Plan(NodeId id) {
  if (const std::optional<Operand> constant = ConstantOf(id)) return *constant;
  if (const Local* const local = FindLocal(id)) return PlanLocal(*local, true);
  const Operand dst = emitter_.NewRegister();
  PlanTo(id, dst);
  return dst;
}

void Builder::PlanTo(NodeId id, Operand dst) {
  const std::uint32_t free = emitter_.next_register();
  if (const std::optional<Operand> constant = ConstantOf(id)) {
    MoveTo(*constant, dst);
  } else if (IsAttribute(id)) {
    PlanChain(id, dst, true);
  } else {
    switch (ast_.node(id).kind) {
      case NodeKind::kCall:
        PlanCall(id, dst);
        break;
      case NodeKind::kList:
        PlanList(id, dst);
        break;
      case NodeKind::kMap:
        PlanMap(id, dst);
        break;
      case NodeKind::kMessage:
        PlanMessage(id, dst);
        break;
      case NodeKind::kComprehension:
        PlanComprehension(id, dst);
        break;
      default:
        Refuse(id, "unsupported expr");
    }
  }
  emitter_.next_register() = free;
}

// The first element that is an error is the result, and the others are not evaluated.
void Builder::PlanList(NodeId id, Operand dst) {
  const auto elements = ast_.children(id);
  Label end;
  const Operand list = emitter_.NewRegister();
  emitter_.Emit(
      {.op = Op::kNewList, .dst = list, .target = static_cast<std::uint32_t>(elements.size())});
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint32_t free = emitter_.next_register();
    const Operand element = Plan(elements[i]);
    const std::uint8_t optional = ast_.entry(id, i).optional ? kElementOptional : 0;
    emitter_.EmitJump({.op = Op::kPush, .flags = optional, .dst = list, .a = element}, end);
    emitter_.next_register() = free;
  }
  emitter_.Bind(end);
  emitter_.Emit({.op = Op::kMove, .cost = kListCost, .dst = dst, .a = list});
}

void Builder::PlanMap(NodeId id, Operand dst) {
  const auto children = ast_.children(id);
  Label end;
  const Operand map = emitter_.NewRegister();
  emitter_.Emit({.op = Op::kNewMap, .dst = map});
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
    const std::uint32_t free = emitter_.next_register();
    const Operand key = Plan(children[i]);
    if (!constants_.Is(children[i])) {
      emitter_.EmitJump({.op = Op::kCheck, .dst = map, .a = key}, end);
    }
    const Operand value = Plan(children[i + 1]);
    const std::uint8_t optional = ast_.entry(id, i / 2).optional ? kElementOptional : 0;
    emitter_.EmitJump({.op = Op::kPut, .flags = optional, .dst = map, .a = key, .b = value}, end);
    emitter_.next_register() = free;
  }
  emitter_.Bind(end);
  emitter_.Emit({.op = Op::kMove, .cost = kMapCost, .dst = dst, .a = map});
}

void Builder::PlanMessage(NodeId id, Operand dst) {
  const auto values = ast_.children(id);
  const Type& type = checked_.types[id];
  Label end;
  const Operand message = emitter_.NewRegister();
  // Messages of protobuf become values of other types.
  program_.types.push_back(
      type.kind() == TypeKind::kStruct ? type : Type::Struct(std::string(ast_.name_of(id))));
  emitter_.Emit({.op = Op::kNewMessage,
                 .dst = message,
                 .target = static_cast<std::uint32_t>(program_.types.size() - 1)});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t free = emitter_.next_register();
    const Operand value = Plan(values[i]);
    const syntax::Entry entry = ast_.entry(id, i);
    emitter_.EmitJump({.op = Op::kSetField,
                       .flags = static_cast<std::uint8_t>(entry.optional ? kElementOptional : 0),
                       .dst = message,
                       .a = value,
                       .b = emitter_.NameOf(ast_.name(entry.field))},
                      end);
    emitter_.next_register() = free;
  }
  emitter_.Emit({.op = Op::kEndMessage, .dst = message});
  emitter_.Bind(end);
  emitter_.Emit({.op = Op::kMove, .cost = kMessageCost, .dst = dst, .a = message});
}

Result<std::shared_ptr<ProgramState>> Plan(const check::CheckedAst& checked) {
  auto program = std::make_shared<ProgramState>(checked.environment);
  Result<Constants> constants = Fold(checked, *program);
  if (!constants.ok()) return constants.status();
  program->result_type = checked.result_type;
  const Status status = Builder(checked, *program, *std::move(constants)).Run();
  if (!status.ok()) return status;
  program->code.shrink_to_fit();
  program->constants.shrink_to_fit();
  program->names.shrink_to_fit();
  program->callees.shrink_to_fit();
  return program;
}

}  // namespace apiserver::v0::cel::plan
