#pragma once

// The one door to cpprestsdk's listener. <utility> first: Boost 1.74 uses std::exchange without
// including it.
#include <utility>

#include <cpprest/http_listener.h>
