#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel/names.h"
#include "cel/run/program_state.h"

// The part of the planner that knows nothing of trees: instructions, registers, jumps and costs.
namespace apiserver::inline v0::cel::plan {

// A place in the code that jumps lead to before it is known.
class Label {
 public:
  Label() = default;
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  friend class Emitter;
  std::vector<std::uint32_t> jumps_;
  std::optional<std::uint32_t> place_;
};

class Emitter {
 public:
  explicit Emitter(ProgramState& program) : program_(program) {}

  // Appends an instruction. Costs that are pending are added to it.
  Instruction& Emit(Instruction instruction) {
    instruction.cost = static_cast<std::uint16_t>(instruction.cost + pending_cost_);
    pending_cost_ = 0;
    program_.code.push_back(instruction);
    return program_.code.back();
  }
  // Appends a jump to the label, or an instruction that may jump there.
  void EmitJump(Instruction instruction, Label& label) {
    Emit(instruction).target = label.place_.value_or(0);
    if (!label.place_.has_value()) label.jumps_.push_back(Here() - 1);
  }
  void EmitJump(Label& label) { EmitJump({.op = Op::kJump}, label); }
  // Lets the jumps of a label lead here.
  void Bind(Label& label) {
    Flush();
    for (const std::uint32_t jump : label.jumps_) program_.code[jump].target = Here();
    label.jumps_.clear();
    label.place_ = Here();
  }
  std::uint32_t Here() const { return static_cast<std::uint32_t>(program_.code.size()); }

  // Counts a cost with the next instruction, which must be reached from here without a jump.
  void Charge(std::uint16_t cost) { pending_cost_ += cost; }
  // Counts what is pending by an instruction of its own: before a place that is jumped to.
  void Flush() {
    if (pending_cost_ > 0) Emit({.op = Op::kCharge});
  }

  // Takes the next free register. Registers are given back by setting next_register() to an earlier
  // one.
  Operand NewRegister(std::uint32_t count = 1) {
    const std::uint32_t first = next_register_;
    next_register_ += count;
    program_.register_count = std::max(program_.register_count, next_register_);
    return static_cast<Operand>(std::min<std::uint32_t>(first, kConstantBit - 1));
  }
  std::uint32_t& next_register() { return next_register_; }
  // False: the program needs more registers, constants or names than operands can name.
  bool fits() const {
    return program_.register_count < kConstantBit && program_.constants.size() < kConstantBit &&
           program_.names.size() < kNoOperand;
  }

  // Returns the number of a field name.
  Operand NameOf(std::string_view name) {
    const auto [at, added] = name_numbers_.try_emplace(
        std::string(name), static_cast<std::uint32_t>(program_.names.size()));
    if (added) {
      const std::string_view text = program_.arena.Copy(name);
      FieldName field{.name = text, .property = text};
      std::optional<std::string> property = Unescape(name);
      field.unescapes = property.has_value();
      if (property.has_value() && *property != name) {
        field.property = program_.arena.Copy(*property);
      }
      program_.names.push_back(field);
    }
    return static_cast<Operand>(at->second);
  }

 private:
  ProgramState& program_;
  std::uint32_t next_register_ = 0;
  std::uint32_t pending_cost_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> name_numbers_;
};

}  // namespace apiserver::inline v0::cel::plan
