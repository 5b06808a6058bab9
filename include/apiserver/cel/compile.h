#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/program.h"

// Text to Program.
namespace apiserver::inline v0::cel {

struct CompileOptions {
  // The types that the result may have; it must be equal to one of them. Empty: any.
  std::vector<Type> result_types = {};
};

// The step at which an expression was refused. Kubernetes words the same failure differently in
// different places.
enum class CompileStage : std::uint8_t {
  kDone,
  kText,        // It does not parse or check.
  kResultType,  // It has another type than those wanted.
  kProgram,     // Folding a constant failed: int('x').
};

// Parses, checks and plans an expression. Bounded in time and stack for every text: more than
// 100,000 code points, a depth of 250 and the other limits of cel-go's parser are errors. Errors
// have the words of admission policies.
//
// kInvalid: "compilation failed: ERROR: <input>:1:3: …" with the source line and a mark, up to 100
// of them; "must evaluate to bool but got int", "must evaluate to one of [string null_type] but got
// int". kInternalError: "program instantiation failed: …".
//
// `stage`, if not null, becomes the step that failed.
Result<Program> Compile(const Environment& environment, std::string_view text,
                        const CompileOptions& options = {}, CompileStage* stage = nullptr);

}  // namespace apiserver::inline v0::cel
