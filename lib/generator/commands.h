#pragma once

#include <span>
#include <string>

#include "apiserver/base/status.h"

// The commands of apiserver-gen. Only the program has them: they print, and choose its exit code.
namespace apiserver::inline v0::generator {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // Something cannot be read, made or written.
inline constexpr int kExitUsage = 2;    // The command line is wrong.

// Each runs with the words behind its name, and returns the exit code.
int RunTypes(std::span<const std::string> words);
int RunProject(std::span<const std::string> words);

// Prints an error to standard error, and returns `code`.
int Fail(int code, const Status& status);
// Prints a text to standard output. kInternalError: it could not be written.
Status Print(const std::string& text);

}  // namespace apiserver::inline v0::generator
