#pragma once

#include <memory>

#include "storage/etcd/login.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// Returns a transport that logs `user` in at etcd (etcdserverpb.Auth/Authenticate) and keeps the
// token in `token`, which `inner` sends. It logs in before the first call, and again when a member
// does not know the token any more: tokens end with their time, and with the member that remembers
// them. The call that learns of it is repeated once, also a write, since etcd looks at the token
// before it begins. While etcd's authentication is off, there is no token. As
// go.etcd.io/etcd/client/v3 does.
std::shared_ptr<Rpc> NewTokenRpc(std::shared_ptr<Rpc> inner, EtcdUser user,
                                 std::shared_ptr<SharedToken> token);

}  // namespace apiserver::inline v0::storage::etcd
