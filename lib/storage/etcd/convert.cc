#include "storage/etcd/convert.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>

namespace apiserver::v0::storage::etcd {

kv::KeyValue ToKeyValue(wire::KeyValue& kv, bool with_value) {
  kv::KeyValue to;
  to.key = std::move(*kv.mutable_key());
  if (with_value) to.value = std::make_shared<const std::string>(std::move(*kv.mutable_value()));
  to.create_revision = kv.create_revision();
  to.mod_revision = kv.mod_revision();
  to.lease = kv.lease();
  return to;
}

kv::Event ToEvent(wire::Event& event) {
  kv::Event to;
  const bool put = event.type() == wire::Event::PUT;
  to.type = put ? kv::Event::Type::kPut : kv::Event::Type::kDelete;
  // etcd does not mark creations; a key's first revision is then its last one.
  to.is_create = put && event.kv().create_revision() == event.kv().mod_revision();
  to.kv = ToKeyValue(*event.mutable_kv(), put);
  if (event.has_prev_kv()) to.previous = ToKeyValue(*event.mutable_prev_kv(), true);
  return to;
}

kv::Revision RevisionOfText(std::string_view text) {
  kv::Revision revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  return error == std::errc() && end == text.data() + text.size() && revision > 0 ? revision : 0;
}

}  // namespace apiserver::v0::storage::etcd
