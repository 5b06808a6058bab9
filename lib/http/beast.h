#pragma once

// The one door to Boost.Beast: its HTTP/1 parser and nothing else.
#include <utility>

#include <boost/beast/http/basic_parser.hpp>
