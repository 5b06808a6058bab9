#include "apiserver/client/informer.h"

#include <utility>

#include "client/mirror.h"
#include "client/reflector.h"

namespace apiserver::v0::client {
namespace {

using runtime::ObjectPtr;
using std::chrono::milliseconds;

class MirrorInformer final : public Informer {
 public:
  MirrorInformer(Client& client, InformerOptions options)
      : mirror_(options.handlers), reflector_(client, std::move(options), mirror_) {}

  void Start() override { reflector_.Start(); }
  void Stop() override { reflector_.Stop(); }
  bool HasSynced() const override { return reflector_.HasSynced(); }
  bool WaitForSync(milliseconds timeout) const override { return reflector_.WaitForSync(timeout); }
  std::string LastResourceVersion() const override { return reflector_.LastResourceVersion(); }
  ObjectPtr Get(std::string_view namespace_, std::string_view name) const override {
    return mirror_.Get(namespace_, name);
  }
  std::vector<ObjectPtr> List() const override { return mirror_.List(); }

 private:
  Mirror mirror_;
  Reflector reflector_;
};

}  // namespace

std::unique_ptr<Informer> NewInformer(Client& client, InformerOptions options) {
  return std::make_unique<MirrorInformer>(client, std::move(options));
}

}  // namespace apiserver::v0::client
