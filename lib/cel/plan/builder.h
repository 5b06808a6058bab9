#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cel/check/checked.h"
#include "cel/plan/emitter.h"
#include "cel/plan/fold.h"

namespace apiserver::inline v0::cel::plan {

// Plans the nodes of one tree. Recursion is as deep as the tree, which the parser bounds.
class Builder {
 public:
  Builder(const check::CheckedAst& checked, ProgramState& program, Constants constants)
      : checked_(checked),
        ast_(checked.ast),
        program_(program),
        constants_(std::move(constants)),
        emitter_(program) {}

  Status Run();

 private:
  using NodeId = syntax::NodeId;

  // A variable of a comprehension around the node that is planned.
  struct Local {
    syntax::NameId name;
    Operand place;
    bool lazy = false;       // Its init is computed when it is first read.
    std::uint32_t init = 0;  // The number of the init in deferred_.
  };
  // An init that is planned after the rest, with the scopes that it sees.
  struct Deferred {
    NodeId init;
    Operand place;
    std::vector<Local> scopes;
    Label label;
    bool used = false;
    bool planned = false;
  };

  // builder.cc
  // Plans a node so that its value is in the register `dst`.
  void PlanTo(NodeId id, Operand dst);
  // Plans a node and returns where its value is: a constant, a variable's register or a new
  // register.
  Operand Plan(NodeId id);
  void PlanDeferred();
  bool PlanNextDeferred();
  void PlanList(NodeId id, Operand dst);
  void PlanMap(NodeId id, Operand dst);
  void PlanMessage(NodeId id, Operand dst);
  void MoveTo(Operand from, Operand dst);
  // Returns the constant that a node is. nullopt: it is none.
  std::optional<Operand> ConstantOf(NodeId id) const;
  // The node `id` is what is wrong with the program. The first mistake found counts.
  void Refuse(NodeId id, std::string message) {
    if (!status_.ok()) return;
    status_ = Status(Reason::kInvalid, std::move(message));
    refused_ = id;
  }

  // chains.cc
  // Tells if cel-go plans the node as an attribute: a variable, a selection, an index, a
  // conditional.
  bool IsAttribute(NodeId id) const;
  NodeId RootOf(NodeId id) const;
  // Tells if the node's value may be data as the host handed it in.
  bool IsData(NodeId id) const;
  // A chain of selections while its parts are planned.
  struct Chain {
    Label* end;        // The end of the chain, where errors and absence lead to.
    bool charge_root;  // The variable that the chain begins with costs 1.
  };
  void PlanChain(NodeId id, Operand dst, bool charge_root);
  // Plans a part of a chain. Its value is then in the returned place; `dst` is its register if it
  // needs one. `last`: no other part follows.
  Operand PlanLink(NodeId id, Operand dst, const Chain& chain, bool last);
  Operand PlanVariable(NodeId id, Operand dst, bool charge_root);
  Operand PlanQualifier(NodeId id, Operand dst, const Chain& chain, bool last);
  void PlanConditional(NodeId id, Operand dst, const Chain& chain, bool last);
  void PlanBranch(NodeId id, Operand dst, const Chain& chain, bool last);
  Operand PlanIndexOperand(NodeId id);
  Operand PlanLocal(const Local& local, bool charge_root);
  const Local* FindLocal(NodeId id) const;

  // calls.cc
  void PlanCall(NodeId id, Operand dst);
  void PlanLogical(NodeId id, Operand dst, bool conjunction);
  void PlanOptionalOr(NodeId id, Operand dst, Op op);
  void PlanBinary(NodeId id, Operand dst, Instruction instruction);
  bool PlanOperator(NodeId id, Operand dst);
  bool PlanIn(NodeId id, Operand dst);
  void PlanFunction(NodeId id, Operand dst);
  void Prepare(NodeId id, Callee& callee);

  // loops.cc
  void PlanComprehension(NodeId id, Operand dst);
  void PlanLoop(NodeId id, Operand iterator, Operand accumulator);
  void PlanCondition(NodeId id, Operand accumulator, Label& done);
  bool PlanLogicalLoop(NodeId step, Instruction next, Operand accumulator);
  bool IsLogicalStep(NodeId id, std::string_view function, Operand accumulator) const;
  void PlanStep(NodeId id, Operand accumulator);
  bool PlanStepInPlace(NodeId id, Operand accumulator);
  bool PlanLogicalStep(NodeId id, Operand accumulator);
  bool PlanAppend(NodeId id, Operand accumulator);
  bool PlanInsert(NodeId id, Operand accumulator);
  bool PlanFilter(NodeId id, Operand accumulator);
  bool IsAccumulator(NodeId id, Operand accumulator) const;
  Operand BeginAccumulator(const syntax::Comprehension& loop);

  const check::CheckedAst& checked_;
  const syntax::Ast& ast_;
  ProgramState& program_;
  Constants constants_;
  Emitter emitter_;
  Status status_;
  NodeId refused_ = syntax::kNoNode;
  std::vector<Local> scopes_;
  std::deque<Deferred> deferred_;
  // The accumulator begins as an empty list or map, which only the step changes.
  bool accumulates_in_place_ = false;
};

}  // namespace apiserver::inline v0::cel::plan
