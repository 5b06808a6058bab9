#pragma once

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

// Parses, checks and plans an expression. Bounded in time and stack for every text: more than
// 100,000 code points, a depth of 250 and the other limits of cel-go's parser are errors. Errors
// are kInvalid and begin as Kubernetes' do:
//   "compilation failed: ERROR: <input>:1:3: …" with the source line and a mark, up to 100 of them;
//   "must evaluate to bool", "must evaluate to one of [string null_type]";
//   "program instantiation failed: …", where folding a constant fails: int('x').
Result<Program> Compile(const Environment& environment, std::string_view text,
                        const CompileOptions& options = {});

}  // namespace apiserver::inline v0::cel
