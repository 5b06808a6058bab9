// A kind that a .proto file describes: served as JSON, YAML and protobuf, explained with the file's
// comments. Its strategy uses the message class that protoc made, which serving it would not need.
//   ./proto-resource &  kubectl --kubeconfig orders.kubeconfig explain orders.spec
#include <memory>
#include <string>

#include "apiserver/base/status_macros.h"
#include "apiserver/codec/message.h"
#include "apiserver/codec/proto_schema.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/install.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
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
  APISERVER_ASSIGN_OR_RETURN(const auto schemas,
                             codec::ProtoSchemas::Load(shop_api::Descriptors()));
  APISERVER_ASSIGN_OR_RETURN(const auto schema, schemas.Find("com.example.shop.v1.Order"));
  // The server counts the pieces in the status itself: no client reports them.
  return runtime::Kind::New(
      {.group = "shop.example.com",
       .kind = "Order",
       .plural = "orders",
       .versions = {{.version = "v1", .schema = schema, .status_subresource = false}}});
}

Result<int> Run() {
  const auto engine = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_ASSIGN_OR_RETURN(const auto kind, NewOrderKind());
  const auto strategy = std::make_shared<OrderStrategy>();
  const auto stores = server::InstallKinds(*server, server->Storage(*engine),
                                           {{.kind = kind, .strategy = strategy}});
  APISERVER_RETURN_IF_ERROR(stores.status());
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  return program::RunUntilSignal(*server, [&] {
    const Status written = standalone.WriteKubeconfig("orders.kubeconfig", server->port());
    if (!written.ok()) program::Fail(written);
  });
}

}  // namespace

int main() {
  program::BlockSignals();
  const auto code = Run();
  return code.ok() ? *code : program::Fail(code.status());
}
