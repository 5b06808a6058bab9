#pragma once  // Library-internal: other rooms include this header.

// Early returns for Status and Result; private to lib/.

// Returns from the function when `expr` (a Status) is an error.
#define RETURN_IF_ERROR(expr)                                     \
  do {                                                            \
    if (auto apiserver_status = (expr); !apiserver_status.ok()) { \
      return apiserver_status;                                    \
    }                                                             \
  } while (false)

// Binds `declaration` to the value of `expr` (a Result), or returns its error.
#define ASSIGN_OR_RETURN(declaration, expr) \
  APISERVER_ASSIGN_OR_RETURN_(declaration, expr, APISERVER_CONCAT_(apiserver_result_, __LINE__))
#define APISERVER_ASSIGN_OR_RETURN_(declaration, expr, result) \
  auto result = (expr);                                        \
  if (!result.ok()) return result.status();                    \
  declaration = std::move(result).value()
#define APISERVER_CONCAT_(a, b) APISERVER_CONCAT_2_(a, b)
#define APISERVER_CONCAT_2_(a, b) a##b
