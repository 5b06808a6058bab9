// Version 3 of Catch2 under the name of version 2's only header.
#pragma once

#include <catch2/catch_all.hpp>

using Catch::Approx;
