#pragma once  // Library-internal: other rooms include this header.

#include "apiserver/base/status_macros.h"

// The public macros under names that are short, and private to lib/.
#define RETURN_IF_ERROR(expr) APISERVER_RETURN_IF_ERROR(expr)
#define ASSIGN_OR_RETURN(declaration, expr) APISERVER_ASSIGN_OR_RETURN(declaration, expr)
