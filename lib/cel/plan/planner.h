#pragma once

#include <memory>

#include "apiserver/base/status.h"
#include "cel/check/checked.h"
#include "cel/plan/program_state.h"

// Turns a checked tree into a program: interpreter/planner.go and decorators.go of cel-go.
namespace apiserver::inline v0::cel::plan {

// Folds constants and plans the tree. An error, kInvalid, is what cel-go's Program() returns: the
// error of a conversion of a constant ("type conversion error from 'string' to 'int'"), an unknown
// message type.
Result<std::shared_ptr<ProgramState>> Plan(const check::CheckedAst& checked);

}  // namespace apiserver::inline v0::cel::plan
