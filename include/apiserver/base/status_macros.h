#pragma once

#include <utility>

// Early returns for functions that return a Status or a Result (status.h). The only public header
// of macros: no other one includes it, so a host that has macros of its own can do without.
namespace apiserver::inline v0 {
class Status;
template <class T>
class Result;
}  // namespace apiserver::inline v0

// Returns from the function when `expr`, a Status, is an error. `expr` is evaluated once.
//
//   APISERVER_RETURN_IF_ERROR(server->PrepareRun());
#define APISERVER_RETURN_IF_ERROR(expr)                           \
  do {                                                            \
    if (auto apiserver_status = (expr); !apiserver_status.ok()) { \
      return apiserver_status;                                    \
    }                                                             \
  } while (false)

// Binds `declaration` to the value of `expr`, a Result, or returns its error from the function.
// Two statements: within an `if` or a loop it needs braces. A declaration whose type has a comma
// is written with `auto`.
//
//   APISERVER_ASSIGN_OR_RETURN(const auto kind, runtime::Kind::New(std::move(options)));
#define APISERVER_ASSIGN_OR_RETURN(declaration, expr) \
  APISERVER_ASSIGN_OR_RETURN_(declaration, expr, APISERVER_CONCAT_(apiserver_result_, __LINE__))

// Private to the macro above.
#define APISERVER_ASSIGN_OR_RETURN_(declaration, expr, result) \
  auto result = (expr);                                        \
  if (!result.ok()) return std::move(result).status();         \
  declaration = std::move(result).value()
#define APISERVER_CONCAT_(a, b) APISERVER_CONCAT_2_(a, b)
#define APISERVER_CONCAT_2_(a, b) a##b
