#pragma once

// The only place that includes Boost.Beast, and of it nothing but the HTTP/1 parser.
#include <utility>

#include <boost/beast/http/basic_parser.hpp>
