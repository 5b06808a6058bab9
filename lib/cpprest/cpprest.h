#pragma once

// Includes cpprestsdk's listener; no other file does. <utility> comes first: Boost 1.74 uses
// std::exchange without including it.
#include <utility>

#include <cpprest/http_listener.h>
