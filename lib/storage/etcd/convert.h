#pragma once

#include <string_view>

#include "apiserver/storage/kv/engine.h"
#include "storage/etcd/messages.pb.h"

// Conversions between etcd's messages and the engine's structs.
namespace apiserver::inline v0::storage::etcd {

namespace wire = ::apiserver_etcd;

// Converts `kv` and takes the bytes out of it. Without `with_value` the value is null.
kv::KeyValue ToKeyValue(wire::KeyValue& kv, bool with_value);
kv::Event ToEvent(wire::Event& event);
// Returns the number in the value of kCompactRevisionKey. 0: it is no number.
kv::Revision RevisionOfText(std::string_view text);

}  // namespace apiserver::inline v0::storage::etcd
