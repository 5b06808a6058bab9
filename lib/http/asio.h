#pragma once

// The only place that includes Boost.Asio, whose headers take over a second to compile. <utility>
// comes first because Asio 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
