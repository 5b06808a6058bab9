#include <utility>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/passes.h"
#include "runtime/rewrite.h"
#include "runtime/unknown_paths.h"

namespace apiserver::v0::runtime {

namespace {

// Follows schema/pruning in apiextensions-apiserver.
class PrunePass final : public RewritePass {
 public:
  bool Open(const Schema& schema, Value source, std::vector<Slot>& slots, bool& changed) override {
    const bool root = std::exchange(root_, false);
    for (const Value& item : source.items()) slots.push_back({"", item, schema.items().get()});
    for (const Member& member : source.members()) {
      bool known = false;
      const Schema* const child = MemberSchema(schema, member.key, known);
      if (known || (root && member.key == "metadata")) {
        slots.push_back({member.key, member.value, child});
      } else {
        changed = true;
      }
    }
    return true;
  }

 private:
  bool root_ = true;  // Every resource has metadata, whether the schema says so or not.
};

}  // namespace

void Prune(Object& object) {
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || version->schema->type == SchemaType::kAny) return;
  Value root = object.root();
  PrunePass pass;
  (void)Rewrite(*version->schema, pass, object.arena(), root);  // Pruning cannot fail.
  object.SetRoot(root);
}

}  // namespace apiserver::v0::runtime
