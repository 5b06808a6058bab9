#pragma once

// The only place that includes cpprestsdk's client. <utility> comes first: Boost 1.74 uses
// std::exchange without including it.
#include <utility>

#include <cpprest/http_client.h>
#include <cpprest/rawptrstream.h>
#include <pplx/threadpool.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
