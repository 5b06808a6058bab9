#pragma once

#include <string_view>

#include "apiserver/storage/kv/engine.h"
#include "storage/etcd/messages.pb.h"

// Between etcd's messages and the engine's structs.
namespace apiserver::inline v0::storage::etcd {

namespace wire = ::apiserver_etcd;

// Takes the bytes out of `kv`. Without `with_value` the value is null.
kv::KeyValue ToKeyValue(wire::KeyValue& kv, bool with_value);
kv::Event ToEvent(wire::Event& event);
// The number that kCompactRevisionKey holds; 0 if it holds none.
kv::Revision RevisionOfText(std::string_view text);

}  // namespace apiserver::inline v0::storage::etcd
