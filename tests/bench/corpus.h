#pragma once

#include <cstddef>
#include <string>

#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "bench/server_under_test.h"

// The objects that servers are measured with: about a KiB once stored, in 50 namespaces, with a
// label `app` of 100 values and a label `tier` of 3.
namespace bench {

// Fails the whole run; the macro of the library is private to it.
#define BENCH_ASSIGN(declaration, expression)                   \
  auto declaration##_or = (expression);                         \
  if (!declaration##_or.ok()) return declaration##_or.status(); \
  auto& declaration = *declaration##_or

constexpr char kGroup[] = "/apis/wardle.example.com/v1alpha1";

std::string NamespaceOf(std::size_t n);
std::string CollectionOf(const std::string& name_space);
// Creates the nth object.
apiserver::http::ClientRequest Post(const std::string& name, std::size_t n);

// Creates `o-<first>` to `o-<objects - 1>`.
apiserver::Status Populate(apiserver::http::Dialer& dialer, const ServerUnderTest& server,
                           std::size_t objects, std::size_t first = 0);

}  // namespace bench
