#pragma once

#include <string_view>

#include "apiserver/program/run_standalone.h"

namespace apiserver::inline v0::program {

// True for "crd" and "openapi".
bool IsExport(std::string_view command);

// Runs the command `crd` or `openapi`: prints the program's kinds as CustomResourceDefinitions, or
// its OpenAPI documents, as a server would serve them, but without one: nothing is opened and
// nothing listens. `argv` begins with the command. Returns the exit code.
int ExportMain(int argc, const char* const* argv, const Program& program);

}  // namespace apiserver::inline v0::program
