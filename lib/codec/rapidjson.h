#pragma once

// The only place that includes RapidJSON, so that it can be changed. Its last release asserts with
// abort() and recurses by default: json.cc uses nothing of it but the iterative SAX reader, whose
// numbers it takes as text (the number conversion of 1.1.0 is inexact and has open CVEs).

#include <cassert>

#define RAPIDJSON_ASSERT(condition) assert(condition)
#define RAPIDJSON_HAS_STDSTRING 0
#include <rapidjson/reader.h>
