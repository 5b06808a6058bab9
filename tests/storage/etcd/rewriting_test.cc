#include "storage/rewriting.h"

#include "storage/etcd/fixture.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

TEST_CASE("storage.etcd: nothing is lost of what others write while values are made anew",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto engine = Must(Open(OptionsFor(server->urls())));
  testing::CheckRewritingBesideWriters(*engine, /*cached=*/true);
  engine->Stop();
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
