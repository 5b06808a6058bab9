#include "storage/rewriting.h"

#include "apiserver/storage/rocks/engine.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

TEST_CASE("storage.rocks: nothing is lost of what others write while values are made anew",
          "[storage.rocks]") {
  TempDirectory directory;
  const auto engine = Open({.path = directory.path()}).value();
  testing::CheckRewritingBesideWriters(*engine, GENERATE(true, false));
  engine->Stop();
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
