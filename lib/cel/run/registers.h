#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "apiserver/cel/evaluate.h"

namespace apiserver::inline v0::cel {

// The registers of one evaluation, taken from its Scratch and given back when it ends. Evaluations
// that run within another take theirs from a block of their own, so that registers never move.
class Registers {
 public:
  Registers(Scratch& scratch, std::uint32_t count) : scratch_(scratch) {
    const std::size_t depth = scratch.registers_used_++;
    if (depth == scratch.registers_.size()) scratch.registers_.emplace_back();
    Scratch::Block& block = scratch.registers_[depth];
    if (block.size < count) {
      block.size = std::max<std::uint32_t>(count, kLeast);
      block.registers = std::make_unique<Value[]>(block.size);
    }
    first_ = block.registers.get();
  }
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;
  ~Registers() { --scratch_.registers_used_; }

  Value* first() const { return first_; }

 private:
  static constexpr std::uint32_t kLeast = 32;

  Scratch& scratch_;
  Value* first_;
};

}  // namespace apiserver::inline v0::cel
