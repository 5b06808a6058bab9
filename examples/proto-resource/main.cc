// A kind that a .proto file describes: served as JSON, YAML and protobuf, explained with the file's
// comments. Its strategy uses the message class that protoc made, which serving it would not need.
//   ./proto-resource &  kubectl --kubeconfig orders.kubeconfig explain orders.spec
#include <cstdio>

#include "apiserver/codec/message.h"
#include "apiserver/codec/proto_schema.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "common/run_until_signal.h"
#include "shop/v1/order.pb.h"
#include "shop_api.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.
using com::example::shop::v1::Order;
using com::example::shop::v1::OrderLine;

namespace {

// An order has lines that count, and knows how many pieces it is. The store checks what the file's
// markers say.
class OrderStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  void PrepareForCreate(const Context&, runtime::Object& object) const override { Count(object); }
  void PrepareForUpdate(const Context&, runtime::Object& object,
                        const runtime::Object&) const override {
    Count(object);
  }
  field::ErrorList Validate(const Context&, const runtime::Object& object) const override {
    field::ErrorList errors;
    const Result<Order> order = codec::ToMessage<Order>(object);
    if (!order.ok()) return errors;
    int i = 0;
    for (const OrderLine& line : order->spec().lines()) {
      const std::string count = "spec.lines[" + std::to_string(i++) + "].count";
      if (line.count() > 0) continue;
      errors.InvalidPrinted(field::Path(count), std::to_string(line.count()),
                            "must be greater than zero");
    }
    return errors;
  }

 private:
  static void Count(runtime::Object& object) {
    Result<Order> order = codec::ToMessage<Order>(object);
    if (!order.ok()) return;
    int pieces = 0;
    for (const OrderLine& line : order->spec().lines()) pieces += line.count();
    order->mutable_status()->set_pieces(pieces);
    (void)codec::FromMessage(*order, object);  // It was one a moment ago.
  }
};

Result<runtime::KindPtr> NewOrderKind() {
  const auto schemas = codec::ProtoSchemas::Load(shop_api::Descriptors());
  if (!schemas.ok()) return schemas.status();
  const auto schema = schemas->Find("com.example.shop.v1.Order");
  if (!schema.ok()) return schema.status();
  return runtime::Kind::New({.group = "shop.example.com",
                             .kind = "Order",
                             .plural = "orders",
                             .versions = {{.version = "v1", .schema = *schema}}});
}

}  // namespace

int main() {
  examples::BlockSignals();
  const auto kind = NewOrderKind();
  const auto standalone = server::NewStandalone({});
  if (!kind.ok() || !standalone.ok()) return examples::Fail(kind.status());

  const auto engine = storage::memory::NewEngine();
  server::Config config;
  standalone->Apply(config);
  auto server = std::move(config).Complete().value().New().value();
  (void)server->scheme().Add(*kind);
  auto store = registry::NewStore(
      {.engine = engine.get(), .executor = &server->pool(), .memory = server->memory()},
      {.kind = *kind, .strategy = std::make_shared<OrderStrategy>()});
  if (!store.ok()) return examples::Fail(store.status());
  (void)server->InstallAPIGroup({"shop.example.com", {{"v1", {{"orders", *store}}}}});
  (void)server->PrepareRun();
  return examples::RunUntilSignal(*server, [&] {
    (void)standalone->WriteKubeconfig("orders.kubeconfig", server->port());
    std::printf("try: kubectl --kubeconfig orders.kubeconfig explain orders.spec\n");
  });
}
