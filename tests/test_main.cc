// The one main of every test binary: Catch2's own, compiled once. It raises the soft limit on open
// files, which tests with thousands of connections need; the library itself never does.
#define CATCH_CONFIG_RUNNER
#include <sys/resource.h>

#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);  // Best effort: the test that needs more says so.
  }
  return Catch::Session().run(argc, argv);
}
