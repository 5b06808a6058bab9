#pragma once

#include "apiserver/program/run_standalone.h"

namespace apiserver::inline v0::program {

// Runs the command `doctor`: prints what a server behind an aggregator lacks in its cluster and
// what to apply, or with --standalone what is wrong with a server's data directory and flags, and
// repairs it if it is told to. `argv` begins with the command. It takes the server's flags, of
// which it needs few, so that the server's command line may be given, and flags of its own; it
// refuses what such a server refuses. Returns the exit code: kExitOk if nothing is wrong.
int DoctorMain(int argc, const char* const* argv, const Program& program);

}  // namespace apiserver::inline v0::program
