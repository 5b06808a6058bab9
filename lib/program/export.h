#pragma once

#include <string_view>

#include "apiserver/program/run_standalone.h"

namespace apiserver::inline v0::program {

// True for "crd", "openapi" and "manifests".
bool IsExport(std::string_view command);

// Runs such a command: prints the program's kinds as CustomResourceDefinitions, its OpenAPI
// documents as a server would serve them, or what deploys it behind an aggregator, but without a
// server: nothing is opened and nothing listens. `argv` begins with the command. Returns the exit
// code.
int ExportMain(int argc, const char* const* argv, const Program& program);

}  // namespace apiserver::inline v0::program
